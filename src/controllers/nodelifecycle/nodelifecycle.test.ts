import { describe, expect, it } from 'vitest';
import type { Lease } from '#api/coordination/v1';
import type { Node, NodeCondition } from '#api/core/v1';
import { formatMicroTime, formatTime } from '#apimachinery/meta';
import type { Effect } from '#controller-runtime';
import { defaultControllersConfig } from '../config.ts';
import { monitor, type MonitorMemory } from './monitor.ts';
import { reconcileNode } from './node.ts';
import { disruption, evictionRate, newZone, zoneState } from './zones.ts';

const config = defaultControllersConfig;
const startMs = Date.UTC(2026, 0, 1);
const at = (seconds: number): number => startMs + seconds * 1000;

const condition = (type: string, status: string): NodeCondition => ({
  type,
  status,
  reason: 'KubeletReady',
  lastHeartbeatTime: formatTime(startMs),
  lastTransitionTime: formatTime(startMs),
});
const node = (name: string, more: Partial<Node> = {}): Node => ({
  metadata: { name, uid: `uid-${name}`, creationTimestamp: formatTime(startMs), resourceVersion: '1' },
  status: { conditions: [condition('Ready', 'True'), condition('MemoryPressure', 'False')] },
  ...more,
});
const leaseAt = (seconds: number): Lease => ({ metadata: {}, spec: { renewTime: formatMicroTime(at(seconds)) } });

const flat = (effects: readonly Effect[]): Effect[] =>
  effects.flatMap((effect) => (effect.op === 'parallel' ? flat(effect.effects) : [effect]));

/** Nodes whose plans are carried out on paper. */
function world(names: readonly string[]) {
  const nodes = new Map(names.map((name) => [name, node(name)]));
  const renewals = new Map<string, number>();
  let memory: MonitorMemory | undefined;
  return {
    nodes,
    renewals,
    /** `offMs`: how far the time of day has jumped. */
    look(seconds: number, offMs = 0): string[] {
      const lease = (name: string) => (renewals.has(name) ? leaseAt(renewals.get(name) ?? 0) : undefined);
      const plan = monitor(
        config,
        { nodes: [...nodes.values()], lease, memory, monotonicMs: seconds * 1000 },
        at(seconds) + offMs,
      );
      memory = plan.remember as MonitorMemory;
      return flat(plan.effects).flatMap((effect) => {
        if (effect.op === 'update') {
          nodes.set(effect.object.metadata.name ?? '', effect.object as Node);
          return [`${effect.object.metadata.name}: status`];
        }
        if (effect.op === 'patch') {
          const old = nodes.get(effect.ref.name) as Node;
          const { taints } = (effect.body as { spec: { taints: { key: string; effect: string }[] | null } }).spec;
          nodes.set(effect.ref.name, { ...old, spec: { ...old.spec, taints: taints ?? [] } });
          return [`${effect.ref.name}: ${(taints ?? []).map(({ key, effect: what }) => `${key}:${what}`).join()}`];
        }
        return [];
      });
    },
  };
}

describe('a silent node', () => {
  it.each([2, -2])(
    'is silent by a clock that never jumps: the time of day, %i days off, makes none silent and hides none',
    (days) => {
      const offMs = days * 86_400_000;
      const { renewals, look } = world(['a', 'b', 'c']);
      for (const name of ['a', 'b', 'c']) renewals.set(name, 0);
      expect([look(0), look(5, offMs), look(45, offMs)]).toEqual([[], [], []]);
      for (const name of ['a', 'c']) renewals.set(name, 45);
      expect(look(50, offMs)).toEqual([]);
      expect(look(55, offMs)).toEqual(['b: status']);
    },
  );
  it('is unknown after the grace period and tainted in the next step', () => {
    const { nodes, renewals, look } = world(['a', 'b', 'c']);
    const timeline: [number, string[]][] = [];
    for (let seconds = 0; seconds <= 60; seconds += 5) {
      for (const name of ['a', 'b', 'c']) if (name !== 'b' || seconds < 5) renewals.set(name, seconds);
      const done = look(seconds);
      if (done.length > 0) timeline.push([seconds, done]);
    }
    expect(timeline).toEqual([
      [55, ['b: status']],
      [60, ['b: node.kubernetes.io/unreachable:NoExecute']],
    ]);
    expect(nodes.get('b')?.status?.conditions?.map(({ type, status, reason }) => [type, status, reason])).toEqual([
      ['Ready', 'Unknown', 'NodeStatusUnknown'],
      ['MemoryPressure', 'Unknown', 'NodeStatusUnknown'],
      ['DiskPressure', 'Unknown', 'NodeStatusNeverUpdated'],
      ['PIDPressure', 'Unknown', 'NodeStatusNeverUpdated'],
    ]);
    renewals.set('b', 65);
    nodes.set('b', {
      ...(nodes.get('b') as Node),
      status: { conditions: [{ ...condition('Ready', 'True'), lastHeartbeatTime: formatTime(at(65)) }] },
    });
    expect(look(65)).toEqual(['b: ']);
  });

  it('gets more time to post its first status', () => {
    const { nodes, renewals, look } = world(['a', 'new']);
    nodes.set('new', node('new', { status: {} }));
    for (let seconds = 0; seconds <= 60; seconds += 5) {
      renewals.set('a', seconds);
      expect(look(seconds)).toEqual([]);
    }
    renewals.set('a', 65);
    expect(look(65)).toEqual(['new: status']);
    expect(nodes.get('new')?.status?.conditions?.[0]).toMatchObject({
      status: 'Unknown',
      message: 'Kubelet never posted node status.',
    });
  });

  it('is not emptied when all fall silent together', () => {
    const { look } = world(['a', 'b']);
    for (let seconds = 0; seconds <= 50; seconds += 5) look(seconds);
    expect(look(55)).toEqual(['a: status', 'b: status']);
    for (let seconds = 60; seconds <= 300; seconds += 5) expect(look(seconds)).toEqual([]);
  });
});

describe('zones', () => {
  it.each([
    [3, 0, 'Normal'],
    [1, 2, 'Normal'],
    [2, 3, 'PartialDisruption'],
    [3, 3, 'Normal'],
    [0, 1, 'FullDisruption'],
    [0, 0, 'Normal'],
  ])('%i ready and %i not: %s', (ready, notReady, state) => {
    expect(zoneState(ready, notReady, config.unhealthyZoneThreshold)).toBe(state);
  });

  it.each([
    ['Normal', 10, 0.1],
    ['FullDisruption', 10, 0.1],
    ['PartialDisruption', 50, 0],
    ['PartialDisruption', 51, 0.01],
  ] as const)('%s of %i nodes: %f a second', (state, size, rate) => {
    expect(evictionRate(state, size, config)).toBe(rate);
  });

  it('one at a time: the second node of a zone waits ten seconds', () => {
    const { renewals, look } = world(['a', 'b', 'c', 'd', 'e']);
    const tainted: [number, string][] = [];
    for (let seconds = 0; seconds <= 80; seconds += 5) {
      for (const name of ['a', 'b', 'c']) renewals.set(name, seconds);
      for (const text of look(seconds)) if (text.includes('NoExecute')) tainted.push([seconds, text[0] ?? '']);
    }
    expect(tainted).toEqual([
      [60, 'd'],
      [70, 'e'],
    ]);
  });

  it('all down stops evictions, one back starts them again', () => {
    const down = new Map([['z', { ready: 0, notReady: 2 }]]);
    const first = disruption(new Map([['z', { ...newZone(0.1, 0), state: 'Normal' }]]), down, config, 1_000);
    expect(first).toMatchObject({ entered: true, left: false });
    expect(first.zones.get('z')).toMatchObject({ rate: 0, tokens: 0 });
    const second = disruption(first.zones, new Map([['z', { ready: 1, notReady: 1 }]]), config, 2_000);
    expect(second).toMatchObject({ entered: false, left: true });
    expect(second.zones.get('z')).toMatchObject({ rate: 0.1, state: 'Normal' });
  });
});

describe('one node', () => {
  it('is tainted as its conditions and spec say, and labelled by older names', () => {
    const taints = [
      { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
      { key: 'mine', effect: 'NoSchedule' },
    ];
    const labels = { 'kubernetes.io/os': 'linux' };
    const status = { conditions: [condition('Ready', 'True'), condition('DiskPressure', 'True')] };
    const one = node('a', {
      metadata: { name: 'a', uid: 'u', resourceVersion: '7', labels },
      spec: { taints, unschedulable: true },
      status,
    });
    const [patch] = reconcileNode({ node: one, pods: [] }, startMs).effects;
    const timeAdded = formatTime(startMs);
    expect(patch).toMatchObject({
      body: {
        metadata: { uid: 'u', resourceVersion: '7', labels: { 'beta.kubernetes.io/os': 'linux' } },
        spec: {
          taints: [
            { key: 'mine', effect: 'NoSchedule' },
            { key: 'node.kubernetes.io/disk-pressure', effect: 'NoSchedule', timeAdded },
            { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule', timeAdded },
          ],
        },
      },
    });
  });
});
