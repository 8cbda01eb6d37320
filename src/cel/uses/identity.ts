// Expressions about who asks: claims of tokens, users made of them, and access reviews (k8s.io/apiserver/pkg/authentication/cel,
// k8s.io/apiserver/pkg/authorization/cel).
import { compile, environmentOf, type Program } from '../program.ts';
import { dyn, list, map, type ObjectType, string, type Type } from '../types.ts';

const objectType = (name: string, fields: Record<string, Type>): ObjectType => ({
  kind: 'object',
  name,
  field: (field) => (Object.hasOwn(fields, field) ? fields[field] : undefined),
});

/** The type of the variable `user`. */
export const userInfoType = objectType('kubernetes.UserInfo', {
  username: string,
  uid: string,
  groups: list(string),
  extra: map(string, list(string)),
});

const requirement = objectType('kubernetes.SelectorRequirement', { key: string, operator: string, values: list(string) });
const selector = (name: string): ObjectType => objectType(name, { rawSelector: string, requirements: list(requirement) });
const resourceAttributes = objectType('kubernetes.ResourceAttributes', {
  namespace: string,
  verb: string,
  group: string,
  version: string,
  resource: string,
  subresource: string,
  name: string,
  fieldSelector: selector('kubernetes.FieldSelectorAttributes'),
  labelSelector: selector('kubernetes.LabelSelectorAttributes'),
});

/** What an access review asks, as `request`. */
export const accessReviewType = objectType('kubernetes.SubjectAccessReviewSpec', {
  resourceAttributes,
  nonResourceAttributes: objectType('kubernetes.NonResourceAttributes', { path: string, verb: string }),
  user: string,
  groups: list(string),
  extra: map(string, list(string)),
  uid: string,
});

const claimsEnvironment = environmentOf([['claims', map(string, dyn)]]);
const userEnvironment = environmentOf([['user', userInfoType]]);
const reviewEnvironment = environmentOf([['request', accessReviewType]]);

/** `isRule`: it must say true or false; otherwise any value will do. */
export const compileClaimsExpression = (expression: string, isRule: boolean): Program | { problem: string } =>
  compile(expression, claimsEnvironment, isRule ? ['bool'] : []);

export const compileUserRule = (expression: string): Program | { problem: string } =>
  compile(expression, userEnvironment, ['bool']);

export const compileAccessReviewCondition = (expression: string): Program | { problem: string } =>
  compile(expression, reviewEnvironment, ['bool']);
