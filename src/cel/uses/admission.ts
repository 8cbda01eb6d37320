// Expressions of admission policies and match conditions (k8s.io/apiserver/pkg/admission/plugin/cel).
import { Work, WorkError } from '#regexp';
import { policyWorkUnits } from '../limits.ts';
import { environmentOf, compile, isProgram, type Program } from '../program.ts';
import { functionTable } from '../check/environment.ts';
import { baseFunctions } from '../program.ts';
import { authorizerType, resourceCheckType } from '../library/authorizer.ts';
import { jsonPatchFunctions } from '../library/kubernetes.ts';
import { bool, declaredType, dyn, list, map, type ObjectType, opaque, string, type Type } from '../types.ts';

/** What one expression sees and must give. */
export interface AdmissionExpression {
  hasParams: boolean;
  hasAuthorizer: boolean;
  /** `Object{}` and `JSONPatch{}`. */
  hasPatchTypes?: boolean;
  /** Types the value may have, in upstream's spelling; absent: any. */
  returns?: readonly string[];
}

const objectType = (name: string, fields: Record<string, Type>): ObjectType => ({
  kind: 'object',
  name,
  field: (field) => (Object.hasOwn(fields, field) ? fields[field] : undefined),
});

const gvk = objectType('kubernetes.GroupVersionKind', { group: string, version: string, kind: string });
const gvr = objectType('kubernetes.GroupVersionResource', { group: string, version: string, resource: string });
const userInfo = objectType('kubernetes.UserInfo', {
  username: string,
  uid: string,
  groups: list(string),
  extra: map(string, list(string)),
});

/** The type of the variable `request`: the admission request. */
export const requestType = objectType('kubernetes.AdmissionRequest', {
  kind: gvk,
  resource: gvr,
  subResource: string,
  requestKind: gvk,
  requestResource: gvr,
  requestSubResource: string,
  name: string,
  namespace: string,
  operation: string,
  userInfo,
  dryRun: bool,
  options: dyn,
});

const namespaceMetadata = objectType('kubernetes.NamespaceMetadata', {
  name: string,
  generateName: string,
  namespace: string,
  labels: map(string, string),
  annotations: map(string, string),
  UID: string,
  creationTimestamp: { kind: 'timestamp' },
  deletionTimestamp: { kind: 'timestamp' },
  deletionGracePeriodSeconds: { kind: 'int' },
  generation: { kind: 'int' },
  resourceVersion: string,
  finalizers: list(string),
});
const namespaceCondition = objectType('kubernetes.NamespaceCondition', {
  type: string,
  status: string,
  lastTransitionTime: { kind: 'timestamp' },
  reason: string,
  message: string,
});

/** The namespace of the request, as `namespaceObject`. */
export const namespaceType = objectType('kubernetes.Namespace', {
  metadata: namespaceMetadata,
  spec: objectType('kubernetes.NamespaceSpec', { finalizers: list(string) }),
  status: objectType('kubernetes.NamespaceStatus', { phase: string, conditions: list(namespaceCondition) }),
});

const patchFields = objectType('JSONPatch', { op: string, path: string, from: string, value: dyn });
/** Upstream's checker knows every field, but those that there are not have no type. */
const patchType: ObjectType = { ...patchFields, field: (name) => patchFields.field?.(name) ?? opaque('') };

/** `Object`, `Object.spec`, ...: what apply configurations are made of; any field, as deep as it is named. */
function patchStruct(name: string): Type | undefined {
  if (name === 'JSONPatch') return patchType;
  return name === 'Object' || name.startsWith('Object.') ? { kind: 'object', name } : undefined;
}

const variablesName = 'kubernetes.variables';

const patchFunctions = functionTable(
  [...baseFunctions].flatMap(([name, overloads]) => overloads.map((one) => [name, one] as const)),
  jsonPatchFunctions,
);

/** Types of what expressions see; absent: any. Admission itself runs without: its objects may be of any kind. */
export interface ExpressionTypes {
  /** The type of `object` and `oldObject`. */
  object?: Type;
  params?: Type;
}

/** Compiles the expressions of one policy: later ones see the variables declared before. */
export class AdmissionCompiler {
  readonly #declared = new Map<string, Type>();
  readonly #work = new Work(policyWorkUnits);

  /** A program or what is wrong. */
  compile(expression: string, what: AdmissionExpression): Program | { problem: string } {
    const declared = this.#declared;
    const { object = dyn, params = dyn } = this.#types;
    const variables: [string, Type][] = [
      ['object', object],
      ['oldObject', object],
      ['request', requestType],
      ['namespaceObject', namespaceType],
    ];
    if (what.hasParams) variables.push(['params', params]);
    if (what.hasAuthorizer) variables.push(['authorizer', authorizerType], ['authorizer.requestResource', resourceCheckType]);
    if (this.#hasVariables)
      variables.push(['variables', { kind: 'object', name: variablesName, field: (name) => declared.get(name) }]);
    const environment = environmentOf(variables, what.hasPatchTypes ? { functions: patchFunctions, struct: patchStruct } : {});
    try {
      return compile(expression, environment, what.returns, this.#work);
    } catch (error) {
      if (!(error instanceof WorkError)) throw error;
      return { problem: 'compilation failed: the expressions of the object take too much work together' };
    }
  }

  /** Whether there may be variables at all: in policies, not in conditions of webhooks. */
  readonly #hasVariables: boolean;

  readonly #types: ExpressionTypes;

  constructor({ hasVariables, ...types }: { hasVariables: boolean } & ExpressionTypes) {
    this.#hasVariables = hasVariables;
    this.#types = types;
  }

  problemOf(expression: string, what: AdmissionExpression): string | undefined {
    const compiled = this.compile(expression, what);
    return isProgram(compiled) ? undefined : compiled.problem;
  }

  /** Makes a variable known; gives what is wrong with its expression. */
  declare(name: string, expression: string, what: AdmissionExpression): string | undefined {
    const compiled = this.compile(expression, what);
    this.#declared.set(name, declaredType(isProgram(compiled) ? compiled.type : undefined));
    return isProgram(compiled) ? undefined : compiled.problem;
  }
}
