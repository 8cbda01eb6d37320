// How fast nodes of a zone may be emptied, depending on how much of it is down
// (https://kubernetes.io/docs/concepts/architecture/nodes/#rate-limits-on-eviction). Pure.
import type { Node } from '#api/core/v1';
import type { ControllersConfig } from '../config.ts';

export type ZoneConfig = Pick<
  ControllersConfig,
  'nodeEvictionRate' | 'secondaryNodeEvictionRate' | 'largeClusterSizeThreshold' | 'unhealthyZoneThreshold'
>;

export type ZoneState = 'Initial' | 'Normal' | 'PartialDisruption' | 'FullDisruption';

/** A bucket of one token, filled at `rate` a second. */
export interface Zone {
  state: ZoneState;
  rate: number;
  tokens: number;
  filledAtMs: number;
}

const label = (node: Node, name: string): string =>
  node.metadata.labels?.[`topology.kubernetes.io/${name}`] ??
  node.metadata.labels?.[`failure-domain.beta.kubernetes.io/${name}`] ??
  '';

/** The key of a node's failure domain, which nodes with equal keys share. */
export function zoneOf(node: Node): string {
  const region = label(node, 'region');
  const zone = label(node, 'zone');
  return region === '' && zone === '' ? '' : `${region}:\x00:${zone}`;
}

export const isExcluded = (node: Node): boolean =>
  Object.hasOwn(node.metadata.labels ?? {}, 'node.kubernetes.io/exclude-disruption');

export function zoneState(ready: number, notReady: number, threshold: number): ZoneState {
  if (ready === 0 && notReady > 0) return 'FullDisruption';
  return notReady > 2 && notReady / (notReady + ready) >= threshold ? 'PartialDisruption' : 'Normal';
}

/** Nodes a second that may be emptied in a zone of that state and size. */
export function evictionRate(state: ZoneState, size: number, config: ZoneConfig): number {
  if (state !== 'PartialDisruption') return config.nodeEvictionRate;
  return size > config.largeClusterSizeThreshold ? config.secondaryNodeEvictionRate : 0;
}

export const newZone = (rate: number, now: number): Zone => ({ state: 'Initial', rate, tokens: 1, filledAtMs: now });

export function filled(zone: Zone, now: number): Zone {
  const tokens = Math.min(1, zone.tokens + (Math.max(0, now - zone.filledAtMs) / 1000) * zone.rate);
  return { ...zone, tokens, filledAtMs: now };
}

/** A new rate starts full, unless the old one was being waited for. */
export function withRate(zone: Zone, rate: number, now: number): Zone {
  if (zone.rate === rate) return zone;
  const full = filled(zone, now).tokens >= 1 || zone.rate === 0;
  return { ...zone, rate, tokens: rate > 0 && full ? 1 : 0, filledAtMs: now };
}

/** Milliseconds until the next token; undefined when none will come. */
export const untilTokenMs = ({ tokens, rate }: Zone): number | undefined =>
  rate <= 0 ? undefined : Math.max(0, Math.ceil(((1 - tokens) / rate) * 1000));

export interface ZoneCounts {
  ready: number;
  notReady: number;
}

export interface Disruption {
  zones: Map<string, Zone>;
  /** All zones went down together: more likely the control plane is cut off than every node dead. Nothing is emptied. */
  entered: boolean;
  /** Some node is back: all get the benefit of the doubt again. */
  left: boolean;
}

const isDown = ({ state }: Zone): boolean => state === 'FullDisruption';

/** The zones after another look at their nodes. */
export function disruption(
  known: ReadonlyMap<string, Zone>,
  counts: ReadonlyMap<string, ZoneCounts>,
  config: ZoneConfig,
  now: number,
): Disruption {
  const old = new Map([...counts.keys()].map((key) => [key, known.get(key) ?? newZone(config.nodeEvictionRate, now)]));
  const next = new Map(
    [...counts].map(([key, { ready, notReady }]) => [key, zoneState(ready, notReady, config.unhealthyZoneThreshold)]),
  );
  const allDown = counts.size > 0 && [...next.values()].every((state) => state === 'FullDisruption');
  const wereDown = old.size > 0 && [...old.values()].every(isDown);
  const zones = new Map<string, Zone>();
  for (const [key, zone] of old) {
    const state = next.get(key) ?? 'Normal';
    const { ready, notReady } = counts.get(key) ?? { ready: 0, notReady: 0 };
    const rate = allDown ? 0 : evictionRate(state, ready + notReady, config);
    zones.set(key, { ...withRate(zone, zone.state === state && !allDown && !wereDown ? zone.rate : rate, now), state });
  }
  return { zones, entered: allDown && !wereDown, left: wereDown && !allDown };
}
