// One look at all nodes: who fell silent, which zones are disrupted, whose pods are to be evicted (pkg/controller/nodelifecycle,
// monitorNodeHealth and doNoExecuteTaintingPass). Pure.
import type { Lease } from '#api/coordination/v1';
import type { Node, NodeCondition } from '#api/core/v1';
import type { Effect, Plan } from '#controller-runtime';
import { mergePatch, nodes as nodeResource } from '#controller-runtime/platform';
import { type HealthConfig, type Moment, sight, type Sighting, silentConditions } from './health.ts';
import { changedTaints, executeTaint, hasTaint, notReady, readyCondition, unreachable } from './taints.ts';
import {
  disruption,
  filled,
  isExcluded,
  newZone,
  untilTokenMs,
  type Zone,
  type ZoneConfig,
  type ZoneCounts,
  zoneOf,
} from './zones.ts';

/** Time until the next step after a status was written. */
const stepMs = 100;

export interface MonitorMemory {
  sightings: ReadonlyMap<string, Sighting>;
  zones: ReadonlyMap<string, Zone>;
}

export interface MonitorView {
  nodes: readonly Node[];
  lease(name: string): Lease | undefined;
  memory: MonitorMemory | undefined;
  monotonicMs: number;
}

interface Look {
  node: Node;
  name: string;
  sighting: Sighting;
  /** Set: the status is to be written. */
  conditions: NodeCondition[] | undefined;
  /** Status of Ready after that; undefined: it has none. */
  ready: string | undefined;
}

const typed = (node: Node): Node => (node.kind ? node : { ...node, apiVersion: 'v1', kind: 'Node' });

const nodeEvent = (regarding: Node, reason: string, message: string): Effect => ({
  op: 'event',
  regarding: typed(regarding),
  type: 'Normal',
  reason,
  message,
});

function look(node: Node, view: MonitorView, config: HealthConfig, moment: Moment): Look {
  const name = node.metadata.name ?? '';
  const sighting = sight(node, view.lease(name), view.memory?.sightings.get(name), moment);
  const conditions = silentConditions(node, sighting, config, moment);
  return { node, name, sighting, conditions, ready: conditions ? 'Unknown' : readyCondition(node)?.status };
}

/** Writes the status and tells of it. */
function statusEffects({ node, name, conditions }: Look): Effect[] {
  if (!conditions) return [];
  const object: Node = { ...node, status: { ...node.status, conditions } };
  const update: Effect = { op: 'update', resource: nodeResource, subresource: 'status', object };
  if (readyCondition(node)?.status !== 'True') return [update];
  const events = {
    regarding: typed(node),
    success: { reason: 'NodeNotReady', message: `Node ${name} status is now: NodeNotReady` },
  };
  return [{ ...update, events }];
}

function countZones(looks: readonly Look[]): Map<string, ZoneCounts> {
  const counts = new Map<string, ZoneCounts>();
  for (const { node, ready } of looks) {
    if (isExcluded(node)) continue;
    const count = counts.get(zoneOf(node)) ?? { ready: 0, notReady: 0 };
    if (ready === 'True') count.ready++;
    else count.notReady++;
    counts.set(zoneOf(node), count);
  }
  return counts;
}

const taintPatch = (node: Node, change: { add: readonly string[]; remove: readonly string[] }, now: number): Effect[] => {
  const taints = changedTaints(node, { effect: 'NoExecute', ...change }, now);
  const { uid, resourceVersion } = node.metadata;
  return taints
    ? [
        mergePatch(nodeResource, node, {
          metadata: { uid, resourceVersion },
          spec: { taints: taints.length > 0 ? taints : null },
        }),
      ]
    : [];
};

interface Tainting {
  effects: Effect[];
  zones: Map<string, Zone>;
  tainted: string[];
  nextMs: number | undefined;
}

/** NoExecute taints: taken off and exchanged at once, put on as fast as the zone allows, those that have waited longest first. */
function taint(
  looks: readonly Look[],
  start: ReadonlyMap<string, Zone>,
  defaultRate: number,
  { now, monotonicMs }: Moment,
): Tainting {
  const zones = new Map([...start].map(([key, zone]) => [key, filled(zone, monotonicMs)]));
  const result: Tainting = { effects: [], zones, tainted: [], nextMs: undefined };
  const since = ({ node }: Look): string => readyCondition(node)?.lastTransitionTime ?? '';
  for (const one of [...looks].sort((a, b) => (since(a) < since(b) ? -1 : since(a) > since(b) ? 1 : 0))) {
    const { node, name, ready, conditions } = one;
    // Its status is written in this round; the taint follows when that is seen.
    if (conditions || ready === undefined) continue;
    const change = executeTaint(ready);
    const isExchange = hasTaint(node, notReady, 'NoExecute') || hasTaint(node, unreachable, 'NoExecute');
    if (change.add.length === 0 || isExchange) {
      result.effects.push(...taintPatch(node, change, now));
      continue;
    }
    const key = zoneOf(node);
    const zone = zones.get(key) ?? newZone(defaultRate, monotonicMs);
    if (zone.tokens >= 1) {
      zones.set(key, { ...zone, tokens: zone.tokens - 1 });
      result.effects.push(...taintPatch(node, change, now));
      result.tainted.push(name);
    } else {
      zones.set(key, zone);
      const waitMs = untilTokenMs(zone);
      if (waitMs !== undefined) result.nextMs = Math.min(result.nextMs ?? waitMs, waitMs);
    }
  }
  return result;
}

function comings(looks: readonly Look[], { memory }: MonitorView): Effect[] {
  const known = memory?.sightings ?? new Map<string, Sighting>();
  const present = new Set(looks.map(({ name }) => name));
  const added = looks
    .filter(({ name }) => !known.has(name))
    .map(({ node, name }) => nodeEvent(node, 'RegisteredNode', `Node ${name} event: Registered Node ${name} in Controller`));
  const removed = [...known]
    .filter(([name]) => !present.has(name))
    .map(([name, { uid }]) =>
      nodeEvent({ metadata: { name, uid } }, 'RemovingNode', `Node ${name} event: Removing Node ${name} from Controller`),
    );
  return [...added, ...removed];
}

/** Decides for all nodes at once which conditions and taints they get. */
export function monitor(config: HealthConfig & ZoneConfig, view: MonitorView, now: number): Plan {
  const { monotonicMs } = view;
  const moment: Moment = { now, monotonicMs };
  const looks = view.nodes.map((node) => look(node, view, config, moment));
  const { zones, entered, left } = disruption(
    view.memory?.zones ?? new Map<string, Zone>(),
    countZones(looks),
    config,
    monotonicMs,
  );
  const writes = looks.flatMap(statusEffects);
  const tainting: Tainting = entered
    ? {
        effects: looks.flatMap((one) => (one.conditions ? [] : taintPatch(one.node, executeTaint('True'), now))),
        zones,
        tainted: [],
        nextMs: undefined,
      }
    : taint(looks, zones, config.nodeEvictionRate, moment);
  const sightings = new Map(looks.map(({ name, sighting }) => [name, left ? { ...sighting, seenAtMs: monotonicMs } : sighting]));
  const memory: MonitorMemory = { sightings, zones: tainting.zones };
  const all = [...writes, ...tainting.effects];
  return {
    effects: [...(all.length > 0 ? [{ op: 'parallel' as const, effects: all }] : []), ...comings(looks, view)],
    remember: memory,
    ...(writes.length > 0 ? { requeueAfterMs: stepMs } : tainting.nextMs !== undefined && { requeueAfterMs: tainting.nextMs }),
    because: explain(looks, tainting, entered),
  };
}

function explain(looks: readonly Look[], { tainted }: Tainting, entered: boolean): string {
  if (entered) return 'Every node is unreachable: more likely the control plane is cut off, so nothing is evicted.';
  const silent = looks.filter(({ conditions }) => conditions).map(({ name }) => name);
  if (silent.length > 0) return `No sign of life from ${silent.join(', ')} within the grace period: their state is unknown now.`;
  if (tainted.length > 0) return `Pods must leave ${tainted.join(', ')}: not ready or unreachable.`;
  return `${looks.filter(({ ready }) => ready === 'True').length} of ${looks.length} nodes are ready.`;
}
