export { goNameOf } from './notation.ts';
export { type SchemaFile, schemaTableOf } from './table.ts';
export type * from './types.ts';
