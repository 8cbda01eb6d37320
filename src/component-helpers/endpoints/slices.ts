// Packing endpoints into slices so that few slices change (k8s.io/endpointslice reconciler; KEP-752). Pure.
import type { Endpoint, EndpointPort, EndpointSlice } from '#api/discovery/v1';
import { deepEqual } from '#utils';
import { sortedJson } from '#apimachinery/codec';

export const serviceNameLabel = 'kubernetes.io/service-name';
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by';
export const headlessLabel = 'service.kubernetes.io/headless';

/** The endpoints that have the same ports. */
export interface PortGroup {
  ports: EndpointPort[];
  endpoints: Endpoint[];
}

/** What is to happen to the slices of one Service and address type. */
export interface SlicePlan {
  create: EndpointSlice[];
  update: EndpointSlice[];
  remove: EndpointSlice[];
}

/** What makes an endpoint the same one: addresses, host name, and whose they are. */
const identity = ({ addresses, hostname, targetRef }: Endpoint): string =>
  JSON.stringify([addresses, hostname ?? '', targetRef?.namespace ?? '', targetRef?.name ?? '']);

/** A text that is equal for the same ports in any order. */
export const portsKey = (ports: readonly EndpointPort[] | null | undefined): string =>
  (ports ?? [])
    .map((port) => sortedJson({ name: '', protocol: 'TCP', ...port }))
    .sort()
    .join();

const sameEndpoint = (a: Endpoint, b: Endpoint): boolean => deepEqual(comparable(a), comparable(b));

function comparable({ targetRef, ...endpoint }: Endpoint): unknown {
  const { resourceVersion: _, ...target } = targetRef ?? {};
  return { ...endpoint, target };
}

const sizeOf = ({ endpoints }: EndpointSlice): number => endpoints?.length ?? 0;

interface PackInput {
  existing: readonly EndpointSlice[];
  group: PortGroup;
  /** A new slice without endpoints. */
  blank(ports: EndpointPort[]): EndpointSlice;
  /** Labels and annotations an existing slice should have now; the slice itself when they are right. */
  relabel(slice: EndpointSlice): EndpointSlice;
  endpointsMax: number;
}

/** One group of ports: keeps endpoints where they are, fills slices that change anyway, then one that fits, then new ones. */
function packGroup({ existing, group, blank, relabel, endpointsMax }: PackInput): SlicePlan {
  const left = new Map(group.endpoints.map((endpoint) => [identity(endpoint), endpoint]));
  const changed: EndpointSlice[] = [];
  const unchanged: EndpointSlice[] = [];
  const remove: EndpointSlice[] = [];
  for (const slice of existing) {
    const kept = keep(slice, left);
    const relabelled = relabel(slice);
    if (kept.length === 0 && sizeOf(slice) > 0) remove.push(slice);
    else if (!sameEndpoints(slice, kept)) changed.push({ ...relabelled, endpoints: kept });
    else if (relabelled !== slice) changed.push({ ...relabelled, endpoints: kept });
    else unchanged.push(slice);
  }
  const waiting = [...left.values()];
  const fill = (slice: EndpointSlice): EndpointSlice => {
    const room = Math.max(0, endpointsMax - sizeOf(slice));
    return room === 0 || waiting.length === 0
      ? slice
      : { ...slice, endpoints: [...(slice.endpoints ?? []), ...waiting.splice(0, room)] };
  };
  const order = [...changed].sort((a, b) => sizeOf(b) - sizeOf(a));
  const update = order.map(fill);
  const create: EndpointSlice[] = [];
  while (waiting.length > 0) {
    const host = waiting.length < endpointsMax ? bestFit(unchanged, waiting.length, endpointsMax) : undefined;
    if (host) {
      unchanged.splice(unchanged.indexOf(host), 1);
      update.push(fill(host));
    } else create.push(fill(blank(group.ports)));
  }
  return { create, update, remove };
}

/** The wanted ones among a slice's endpoints, as they are to be; they are no longer left. */
function keep(slice: EndpointSlice, left: Map<string, Endpoint>): Endpoint[] {
  const kept: Endpoint[] = [];
  for (const endpoint of slice.endpoints ?? []) {
    const id = identity(endpoint);
    const wanted = left.get(id);
    if (!wanted) continue;
    left.delete(id);
    kept.push(sameEndpoint(wanted, endpoint) ? endpoint : wanted);
  }
  return kept;
}

const sameEndpoints = ({ endpoints }: EndpointSlice, kept: readonly Endpoint[]): boolean =>
  (endpoints?.length ?? 0) === kept.length && kept.every((endpoint, index) => endpoint === endpoints?.[index]);

/** The slice that is fullest once all go in. */
function bestFit(slices: readonly EndpointSlice[], count: number, endpointsMax: number): EndpointSlice | undefined {
  let best: EndpointSlice | undefined;
  for (const slice of slices) {
    const room = endpointsMax - sizeOf(slice);
    if (room >= count && (!best || room < endpointsMax - sizeOf(best))) best = slice;
  }
  return best;
}

/**
 * All groups of one Service and address type. `existing` are the Service's own slices; those whose ports nobody wants go. With no endpoint at all
 * one empty slice stays, if `placeholder`.
 */
export function packSlices(input: Omit<PackInput, 'group'> & { groups: readonly PortGroup[]; placeholder: boolean }): SlicePlan {
  const { groups, existing, blank, relabel, placeholder } = input;
  const byPorts = new Map<string, EndpointSlice[]>();
  for (const slice of existing) {
    const key = portsKey(slice.ports);
    byPorts.set(key, [...(byPorts.get(key) ?? []), slice]);
  }
  const plan: SlicePlan = { create: [], update: [], remove: [] };
  for (const group of groups) {
    if (group.endpoints.length === 0) continue;
    const key = portsKey(group.ports);
    const part = packGroup({ ...input, existing: byPorts.get(key) ?? [], group });
    byPorts.delete(key);
    plan.create.push(...part.create);
    plan.update.push(...part.update);
    plan.remove.push(...part.remove);
  }
  for (const slices of byPorts.values()) plan.remove.push(...slices);
  if (placeholder && plan.create.length === 0 && plan.remove.length === existing.length) keepOne(plan, blank, relabel);
  return reuse(plan);
}

/** With nothing to offer, an empty slice still says that the Service was looked at. */
function keepOne(plan: SlicePlan, blank: PackInput['blank'], relabel: PackInput['relabel']): void {
  const [only] = plan.remove;
  const isPlaceholder = only && sizeOf(only) === 0 && (only.ports ?? []).length === 0 && relabel(only) === only;
  if (plan.remove.length === 1 && isPlaceholder) plan.remove = [];
  else plan.create.push(blank([]));
}

/** A slice that would go takes the place of one that would be made: one write instead of two. */
function reuse({ create, update, remove }: SlicePlan): SlicePlan {
  const count = Math.min(create.length, remove.length);
  const reused = create.slice(create.length - count).map((fresh, index): EndpointSlice => {
    const old = remove[index];
    if (!old) return fresh;
    const { labels, annotations, ownerReferences } = fresh.metadata;
    return {
      ...fresh,
      metadata: { ...old.metadata, labels, ...(annotations && { annotations }), ...(ownerReferences && { ownerReferences }) },
    };
  });
  return { create: create.slice(0, create.length - count), update: [...update, ...reused], remove: remove.slice(count) };
}
