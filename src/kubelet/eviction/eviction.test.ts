import { describe, expect, it } from 'vitest';
import type { Pod } from '#api/core/v1';
import { pressureRefusal } from './admit.ts';
import { chooseEviction, rankByUse, type Usage } from './decide.ts';
import { judge, noPressureMemory, parseThresholds, pressureAt, type PressureMemory, thresholdsMet } from './thresholds.ts';

const podOf = (name: string, request: string, priority = 0): Pod => ({
  metadata: { name },
  spec: { priority, containers: [{ name: 'c', resources: { requests: { memory: request } } }] },
});
const observations = {
  'memory.available': { available: 50 * 2 ** 20, capacity: 2 ** 30 },
  'nodefs.available': { available: 20, capacity: 100 },
};
const hard = { 'memory.available': '100Mi', 'nodefs.available': '10%' };
const signals = (thresholds: { signal: string }[]): string[] => thresholds.map(({ signal }) => signal);

describe('thresholds', () => {
  const thresholds = parseThresholds({ hard });
  it('are met by amount and by percentage', () => {
    expect(signals(thresholdsMet(thresholds, observations))).toEqual(['memory.available']);
    expect(signals(thresholdsMet(thresholds, { 'nodefs.available': { available: 9, capacity: 100 } }))).toEqual([
      'nodefs.available',
    ]);
  });
  it('of nothing or everything do not count', () => {
    expect(parseThresholds({ hard: { 'nodefs.available': '0%', 'imagefs.available': '100%' } })).toEqual([]);
  });
  it.each<[string, Parameters<typeof parseThresholds>[0]]>([
    ['unsupported eviction signal mem', { hard: { mem: '1' } }],
    ['eviction threshold memory.available must be positive: 0', { hard: { 'memory.available': '0' } }],
    ['eviction percentage threshold nodefs.available must be >= 0%: -1%', { hard: { 'nodefs.available': '-1%' } }],
    ['eviction percentage threshold nodefs.available must be <= 100%: 101%', { hard: { 'nodefs.available': '101%' } }],
    [
      'grace period must be specified for the soft eviction threshold memory.available',
      { hard: {}, soft: { 'memory.available': '1Gi' } },
    ],
    [
      'invalid eviction grace period specified: -1m, must be a positive value',
      { hard: {}, softGracePeriod: { 'memory.available': '-1m' } },
    ],
    [
      'negative eviction minimum reclaim specified for memory.available',
      { hard: {}, minimumReclaim: { 'memory.available': '-1' } },
    ],
    [
      'eviction percentage minimum reclaim nodefs.available must be positive: 0%',
      { hard: {}, minimumReclaim: { 'nodefs.available': '0%' } },
    ],
  ])('are refused: %s', (message, texts) => {
    expect(() => parseThresholds(texts)).toThrow(message);
  });
});

describe('a node that is looked at again and again', () => {
  const look = (memory: PressureMemory, available: number, now: number, texts: Parameters<typeof parseThresholds>[0]) =>
    judge(memory, thresholdsOf(texts), { 'memory.available': { available, capacity: 1000 } }, now);
  const known = new Map<object, ReturnType<typeof parseThresholds>>();
  const thresholdsOf = (texts: Parameters<typeof parseThresholds>[0]): ReturnType<typeof parseThresholds> => {
    const parsed = known.get(texts) ?? parseThresholds(texts);
    known.set(texts, parsed);
    return parsed;
  };
  const soft = { hard: {}, soft: { 'memory.available': '10%' }, softGracePeriod: { 'memory.available': '30s' } };

  it('acts on a soft threshold once it was met without a break for its grace period', () => {
    const first = look(noPressureMemory, 50, 0, soft);
    expect(first.due).toEqual([]);
    expect(pressureAt(first.memory, 0, 1000)).toMatchObject({ memory: true });
    expect(look(first.memory, 50, 29_000, soft).due).toEqual([]);
    expect(signals(look(first.memory, 50, 30_000, soft).due)).toEqual(['memory.available']);
    const relieved = look(first.memory, 500, 20_000, soft);
    expect(look(relieved.memory, 50, 30_000, soft).due).toEqual([]);
  });
  it('goes on until the minimum to reclaim is there', () => {
    const texts = { hard: { 'memory.available': '10%' }, minimumReclaim: { 'memory.available': '5%' } };
    const first = look(noPressureMemory, 99, 0, texts);
    expect(first.due).toHaveLength(1);
    const second = look(first.memory, 149, 10, texts);
    expect(second.due).toHaveLength(1);
    const third = look(second.memory, 150, 20, texts);
    expect(third.due).toEqual([]);
    // Never met before, a threshold is only itself.
    expect(look(noPressureMemory, 120, 0, texts).due).toEqual([]);
  });
  it('reports pressure for a while after it has gone, each kind for itself', () => {
    const tenth = { hard: { 'memory.available': '10%' } };
    const { memory } = look(noPressureMemory, 50, 0, tenth);
    const later = look(memory, 500, 9_000, tenth).memory;
    expect(pressureAt(later, 9_999, 10_000)).toEqual({ memory: true, disk: false, pid: false });
    expect(pressureAt(later, 10_000, 10_000)).toEqual({ memory: false, disk: false, pid: false });
  });
  it('thinks of memory first', () => {
    const low = { available: 0, capacity: 10 };
    const all = { 'nodefs.inodesFree': low, 'pid.available': low, 'memory.available': low };
    const thresholds = parseThresholds({ hard: { 'nodefs.inodesFree': '5', 'pid.available': '5', 'memory.available': '5' } });
    expect(signals(judge(noPressureMemory, thresholds, all, 0).due)[0]).toBe('memory.available');
  });
});

it('takes the pod that uses more than it asked for, of low priority first, and never a critical one', () => {
  const modest = podOf('modest', '500Mi');
  const greedy = podOf('greedy', '10Mi');
  const important = podOf('important', '10Mi', 1000);
  const critical = podOf('critical', '0', 2_000_000_000);
  const usage = (pod: Pod): Usage => {
    const total = (pod === modest ? 400 : 300) * 2 ** 20;
    return { total, containers: new Map([['c', total]]) };
  };
  const pods = [modest, important, greedy];
  const names = rankByUse(pods, 'memory', usage).map(({ metadata }) => metadata.name);
  expect(names).toEqual(['greedy', 'important', 'modest']);
  const choice = chooseEviction({
    threshold: { signal: 'memory.available', value: '100Mi' },
    observations,
    pods: [critical, ...pods],
    usage,
  });
  expect(choice?.pod.metadata.name).toBe('greedy');
  expect(choice?.message).toBe(
    'The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. Container c was using 300Mi, request is 10Mi, has larger consumption of memory. ',
  );
});

it('takes the pod with most on disk when disk is short', () => {
  const pods = [podOf('small', '1Mi'), podOf('large', '1Gi')];
  const usage = ({ metadata }: Pod): Usage => ({ total: metadata.name === 'large' ? 9_000 : 5, containers: new Map() });
  const disk = { 'nodefs.available': { available: 1024, capacity: 2048 } };
  const choice = chooseEviction({
    threshold: { signal: 'nodefs.available', value: '100%' },
    observations: disk,
    pods,
    usage,
  });
  expect(choice?.pod.metadata.name).toBe('large');
  expect(choice?.message).toBe('The node was low on resource: ephemeral-storage. Threshold quantity: 2Ki, available: 1Ki. ');
});

it('a node under pressure takes critical pods, and short of memory alone those that asked for some or bear it', () => {
  const calm = { memory: false, disk: false, pid: false };
  const memory = { ...calm, memory: true };
  const bestEffort: Pod = { metadata: { name: 'b' }, spec: { containers: [{ name: 'c' }] } };
  const tolerations = [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists' }];
  const tolerant: Pod = { ...bestEffort, spec: { containers: [{ name: 'c' }], tolerations } };
  const refused = (pod: Pod, pressure: typeof calm) => pressureRefusal(pod, pressure)?.message;
  expect(refused(bestEffort, calm)).toBeUndefined();
  expect(refused(bestEffort, memory)).toBe('The node had condition: [MemoryPressure]. ');
  expect([refused(podOf('asks', '1Mi'), memory), refused(tolerant, memory)]).toEqual([undefined, undefined]);
  for (const pod of [bestEffort, tolerant, podOf('asks', '1Mi')])
    expect(refused(pod, { memory: true, disk: true, pid: false })).toBe(
      'The node had condition: [MemoryPressure DiskPressure]. ',
    );
  expect(refused(podOf('critical', '0', 2_000_000_000), { ...calm, pid: true })).toBeUndefined();
});
