import { expect, onTestFinished, test } from 'vitest';
import type { Service } from '#api/core/v1';
import { manualClock } from '#store/suite';
import { silentLogger } from '#utils';
import { MemoryCluster } from '../../test-support/memory-cluster.ts';
import { claimOf } from './ip-allocator.ts';
import { ipRepairHook } from './ip-repair.ts';

const group = 'networking.k8s.io';

async function setUp(cluster = new MemoryCluster()) {
  const clock = manualClock();
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  const claim = (address: string, name: string) => ({
    ...claimOf(address, { namespace: 'ns', name }),
    metadata: { ...claimOf(address, { namespace: 'ns', name }).metadata, creationTimestamp: new Date(clock.now()).toISOString() },
  });
  const service = (name: string, ...clusterIPs: string[]): Service => ({
    metadata: { namespace: 'ns', name },
    spec: { clusterIPs },
  });
  const claims = () => cluster.list(group, 'ipaddresses').map(({ metadata }) => metadata.name);
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  const start = () => ipRepairHook({ clock, logger: silentLogger }).run(cluster, cluster, ended.signal);
  return { cluster, claim, service, claims, pass, start, ended };
}

test('a claim goes a minute after it was made when no Service has come to have it', async () => {
  const { cluster, claim, service, claims, pass, start } = await setUp();
  await start();
  cluster.put(group, 'ipaddresses', claim('10.96.0.10', 'late'));
  cluster.put(group, 'ipaddresses', claim('10.96.0.11', 'never'));
  cluster.put('', 'services', service('late', '10.96.0.10'));
  await pass(59_000);
  expect(claims()).toEqual(['10.96.0.10', '10.96.0.11']);
  await pass(2_000);
  expect(claims()).toEqual(['10.96.0.10']);
});

test('a claim goes when its Service has another address, and when another server ended before it gave the address back', async () => {
  const { cluster, claim, service, claims, pass, start } = await setUp();
  cluster.put(group, 'ipaddresses', claim('10.96.0.1', 'moved'));
  cluster.put(group, 'ipaddresses', claim('10.96.0.2', 'moved'));
  cluster.put('', 'services', service('moved', '10.96.0.2'));
  await start();
  cluster.put('', 'services', service('moved', 'None'));
  await pass(61_000);
  expect(claims()).toEqual([]);
});

test('a claim that is taken away under its Service is made again', async () => {
  const { cluster, claim, service, claims, pass, start } = await setUp();
  cluster.put('', 'services', service('a', '10.96.0.1'));
  cluster.put('', 'services', service('b', 'fd00::1'));
  cluster.put(group, 'ipaddresses', claim('10.96.0.1', 'a'));
  await start();
  await cluster.delete(group, 'ipaddresses', '', '10.96.0.1');
  await pass(2_000);
  expect(claims().toSorted()).toEqual(['10.96.0.1', 'fd00::1']);
  expect(cluster.get(group, 'ipaddresses', '', 'fd00::1')).toMatchObject(claimOf('fd00::1', { namespace: 'ns', name: 'b' }));
});

test('claims that somebody else made stay, and nothing happens once the server ends', async () => {
  const { cluster, claim, claims, pass, start, ended } = await setUp();
  const { metadata, ...theirs } = claim('10.96.0.1', 'x');
  cluster.put(group, 'ipaddresses', { ...theirs, metadata: { ...metadata, labels: {} } });
  cluster.put(group, 'ipaddresses', claim('10.96.0.2', 'y'));
  await start();
  ended.abort();
  await pass(120_000);
  expect(claims()).toEqual(['10.96.0.1', '10.96.0.2']);
});
