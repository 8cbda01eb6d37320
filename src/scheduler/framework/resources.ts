// Amounts of resources as plain numbers (upstream scheduler framework.Resource): CPU in thousandths, everything else in units.
import { parseQuantity, type Quantity } from '#apimachinery/quantity';

export interface Resources {
  /** Thousandths of a core. */
  cpu: number;
  /** Bytes. */
  memory: number;
  /** Bytes. */
  ephemeralStorage: number;
  /** Extended resources, hugepages and attachable volumes by name; absent when there are none. */
  scalars: Map<string, number> | undefined;
}

export const noResources = (): Resources => ({ cpu: 0, memory: 0, ephemeralStorage: 0, scalars: undefined });

const nativePrefix = 'kubernetes.io/';
const isNative = (name: string): boolean => !name.includes('/') || name.includes(nativePrefix);

/** A resource that nodes advertise by name: not one of the kubelet's own, not a quota's `requests.` name. */
export const isExtendedResource = (name: string): boolean => !isNative(name) && !name.startsWith('requests.');

/** Resources that are counted by name: extended ones, hugepages, `kubernetes.io/` ones and attachable volumes. */
export const isScalarResource = (name: string): boolean =>
  isExtendedResource(name) ||
  name.startsWith('hugepages-') ||
  name.includes(nativePrefix) ||
  name.startsWith('attachable-volumes-');

/** Reads named amounts; names that are no scalar resource (such as `pods`) are left out. */
export function resourcesOf(amounts: Iterable<readonly [string, Quantity]>): Resources {
  const result = noResources();
  for (const [name, amount] of amounts) {
    if (name === 'cpu') result.cpu = amount.milliValue();
    else if (name === 'memory') result.memory = amount.value();
    else if (name === 'ephemeral-storage') result.ephemeralStorage = amount.value();
    else if (isScalarResource(name)) {
      result.scalars ??= new Map();
      result.scalars.set(name, amount.value());
    }
  }
  return result;
}

export const resourcesOfList = (list: Readonly<Record<string, string>> | undefined): Resources =>
  resourcesOf(Object.entries(list ?? {}).map(([name, text]) => [name, parseQuantity(text)] as const));

/** Adds `other` times `sign` in place. */
export function addResources(into: Resources, other: Resources, sign: 1 | -1): void {
  into.cpu += sign * other.cpu;
  into.memory += sign * other.memory;
  into.ephemeralStorage += sign * other.ephemeralStorage;
  if (other.scalars === undefined) return;
  into.scalars ??= new Map();
  for (const [name, amount] of other.scalars) into.scalars.set(name, (into.scalars.get(name) ?? 0) + sign * amount);
}

export const copyResources = (resources: Resources): Resources => ({
  ...resources,
  scalars: resources.scalars && new Map(resources.scalars),
});

/** One resource by its API name. */
export function amountOf(resources: Resources, name: string): number {
  switch (name) {
    case 'cpu':
      return resources.cpu;
    case 'memory':
      return resources.memory;
    case 'ephemeral-storage':
      return resources.ephemeralStorage;
    default:
      return resources.scalars?.get(name) ?? 0;
  }
}
