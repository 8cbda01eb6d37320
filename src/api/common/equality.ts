// Equality as upstream's strategies see it (k8s.io/apimachinery/pkg/api/equality, Semantic): absent and empty lists and maps are the same,
// quantities are compared by value.
import { compareQuantities } from './quantities.ts';

const quantityMaps = new Set(['limits', 'requests', 'capacity', 'allocatable', 'hard', 'used', 'overhead', 'allocatedResources']);
const quantityFields = new Set(['sizeLimit', 'divisor', 'storage', 'podFixed']);

/** True when two JSON values say the same. */
export function semanticEqual(left: unknown, right: unknown): boolean {
  return equal(left, right, false);
}

function equal(left: unknown, right: unknown, quantities: boolean): boolean {
  if (left === right) return true;
  if (isNothing(left) && isNothing(right)) return true;
  if (quantities && typeof left === 'string' && typeof right === 'string') return compareQuantities(left, right) === 0;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) return equalLists(left, right, quantities);
  return equalMaps(left as Record<string, unknown>, right as Record<string, unknown>, quantities);
}

function equalLists(left: unknown, right: unknown, quantities: boolean): boolean {
  if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
  return left.every((item, index) => equal(item, right[index], quantities));
}

function equalMaps(left: Record<string, unknown>, right: Record<string, unknown>, quantities: boolean): boolean {
  for (const key in left) {
    if (!equal(left[key], right[key], quantities || quantityMaps.has(key) || quantityFields.has(key))) return false;
  }
  for (const key in right) if (!(key in left) && !isNothing(right[key])) return false;
  return true;
}

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== 'object') return false;
  for (const _ in value) return false;
  return true;
}
