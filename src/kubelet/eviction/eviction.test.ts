import { expect, it } from 'vitest';
import type { Pod } from '#api/core/v1';
import { pressureRefusal } from './admit.ts';
import { chooseEviction, pressureOf, rankByUse, signalsMet, type Usage } from './decide.ts';

const podOf = (name: string, request: string, priority = 0): Pod => ({
  metadata: { name },
  spec: { priority, containers: [{ name: 'c', resources: { requests: { memory: request } } }] },
});
const observations = {
  'memory.available': { available: 50 * 2 ** 20, capacity: 2 ** 30 },
  'nodefs.available': { available: 20, capacity: 100 },
};
const thresholds = { 'memory.available': '100Mi', 'nodefs.available': '10%' };

it('sees which thresholds are met, by amount and by percentage', () => {
  expect(signalsMet(observations, thresholds)).toEqual(['memory.available']);
  expect(signalsMet({ 'nodefs.available': { available: 9, capacity: 100 } }, thresholds)).toEqual(['nodefs.available']);
  expect(pressureOf(['nodefs.inodesFree'])).toEqual({ memory: false, disk: true, pid: false });
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
    signals: ['memory.available'],
    observations,
    thresholds,
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
    signals: ['nodefs.available'],
    observations: disk,
    thresholds: { 'nodefs.available': '100%' },
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
