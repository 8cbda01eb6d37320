// Who owns which field (KEP-555 server-side apply; sigs.k8s.io/structured-merge-diff): `metadata.managedFields` kept on every write, and apply.
import { plainError } from '../errors/index.ts';
import type { UnknownObject } from '../meta/index.ts';
import type { SchemaTable } from '../schema/index.ts';

/** Who writes, and when. */
export interface Writer {
  manager: string;
  /** RFC 3339, seconds: becomes the entry's time when the entry's fields change. */
  time: string;
  /** The version the request's object is in, e.g. 'apps/v1'. */
  apiVersion: string;
  subresource?: string;
}

export interface FieldManagerOptions {
  /** Paths (with everything below) that a write through this endpoint cannot change: they are never owned by it, e.g. [['status']]. */
  resetFields?: readonly (readonly string[])[];
}

/** Objects in are never mutated; objects out share what did not change. `metadata.managedFields` of the result is the new bookkeeping. */
export interface FieldManager {
  create(object: UnknownObject, writer: Writer): UnknownObject;
  update(live: UnknownObject, object: UnknownObject, writer: Writer): UnknownObject;
  /** Server-side apply. `live` undefined: the object does not exist. Throws the 409 conflict, or 400/500 for what cannot be applied. */
  apply(live: UnknownObject | undefined, patch: UnknownObject, writer: Writer & { force?: boolean }): UnknownObject;
}

export function createFieldManager(_table: SchemaTable, _typeName: string, _options: FieldManagerOptions = {}): FieldManager {
  throw plainError('managed fields are being built');
}
