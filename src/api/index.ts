export * from './builtin-schema.ts';
export * from './kind.ts';
export { builtinKinds } from './kinds.ts';
export { withOwnResources } from './own-resources.ts';
export { semanticEqual } from './common/equality.ts';
export { ago } from './common/printing.ts';
export { internalDiff } from './common/unified-diff.ts';
