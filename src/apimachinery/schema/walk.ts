// Helpers that walk values by their schema.
import { setOwn } from '#utils';
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

/** Where the defaults of a type are: its own, and the fields below which there are more. */
interface DefaultsPlan {
  own: { name: string; value: unknown }[];
  below: { field: FieldSchema; plan: DefaultsPlan }[];
}

const plans = new WeakMap<TypeSchema, DefaultsPlan>();

const isIdle = ({ own, below }: DefaultsPlan): boolean => own.length === 0 && below.length === 0;

function planOf(table: SchemaTable, type: TypeSchema): DefaultsPlan {
  const known = plans.get(type);
  if (known) return known;
  const plan: DefaultsPlan = { own: [], below: [] };
  // A type that contains itself meets its unfinished plan here.
  const open = new Set<DefaultsPlan>();
  plans.set(type, plan);
  for (const field of type.fields) {
    if (field.default !== undefined) plan.own.push({ name: field.name, value: field.default });
    if (field.type !== 'message' || field.ref === undefined) continue;
    const inner = table.type(field.ref);
    if (inner === undefined) continue;
    if (plans.has(inner)) open.add(planOf(table, inner));
    plan.below.push({ field, plan: planOf(table, inner) });
  }
  plan.below = plan.below.filter((branch) => open.has(branch.plan) || !isIdle(branch.plan));
  return plan;
}

function fillDefaults({ own, below }: DefaultsPlan, object: Record<string, unknown>): void {
  // Before the defaults are in: what was just filled in is whole already.
  for (const { field, plan } of below) {
    const value = object[field.name];
    if (value === undefined || value === null) continue;
    if (field.shape !== 'list' && field.shape !== 'map') {
      if (isObject(value)) fillDefaults(plan, value);
    } else for (const message of messagesOf(field, value)) fillDefaults(plan, message);
  }
  for (const { name, value } of own) {
    const given = Object.hasOwn(object, name) ? object[name] : undefined;
    if (given !== undefined && given !== null) continue;
    setOwn(object, name, typeof value === 'object' ? structuredClone(value) : value);
  }
}

/** Fills the defaults that the published schema marks (TCP of a port, ...) into `object` and everything inside it. Idempotent. */
export function applySchemaDefaults(table: SchemaTable, typeName: string, object: Record<string, unknown>): void {
  const type = table.type(typeName);
  if (type !== undefined) fillDefaults(planOf(table, type), object);
}
