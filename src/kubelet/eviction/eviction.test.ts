import { expect, it } from 'vitest';
import type { Pod } from '#api/core/v1';
import { chooseEviction, pressureOf, rankForMemory, signalsMet } from './decide.ts';

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
  const usedBytes = (pod: Pod): number => (pod === modest ? 400 : 300) * 2 ** 20;
  const pods = [modest, important, greedy];
  expect(rankForMemory(pods, usedBytes).map(({ metadata }) => metadata.name)).toEqual(['greedy', 'important', 'modest']);
  const choice = chooseEviction({
    signals: ['memory.available'],
    observations,
    thresholds,
    pods: [critical, ...pods],
    usedBytes,
  });
  expect(choice?.pod.metadata.name).toBe('greedy');
  expect(choice?.message).toBe(
    'The node was low on resource: memory. Threshold quantity: 100Mi, available: 51200Ki. Container c was using 307200Ki, request is 10Mi, has larger consumption of memory. ',
  );
});
