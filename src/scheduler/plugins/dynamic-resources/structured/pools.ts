// The pools of devices that a node may use: slices of one driver and pool, of its newest generation, checked as a whole (upstream
// k8s.io/dynamic-resource-allocation/structured, KEP-4381 and KEP-4815). Pure.
import type { Node, NodeSelector } from '#api/core/v1';
import type { CounterSet, Device, ResourceSlice } from '#api/resource/v1';
import { nodeSelectorMatches } from '#component-helpers/pod';
import { deviceId, type KnownDevice } from './devices.ts';

export interface Pool {
  /** `driver/pool`. */
  readonly id: string;
  /** What is wrong with it: slices are still to come, or contradict each other. Such a pool gives no devices. */
  readonly problem?: 'incomplete' | 'invalid';
  /** Devices that this node may use, in the order in which they are tried. */
  readonly devices: readonly KnownDevice[];
  /** All devices of the pool: those of other nodes take from the same counters. */
  readonly all: readonly KnownDevice[];
  readonly counterSets: ReadonlyMap<string, CounterSet>;
}

interface Place {
  nodeName?: string;
  allNodes?: boolean;
  nodeSelector?: NodeSelector;
}

const isAt = (node: Node, { nodeName, allNodes, nodeSelector }: Place): boolean => {
  if (nodeName) return node.metadata.name === nodeName;
  return allNodes === true || (nodeSelector !== undefined && nodeSelectorMatches(nodeSelector, node));
};

const hasCounters = ({ spec }: ResourceSlice): boolean => (spec.sharedCounters?.length ?? 0) > 0;

/** Whether the node may use the device, as far as the place of its slice or its own says. */
const isUsable = (node: Node, { spec }: ResourceSlice, device: Device): boolean =>
  isAt(node, spec.perDeviceNodeSelection ? device : spec);

const knownDevices = (slices: readonly ResourceSlice[]): KnownDevice[] =>
  slices.flatMap((slice) =>
    (slice.spec.devices ?? []).map((device) => ({
      id: deviceId(slice.spec.driver, slice.spec.pool.name, device.name),
      device,
      slice,
    })),
  );

/** What all slices of a pool say together, whatever the node. */
interface WholePool {
  readonly id: string;
  readonly problem?: 'incomplete' | 'invalid';
  readonly all: readonly KnownDevice[];
  readonly counterSets: ReadonlyMap<string, CounterSet>;
}

function hasUnknownCounter(devices: readonly KnownDevice[], sets: ReadonlyMap<string, CounterSet>): boolean {
  return devices.some(({ device }) =>
    (device.consumesCounters ?? []).some(({ counterSet, counters }) => {
      const known = sets.get(counterSet)?.counters;
      return known === undefined || Object.keys(counters).some((name) => !Object.hasOwn(known, name));
    }),
  );
}

function wholePool(id: string, slices: ResourceSlice[]): WholePool {
  const newest = Math.max(...slices.map(({ spec }) => spec.pool.generation));
  const current = slices
    .filter(({ spec }) => spec.pool.generation === newest)
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  const all = knownDevices(current.filter((slice) => !hasCounters(slice)));
  const sets = current.flatMap(({ spec }) => spec.sharedCounters ?? []);
  const counterSets = new Map(sets.map((set) => [set.name, set]));
  const whole = { id, all, counterSets };
  if (current.length !== current[0]?.spec.pool.resourceSliceCount) return { ...whole, problem: 'incomplete' };
  const isInvalid =
    new Set(all.map((one) => one.id)).size < all.length || counterSets.size < sets.length || hasUnknownCounter(all, counterSets);
  return isInvalid ? { ...whole, problem: 'invalid' } : whole;
}

/** All pools, by driver and name. Made once for a pod, for all nodes. */
export function poolsOf(slices: readonly ResourceSlice[]): readonly WholePool[] {
  const byPool = new Map<string, ResourceSlice[]>();
  for (const slice of slices) {
    const id = `${slice.spec.driver}/${slice.spec.pool.name}`;
    const known = byPool.get(id);
    if (known) known.push(slice);
    else byPool.set(id, [slice]);
  }
  return [...byPool].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, ofPool]) => wholePool(id, ofPool));
}

const hasBindingConditions = ({ devices }: Pool): boolean => devices.some(({ device }) => device.bindingConditions !== undefined);

/** The pools with devices for a node; those whose devices have to be made ready before a pod is bound come last. */
export function poolsFor(node: Node, pools: readonly WholePool[]): readonly Pool[] {
  const usable = pools
    .map((pool): Pool => ({ ...pool, devices: pool.all.filter(({ slice, device }) => isUsable(node, slice, device)) }))
    .filter(({ devices }) => devices.length > 0)
    .map((pool): Pool => (pool.problem === undefined ? pool : { ...pool, devices: [] }));
  return [...usable.filter((pool) => !hasBindingConditions(pool)), ...usable.filter(hasBindingConditions)];
}
