// A node short of disk ends pods one at a time, those with most on disk first, says so, and takes no more.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultOptions } from '#kubelet';
import { missingForContainers } from './private-containerd.ts';
import { NodeWorld, shell, sleeper } from './node-world.ts';

const missing = missingForContainers();

describe.skipIf(missing !== undefined)(`eviction${missing ? ` (skipped: ${missing})` : ''}`, () => {
  let world: NodeWorld;
  beforeAll(async () => {
    world = await NodeWorld.start('10.219.0.0/24');
  }, 60_000);
  afterAll(() => world?.stop(), 60_000);

  it('ends all but critical pods where there is never disk enough', async () => {
    const write = 'dd if=/dev/zero of=/data/x bs=1M count=5 2>/dev/null; exec sleep 3600';
    const volumeMounts = [{ name: 'data', mountPath: '/data' }];
    world.put('modest', { containers: [sleeper()] });
    world.put('greedy', { volumes: [{ name: 'data', emptyDir: {} }], containers: [shell(write, { volumeMounts })] });
    world.put('critical', { priority: 2_000_000_000, containers: [sleeper()] });
    for (const name of ['modest', 'greedy', 'critical']) await world.ready(name);
    await world.node.close();
    await world.startKubelet({ eviction: { ...defaultOptions('n1').eviction, hard: { 'nodefs.available': '99.99%' } } });
    const evicted = (name: string) =>
      world.status(name, 'is evicted', ({ phase, reason }) => phase === 'Failed' && reason === 'Evicted');
    await evicted('greedy');
    expect(world.pod('modest')?.status?.phase).toBe('Running');
    expect(world.pod('greedy')?.status?.message).toMatch(
      /^The node was low on resource: ephemeral-storage\. Threshold quantity: \S+, available: \S+\. (Container app was using .*, request is 0, has larger consumption of ephemeral-storage\. )?$/,
    );
    expect(world.pod('greedy')?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' }),
    );
    await evicted('modest');
    expect(world.pod('critical')?.status?.phase).toBe('Running');
    await world.event('n1', /^NodeHasDiskPressure: /);
    await world.event('n1', 'EvictionThresholdMet: Attempting to reclaim ephemeral-storage');
    world.put('late', { containers: [sleeper()] });
    await evicted('late');
    expect(world.pod('late')?.status?.message).toBe('Pod was rejected: The node had condition: [DiskPressure]. ');
  });
});
