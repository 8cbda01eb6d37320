// Helpers that walk values by their schema.
import type { FieldSchema, SchemaTable, TypeSchema } from './types.ts';

/** Called for every present field of every struct. `parent` is the object that holds the field. */
export type Visitor = (field: FieldSchema, value: unknown, parent: Record<string, unknown>, type: TypeSchema) => void;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The messages one field's value holds: itself, the elements of a list, the values of a map. */
function messagesOf(field: FieldSchema, value: unknown): Record<string, unknown>[] {
  const values =
    field.shape === 'list' && Array.isArray(value)
      ? value
      : field.shape === 'map' && isObject(value)
        ? Object.values(value)
        : [value];
  return values.filter(isObject);
}

/** Visits the fields of `object` and of everything inside it, owners before what they own. Opaque values are not entered. */
export function visit(table: SchemaTable, typeName: string, object: Record<string, unknown>, visitor: Visitor): void {
  const type = table.type(typeName);
  if (type === undefined) return;
  for (const field of type.fields) {
    const value = object[field.name];
    if (value === undefined || value === null) continue;
    visitor(field, value, object, type);
    if (field.type !== 'message' || field.ref === undefined) continue;
    for (const message of messagesOf(field, value)) visit(table, field.ref, message, visitor);
  }
}

/** The field a JSON name means, through inlined structs. */
export const fieldOf = (type: TypeSchema, name: string): FieldSchema | undefined =>
  type.fields.find((field) => field.name === name);

/** Fills the defaults that the published schema marks (TCP of a port, ...) into `object` and everything inside it. Idempotent. */
export function applySchemaDefaults(table: SchemaTable, typeName: string, object: Record<string, unknown>): void {
  const type = table.type(typeName);
  if (type === undefined) return;
  for (const field of type.fields) {
    const value = object[field.name];
    if ((value === undefined || value === null) && field.default !== undefined)
      object[field.name] = structuredClone(field.default);
    else if (field.type === 'message' && field.ref !== undefined) {
      for (const message of messagesOf(field, value)) applySchemaDefaults(table, field.ref, message);
    }
  }
}
