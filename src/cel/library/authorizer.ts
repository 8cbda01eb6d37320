// What a user may do, asked from expressions (k8s.io/apiserver/pkg/cel/library, authz).
import { member } from '../check/environment.ts';
import { bool, opaque, string } from '../types.ts';
import { CelError } from '../errors.ts';
import { OpaqueValue } from '../values/values.ts';

/** One question. `path`: of a URL that is no resource. */
export interface AuthorizationQuestion {
  verb: string;
  path?: string;
  group: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  fieldSelector?: string;
  labelSelector?: string;
  /** Instead of the user of the request. */
  serviceAccount?: { namespace: string; name: string };
}

export interface AuthorizationDecision {
  allowed: boolean;
  reason: string;
  error?: string;
}

/** Answers whether one user, who is known to it, may do something. */
export type AuthorizationSource = (question: AuthorizationQuestion) => AuthorizationDecision;

interface Check {
  source: AuthorizationSource;
  question: AuthorizationQuestion;
}

const name = (kind: string): string => `kubernetes.authorization.${kind}`;
export const authorizerType = opaque(name('Authorizer'));
const pathType = opaque(name('PathCheck'));
const groupType = opaque(name('GroupCheck'));
export const resourceCheckType = opaque(name('ResourceCheck'));
const decisionType = opaque(name('Decision'));
const nothing: AuthorizationQuestion = { verb: '', group: '', resource: '', subresource: '', namespace: '', name: '' };

export const authorizerValue = (source: AuthorizationSource, question: Partial<AuthorizationQuestion> = {}): OpaqueValue =>
  new OpaqueValue(name('Authorizer'), { source, question: { ...nothing, ...question } } satisfies Check);

/** The resource of the request itself, as `authorizer.requestResource`. */
export const resourceCheckValue = (source: AuthorizationSource, question: Partial<AuthorizationQuestion>): OpaqueValue =>
  new OpaqueValue(name('ResourceCheck'), { source, question: { ...nothing, ...question } } satisfies Check);

const next = (kind: string, { content }: OpaqueValue, more: Partial<AuthorizationQuestion>): OpaqueValue => {
  const { source, question } = content as Check;
  return new OpaqueValue(name(kind), { source, question: { ...question, ...more } } satisfies Check);
};

/** One authorization costs as much as a long expression. */
const checkCost = (): number => 350_000;

const ask = ({ content }: OpaqueValue, verb: string): OpaqueValue => {
  const { source, question } = content as Check;
  return new OpaqueValue(name('Decision'), source({ ...question, verb }));
};
const decisionOf = ({ content }: OpaqueValue): AuthorizationDecision => content as AuthorizationDecision;

const setter = (field: keyof AuthorizationQuestion, method: string = field) =>
  member(method, [resourceCheckType, string], resourceCheckType, (check: OpaqueValue, value: string) =>
    next('ResourceCheck', check, { [field]: value }),
  );

export const authorizerFunctions = [
  member('path', [authorizerType, string], pathType, (check: OpaqueValue, path: string) => {
    if (path === '') throw new CelError('path must not be empty');
    return next('PathCheck', check, { path });
  }),
  member('group', [authorizerType, string], groupType, (check: OpaqueValue, group: string) =>
    next('GroupCheck', check, { group }),
  ),
  member(
    'serviceAccount',
    [authorizerType, string, string],
    authorizerType,
    (check: OpaqueValue, namespace: string, account: string) =>
      next('Authorizer', check, { serviceAccount: { namespace, name: account } }),
  ),
  member('resource', [groupType, string], resourceCheckType, (check: OpaqueValue, resource: string) =>
    next('ResourceCheck', check, { resource }),
  ),
  setter('subresource'),
  setter('namespace'),
  setter('name'),
  setter('fieldSelector'),
  setter('labelSelector'),
  member('check', [pathType, string], decisionType, ask, checkCost),
  member('check', [resourceCheckType, string], decisionType, ask, checkCost),
  member('errored', [decisionType], bool, (decision: OpaqueValue) => decisionOf(decision).error !== undefined),
  member('error', [decisionType], string, (decision: OpaqueValue) => decisionOf(decision).error ?? ''),
  member('allowed', [decisionType], bool, (decision: OpaqueValue) => decisionOf(decision).allowed),
  member('reason', [decisionType], string, (decision: OpaqueValue) => decisionOf(decision).reason),
];
