// Hints for Services of topology mode "Auto" (KEP-2433): each zone gets endpoints in proportion to the CPU of its nodes; hints come for all endpoints or, where a
// zone would be overloaded, for none. Pure.
import type { Node } from '#api/core/v1';
import type { Endpoint } from '#api/discovery/v1';
import { parseQuantity } from '#apimachinery/quantity';

/** How much more than its share a zone may be asked to serve. */
const overloadThreshold = 0.2;
const zoneLabel = 'topology.kubernetes.io/zone';
const excluded = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'];

const messages = {
  noZone: 'One or more endpoints do not have a zone specified',
  noNodeInfo: 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes',
  fewEndpoints: 'Insufficient number of endpoints',
  overload: 'Unable to allocate minimum required endpoints to each zone without exceeding overload threshold',
} as const;

const isReady = ({ status }: Node): boolean => status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';

function cpuOf({ status }: Node): number {
  try {
    return parseQuantity(status?.allocatable?.['cpu'] ?? '0').milliValue();
  } catch {
    return 0;
  }
}

/** What of a node counts for hints. */
export const topologyOf = (node: Node): readonly unknown[] => [
  node.metadata.labels?.[zoneLabel],
  excluded.some((label) => node.metadata.labels?.[label] !== undefined),
  isReady(node),
  node.status?.allocatable?.['cpu'],
];

/** Each zone's part of the CPU, sorted by zone; undefined where a node does not say, or there is one zone. */
export function cpuRatios(nodes: readonly Node[]): ReadonlyMap<string, number> | undefined {
  const byZone = new Map<string, number>();
  let total = 0;
  for (const node of nodes) {
    if (excluded.some((label) => node.metadata.labels?.[label] !== undefined) || !isReady(node)) continue;
    const zone = node.metadata.labels?.[zoneLabel] ?? '';
    const cpu = cpuOf(node);
    if (zone === '' || cpu === 0) return undefined;
    byZone.set(zone, (byZone.get(zone) ?? 0) + cpu);
    total += cpu;
  }
  if (byZone.size < 2) return undefined;
  return new Map([...byZone].sort(([a], [b]) => (a < b ? -1 : 1)).map(([zone, cpu]) => [zone, cpu / total]));
}

export type ZoneHints = { zones: ReadonlyMap<Endpoint, string> } | { disabled: string };

/** The zone that has the most, the first by name of several. */
function most(zones: ReadonlyMap<string, number>): [zone: string, count: number] {
  let best: [string, number] = ['', 0];
  for (const [zone, count] of zones) if (count > best[1]) best = [zone, count];
  return best;
}

/** Which zone serves more endpoints than its share, and which fewer: how many move from each to each. */
function moves(desired: ReadonlyMap<string, number>, counts: ReadonlyMap<string, number>) {
  const zones = [...new Set([...desired.keys(), ...counts.keys()])].sort();
  const surplus = new Map(zones.map((zone) => [zone, (counts.get(zone) ?? 0) - (desired.get(zone) ?? 0)]));
  const lack = new Map([...surplus].map(([zone, count]) => [zone, -count]));
  const found: { from: string; to: string }[] = [];
  for (;;) {
    const [[from, give], [to, take]] = [most(surplus), most(lack)];
    if (from === '' || to === '' || (give < 1 && take < 1) || give < 0.5 || take < 0.5) return found;
    found.push({ from, to });
    surplus.set(from, give - 1);
    lack.set(to, take - 1);
  }
}

/** Hints for the ready endpoints of one address family, in a fixed order. */
export function zoneHints(endpoints: readonly Endpoint[], ratios: ReadonlyMap<string, number> | undefined): ZoneHints {
  const ready = endpoints.filter(({ conditions }) => conditions?.ready === true);
  if (!ratios) return { disabled: messages.noNodeInfo };
  const told = `(${ready.length} endpoints, ${ratios.size} zones)`;
  if (ratios.size > ready.length) return { disabled: `${messages.fewEndpoints} ${told}` };
  const desired = new Map<string, number>();
  let left = ready.length;
  for (const [zone, ratio] of ratios) {
    const share = ratio * ready.length;
    const least = Math.ceil(share / (1 + overloadThreshold));
    desired.set(zone, Math.max(share, least));
    left -= least;
  }
  if (left < 0) return { disabled: `${messages.overload} ${told}` };
  const byAddress = [...ready].sort((a, b) => ((a.addresses[0] ?? '') < (b.addresses[0] ?? '') ? -1 : 1));
  const zones = new Map<Endpoint, string>();
  const counts = new Map<string, number>();
  for (const endpoint of byAddress) {
    if (!endpoint.zone) return { disabled: messages.noZone };
    zones.set(endpoint, endpoint.zone);
    counts.set(endpoint.zone, (counts.get(endpoint.zone) ?? 0) + 1);
  }
  for (const { from, to } of moves(desired, counts)) {
    const moved = byAddress.find((endpoint) => endpoint.zone === from && zones.get(endpoint) === from);
    if (moved) zones.set(moved, to);
  }
  return { zones };
}
