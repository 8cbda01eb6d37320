// A node dies: minutes of a cluster's life in about a second. Everything is real but the time and what runs on the nodes.
import { describe, expect, it } from 'vitest';
import type { Node, Pod } from '#api/core/v1';
import type { ReplicaSet } from '#api/apps/v1';
import { createClient } from '#client';
import { createControllers, defaultControllersConfig } from '#controllers';
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta';
import { createSimulatedNode } from '#kubelet';
import { startTestControlPlane, virtualClock } from '#testing';
import { seededRng, silentLogger } from '#utils';

const core = (resource: string): GroupVersionResource => ({ group: '', version: 'v1', resource });
const pods = core('pods');
const nodes = core('nodes');
const replicaSets: GroupVersionResource = { group: 'apps', version: 'v1', resource: 'replicasets' };

const readyOf = (object: { status?: { conditions?: { type: string; status: string; reason?: string }[] } }) =>
  object.status?.conditions?.find(({ type }) => type === 'Ready');

const loops = ['node-lifecycle-controller', 'taint-eviction-controller', 'replicaset-controller', 'node-ipam-controller'];

async function startCluster(names: readonly string[]) {
  const clock = virtualClock();
  const config = { ...defaultControllersConfig, clusterCidrs: ['10.244.0.0/16'], allocateNodeCidrs: true };
  const plane = await startTestControlPlane({
    clock,
    // Accounts and their tokens are not what this is about; default tolerations are.
    admission: { disable: ['ServiceAccount'] },
    controllers: createControllers(config).filter(({ name }) => loops.includes(name)),
  });
  const kubelets = new Map(
    names.map((name, index) => {
      const user = { name: `system:node:${name}`, groups: ['system:nodes', 'system:authenticated'] };
      const client = createClient(plane.apiserver.transport(user, 'kubelet'));
      return [name, createSimulatedNode({ name }, { client, clock, rng: seededRng(index), logger: silentLogger })] as const;
    }),
  );
  for (const kubelet of kubelets.values()) await kubelet.start();
  const node = (name: string) => plane.client.resource<Node>(nodes).get(name);
  const listPods = async () => (await plane.client.resource<Pod>(pods, 'default').list()).items;
  /** Stands in for the scheduler: pending pods go round robin to nodes that may take them. */
  let turn = 0;
  const schedule = async (): Promise<void> => {
    const free = (await plane.client.resource<Node>(nodes).list()).items.filter(({ spec }) => (spec?.taints ?? []).length === 0);
    for (const pod of await listPods()) {
      if (pod.spec?.nodeName || free.length === 0) continue;
      const nodeName = free[turn++ % free.length]?.metadata.name;
      const { namespace = '', name = '' } = pod.metadata;
      const bind = (current: Pod): Pod => ({ ...current, spec: { ...current.spec, nodeName } as Pod['spec'] });
      await plane.apiserver.writer.update<Pod>('', 'pods', namespace, name, bind, { unchecked: true });
    }
  };
  return { clock, plane, kubelets, node, listPods, schedule };
}

describe('a node dies', () => {
  it('its pods are replaced elsewhere, on time', async () => {
    const { clock, plane, kubelets, node, listPods, schedule } = await startCluster(['a', 'b', 'c']);
    await clock.until(
      async () => (await Promise.all(['a', 'b', 'c'].map(node))).every((one) => readyOf(one)?.status === 'True'),
      60_000,
    );
    await clock.until(async () => ((await node('a')).spec?.taints ?? []).length === 0, 10_000);
    expect(new Set((await Promise.all(['a', 'b', 'c'].map(node))).map(({ spec }) => spec?.podCIDR)).size).toBe(3);
    const template = {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'web:1' }] },
    };
    const set: ReplicaSet = {
      metadata: { name: 'web', namespace: 'default' },
      spec: { replicas: 3, selector: { matchLabels: { app: 'web' } }, template },
    };
    await plane.client.resource<ReplicaSet>(replicaSets, 'default').create(set);
    await clock.until(async () => (await listPods()).length === 3, 10_000);
    await schedule();
    await clock.until(async () => (await listPods()).every((pod) => readyOf(pod)?.status === 'True'), 60_000);
    const victim = (await listPods()).find(({ spec }) => spec?.nodeName === 'b');

    kubelets.get('b')?.close();
    const deathMs = clock.now();
    const seconds = (): number => (clock.now() - deathMs) / 1000;

    await clock.until(async () => readyOf(await node('b'))?.status === 'Unknown', 120_000);
    expect(seconds()).toBeGreaterThan(40);
    expect(seconds()).toBeLessThanOrEqual(56);
    expect(readyOf(await node('b'))?.reason).toBe('NodeStatusUnknown');
    await clock.until(async () => ((await node('b')).spec?.taints ?? []).some(({ effect }) => effect === 'NoExecute'), 10_000);
    expect((await node('b')).spec?.taints?.map(({ key, effect }) => `${key}:${effect}`).sort()).toEqual([
      'node.kubernetes.io/unreachable:NoExecute',
      'node.kubernetes.io/unreachable:NoSchedule',
    ]);
    const taintedAt = seconds();
    const podNow = async () => (await listPods()).find(({ metadata }) => metadata.uid === victim?.metadata.uid);
    expect(readyOf((await podNow()) ?? {})?.status).toBe('False');

    await clock.until(async () => (await podNow())?.metadata.deletionTimestamp !== undefined, 400_000);
    expect(seconds() - taintedAt).toBeGreaterThanOrEqual(299);
    expect(seconds() - taintedAt).toBeLessThanOrEqual(302);
    expect((await podNow())?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' }),
    );
    await clock.advance(2_000);
    await schedule();
    const elsewhere = async () =>
      (await listPods()).filter((pod) => pod.spec?.nodeName !== 'b' && readyOf(pod)?.status === 'True').length === 3;
    await clock.until(elsewhere, 60_000);
    const told = (await plane.client.resource<KubeObject & { reason?: string }>(core('events'), 'default').list()).items;
    expect(told.map(({ reason }) => reason)).toEqual(expect.arrayContaining(['NodeNotReady', 'TaintManagerEviction']));

    for (const kubelet of kubelets.values()) kubelet.close();
    await plane.stop();
  });
});
