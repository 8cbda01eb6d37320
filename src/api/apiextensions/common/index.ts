// Values of custom resources against their schemas; for the definitions, which have defaults and rules to check, and for the server of the
// resources.
export { coerceEmbedded, type ReadMetadata, validateEmbedded } from './embedded.ts';
export { type FieldTarget, resolveFieldPath } from './field-path.ts';
export { isKnownFormat } from './formats.ts';
export { validateLists } from './lists.ts';
export { applyDefaults, declaresDefaults, dropNulls, prune } from './pruning.ts';
export { type CompiledRule, ruleCost, rulesOf, type RuleTree } from './rules.ts';
export { runRules, type RuleFindings } from './run-rules.ts';
export { nestedField } from './nested.ts';
export { isObject, otherEntries, schemaItems } from './structure.ts';
export { validateResource, validateResourceStatus, type ResourceFindings } from './resource.ts';
export { validateValue } from './values.ts';
