// What the devices of a claim must have in common, or must not (resource.k8s.io DeviceConstraint). Pure.
import type { DeviceConstraint } from '#api/resource/v1';
import { attributeOf, attributeText, type KnownDevice } from './devices.ts';

/** Keeps count of the devices that a claim has so far. */
export interface Constraint {
  /** Whether the device may come to the others; it counts as one of them then. */
  add(request: string, device: KnownDevice): boolean;
  remove(request: string, device: KnownDevice): void;
}

/** Whether a constraint is about a request: `gpu` is about its alternatives, `gpu/large` about that one alone. */
const isAbout = (requests: readonly string[], request: string): boolean =>
  requests.length === 0 || requests.includes(request) || requests.includes(request.split('/', 1)[0] ?? '');

/** `isFit` judges a value by how many devices have which one. */
function byAttribute(
  { requests = [] }: DeviceConstraint,
  attribute: string,
  isFit: (value: string, counts: ReadonlyMap<string, number>) => boolean,
): Constraint {
  const counts = new Map<string, number>();
  return {
    add(request, device) {
      if (!isAbout(requests, request)) return true;
      const value = attributeText(attributeOf(device, attribute));
      if (value === undefined || !isFit(value, counts)) return false;
      counts.set(value, (counts.get(value) ?? 0) + 1);
      return true;
    },
    remove(request, device) {
      if (!isAbout(requests, request)) return;
      const value = attributeText(attributeOf(device, attribute)) ?? '';
      const count = (counts.get(value) ?? 0) - 1;
      if (count > 0) counts.set(value, count);
      else counts.delete(value);
    },
  };
}

/** The constraint, or undefined for one of a kind that is not known. */
export function constraintOf(constraint: DeviceConstraint): Constraint | undefined {
  if (constraint.matchAttribute !== undefined)
    return byAttribute(constraint, constraint.matchAttribute, (value, counts) => counts.size === 0 || counts.has(value));
  if (constraint.distinctAttribute !== undefined)
    return byAttribute(constraint, constraint.distinctAttribute, (value, counts) => !counts.has(value));
  return undefined;
}
