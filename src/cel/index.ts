// CEL with the Kubernetes libraries (https://github.com/google/cel-spec, k8s.io/apiserver/pkg/cel). Why it is our own: docs/decisions/0002-own-cel.md.
export { AdmissionCompiler, type AdmissionExpression, namespaceType, requestType } from './uses/admission.ts';
export { compileDeviceSelector, deviceSelectorProblem, deviceType, deviceVariables } from './uses/device.ts';
export type { Environment } from './check/environment.ts';
export {
  type AuthorizationDecision,
  type AuthorizationQuestion,
  type AuthorizationSource,
  authorizerValue,
  resourceCheckValue,
} from './library/authorizer.ts';
export {
  accessReviewType,
  compileAccessReviewCondition,
  compileClaimsExpression,
  compileUserRule,
  userInfoType,
} from './uses/identity.ts';
export { applyConfigurationOf, jsonPatchOf, type PatchOperation } from './uses/mutation.ts';
export { budgetCostMax, budgetWorkUnits, callCostMax, definitionCostMax, ruleCostMax, selectorsWorkUnits } from './limits.ts';
export { compile, environmentOf, isProgram, type Program } from './program.ts';
export type { Type } from './types.ts';
export { escapeName, type SchemaShape, schemaType, unescapeName } from './schema/schema.ts';
export { type Sized, type SizedShape, sizesOf, timesInRequest } from './schema/sizes.ts';
export * as celTypes from './types.ts';
export { CelError, CostError } from './errors.ts';
export { Duration, Timestamp } from './values/times.ts';
export {
  fromJson,
  ListValue,
  MapValue,
  ObjectValue,
  OpaqueValue,
  Optional,
  toJson,
  typeNameOf,
  Uint,
  type Value,
} from './values/values.ts';
