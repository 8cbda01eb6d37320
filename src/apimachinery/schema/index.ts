// Types of the API as data, and what follows from them: strict typed decoding, the encoder's canonical form, walking by schema.
export { decodeBase64, encodeBase64 } from './base64.ts';
export { decode, type Decoded, type DecodeOptions, normalize } from './coder.ts';
export { DecodeError, type Duplicates, jsonKind, TooLargeError } from './context.ts';
export { formatGoTime, type GoTime, parseGoTime, TimeError, type TimeLayout } from './go-time.ts';
export { jsonMembers, readingJson, type ReadingOptions, writingJson } from './json-steps.ts';
export { type ParsedJson, parseJson, parsingJson } from './json-text.ts';
export { jsonDepthMax, jsonValuesMax, strictErrorsMax } from './limits.ts';
export { goNameOf } from './notation.ts';
export { type SchemaFile, schemaTableOf } from './table.ts';
export type * from './types.ts';
export { applySchemaDefaults, fieldOf, visit, type Visitor } from './walk.ts';
