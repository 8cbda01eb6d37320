// The three patch languages of the API besides server-side apply: JSON patch (RFC 6902), JSON merge patch (RFC 7386) and strategic merge patch.
import { plainError } from '../errors/index.ts';
import type { SchemaTable } from '../schema/index.ts';

/** A decoded JSON value. Inputs are never mutated; results share what did not change. */
export type Json = unknown;

/** Applies an RFC 6902 patch. Throws StatusError with upstream's codes: 400 malformed, 413 too many operations, 422 not applicable. */
export function jsonPatch(_document: Json, _operations: Json): Json {
  throw plainError('json patch is being built');
}

/** Applies an RFC 7386 patch. */
export function mergePatch(_document: Json, _patch: Json): Json {
  throw plainError('merge patch is being built');
}

/** Applies a strategic merge patch to an object of the type. Throws StatusError. */
export function strategicMergePatch(_table: SchemaTable, _typeName: string, _original: Json, _patch: Json): Json {
  throw plainError('strategic merge patch is being built');
}
