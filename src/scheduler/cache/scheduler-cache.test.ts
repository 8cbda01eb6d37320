import { expect, test } from 'vitest';
import type { Pod } from '#api/core/v1';
import { podInfoOf } from '../framework/index.ts';
import { SchedulerCache } from './scheduler-cache.ts';

const node = (name: string) => ({ metadata: { name }, status: { allocatable: { cpu: '4', pods: '10' } } });
const pod = (name: string, nodeName?: string, cpu = '1'): Pod => ({
  metadata: { name, namespace: 'ns', uid: name },
  spec: { containers: [{ name: 'c', image: 'x', resources: { requests: { cpu } } }], ...(nodeName && { nodeName }) },
});

const used = (cache: SchedulerCache, name: string): number | undefined => cache.snapshot.byName.get(name)?.requested.cpu;

test('an assumed pod counts at once, is confirmed without counting twice, and can be taken back', () => {
  const cache = new SchedulerCache();
  cache.setNode(node('n'));
  cache.assume(podInfoOf(pod('a')), 'n');
  cache.assume(podInfoOf(pod('b')), 'n');
  expect(used(cache, 'n')).toBe(2000);
  cache.setPod(pod('a', 'n'));
  expect([used(cache, 'n'), cache.isAssumed('a')]).toEqual([2000, false]);
  cache.forget('a');
  cache.forget('b');
  expect(used(cache, 'n')).toBe(1000);
});

test('a node may have images without a name', () => {
  const cache = new SchedulerCache();
  const images = [{ names: null, sizeBytes: 1 }, { sizeBytes: 2 }, { names: ['a', 'b:1'], sizeBytes: 3 }];
  cache.setNode({ metadata: { name: 'n' }, status: { images } });
  expect([...(cache.snapshot.byName.get('n')?.images ?? [])]).toEqual([
    ['a', 3],
    ['b:1', 3],
  ]);
});

test('a confirmation on another node moves the pod', () => {
  const cache = new SchedulerCache();
  cache.setNode(node('n'));
  cache.setNode(node('m'));
  cache.assume(podInfoOf(pod('a')), 'n');
  cache.setPod(pod('a', 'm'));
  expect([used(cache, 'n'), used(cache, 'm')]).toEqual([0, 1000]);
});

test('a resize is counted, a mere status change is not a change', () => {
  const cache = new SchedulerCache();
  cache.setNode(node('n'));
  cache.setPod(pod('a', 'n'));
  const { version } = cache.snapshot.log;
  cache.setPod({ ...pod('a', 'n'), status: { phase: 'Running' } });
  expect(cache.snapshot.log.version).toBe(version);
  expect(cache.snapshot.byName.get('n')?.pods.get('a')?.pod.status?.phase).toBe('Running');
  cache.setPod(pod('a', 'n', '2'));
  expect(used(cache, 'n')).toBe(2000);
});

test('pods of a node that is not there wait for it', () => {
  const cache = new SchedulerCache();
  cache.setPod(pod('a', 'n'));
  cache.setNode(node('n'));
  expect(used(cache, 'n')).toBe(1000);
  cache.removeNode('n');
  cache.setNode(node('n'));
  expect(used(cache, 'n')).toBe(1000);
  cache.removePod('a');
  expect(used(cache, 'n')).toBe(0);
});
