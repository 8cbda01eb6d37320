// Equality as upstream's strategies see it (k8s.io/apimachinery/pkg/api/equality, Semantic): absent and empty lists and maps are the same,
// an absent and an empty struct are not, quantities are compared by value.
import { own } from '#utils';
import { builtinSchema } from '../builtin-schema.ts';
import { compareQuantities } from './quantities.ts';

const quantityMaps = new Set([
  'limits',
  'requests',
  'capacity',
  'allocatable',
  'hard',
  'used',
  'overhead',
  'allocatedResources',
  'podFixed',
]);
const quantityFields = new Set(['sizeLimit', 'divisor']);

/** Whether two JSON values say the same. */
export function semanticEqual(left: unknown, right: unknown): boolean {
  return equal(left, right, '', false);
}

let maps: Set<string> | undefined;

/** Names of fields that are maps, and in no type structs. */
function mapFields(): Set<string> {
  if (maps !== undefined) return maps;
  maps = new Set();
  const structs = new Set<string>();
  for (const name of builtinSchema().names())
    for (const { name: field, shape, type } of builtinSchema().type(name)?.fields ?? [])
      if (shape === 'map') maps.add(field);
      else if (shape === undefined && type === 'message') structs.add(field);
  for (const name of structs) maps.delete(name);
  return maps;
}

/** Also a label may be called as a field of amounts is. */
function sameAmount(left: string, right: string): boolean {
  try {
    return compareQuantities(left, right) === 0;
  } catch {
    return false;
  }
}

/** `name`: of the field that holds the values. `quantities`: texts are amounts. */
function equal(left: unknown, right: unknown, name: string, quantities: boolean): boolean {
  if (left === right) return true;
  if (isNothing(left, name) && isNothing(right, name)) return true;
  if (quantities && typeof left === 'string' && typeof right === 'string') return sameAmount(left, right);
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) return equalLists(left, right, name);
  return equalMaps(left as Record<string, unknown>, right as Record<string, unknown>, quantityMaps.has(name));
}

function equalLists(left: unknown, right: unknown, name: string): boolean {
  if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
  return left.every((item, index) => equal(item, right[index], `${name}[]`, false));
}

function equalMaps(left: Record<string, unknown>, right: Record<string, unknown>, quantities: boolean): boolean {
  for (const key in left) if (!equal(left[key], own(right, key), key, quantities || quantityFields.has(key))) return false;
  for (const key in right) if (!Object.hasOwn(left, key) && !isNothing(right[key], key)) return false;
  return true;
}

function isNothing(value: unknown, name: string): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== 'object') return false;
  for (const _ in value) return false;
  // Only an empty value asks for the names, which takes reading every type.
  return mapFields().has(name);
}
