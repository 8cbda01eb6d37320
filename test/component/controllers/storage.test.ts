// Claims and volumes over the real apiserver in virtual time: made for pods, protected while used, made larger by somebody else.
import { afterEach, describe, expect, it } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '#api/core/v1';
import { createControllers, defaultControllersConfig } from '#controllers';
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta';
import { startTestControlPlane, type TestControlPlane, virtualClock } from '#testing';

const core = (resource: string): GroupVersionResource => ({ group: '', version: 'v1', resource });
const pods = core('pods');
const claims = core('persistentvolumeclaims');
const volumes = core('persistentvolumes');
const merge = 'application/merge-patch+json';

const clock = virtualClock();
let plane: TestControlPlane;

async function start(name: string): Promise<void> {
  const controllers = createControllers(defaultControllersConfig).filter((loop) => loop.name === name);
  expect(controllers).toHaveLength(1);
  plane = await startTestControlPlane({ clock, controllers });
  await plane.client.resource(core('namespaces')).create({ metadata: { name: 'one' } });
  await clock.advance(1_000);
}
afterEach(() => plane.stop());

const on = <T extends KubeObject>(resource: GroupVersionResource) =>
  plane.client.resource<T>(resource, resource === volumes ? undefined : 'one');
const exists = (resource: GroupVersionResource, name: string): Promise<boolean> =>
  on(resource)
    .get(name)
    .then(
      () => true,
      () => false,
    );
const claimSpec: PersistentVolumeClaim['spec'] = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const podWith = (name: string, volume: NonNullable<NonNullable<Pod['spec']>['volumes']>[number]): Pod => ({
  metadata: { name },
  spec: { nodeName: 'here', containers: [{ name: 'c', image: 'c:1' }], volumes: [volume] },
});
const told = async (): Promise<string[]> =>
  (await on<KubeObject & { type?: string; reason?: string; message?: string }>(core('events')).list()).items.map(
    ({ type, reason, message }) => `${type} ${reason}: ${message}`,
  );

describe('volumes', () => {
  it('of a pod alone get a claim that the pod owns, but never a claim of somebody else', async () => {
    await start('ephemeral-volume-controller');
    await on<PersistentVolumeClaim>(claims).create({ metadata: { name: 'late-data' }, spec: claimSpec });
    const ephemeral = { volumeClaimTemplate: { metadata: { labels: { kind: 'scratch' } }, spec: claimSpec } };
    const pod = await on<Pod>(pods).create(podWith('web', { name: 'data', ephemeral }));
    await on<Pod>(pods).create(podWith('late', { name: 'data', ephemeral }));
    await clock.advance(2_000);
    const { metadata, spec } = await on<PersistentVolumeClaim>(claims).get('web-data');
    expect(metadata.labels).toEqual({ kind: 'scratch' });
    expect(metadata.ownerReferences).toEqual([
      { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: pod.metadata.uid, controller: true, blockOwnerDeletion: true },
    ]);
    expect(spec?.resources?.requests).toEqual({ storage: '1Gi' });
    expect((await on(claims).get('late-data')).metadata.ownerReferences).toBeUndefined();
    expect(plane.decisions.about({ group: '', resource: 'pods', key: 'one/late' })[0]?.failure).toBe(
      'PVC "one/late-data" was not created for pod "one/late" (pod is not owner)',
    );
  });

  it('stay claimed until no pod uses them', async () => {
    await start('persistentvolumeclaim-protection-controller');
    for (const name of ['used', 'unused'])
      await on<PersistentVolumeClaim>(claims).create({ metadata: { name }, spec: claimSpec });
    await on<Pod>(pods).create(podWith('web', { name: 'data', persistentVolumeClaim: { claimName: 'used' } }));
    await clock.advance(2_000);
    for (const name of ['used', 'unused']) await on(claims).delete(name);
    await clock.advance(2_000);
    expect([await exists(claims, 'used'), await exists(claims, 'unused')]).toEqual([true, false]);
    await on(pods).patch('web', merge, { status: { phase: 'Succeeded' } }, { subresource: 'status' });
    await clock.advance(2_000);
    expect(await exists(claims, 'used'), 'the node of a pod that has finished has its volumes still').toBe(true);
    await on(pods).delete('web', { gracePeriodSeconds: 0 });
    await clock.advance(2_000);
    expect(await exists(claims, 'used')).toBe(false);
  });

  it('stay while they are bound', async () => {
    await start('persistentvolume-protection-controller');
    const spec: PersistentVolume['spec'] = {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      hostPath: { path: '/data' },
    };
    await on<PersistentVolume>(volumes).create({ metadata: { name: 'disk' }, spec });
    await on(volumes).patch('disk', merge, { status: { phase: 'Bound' } }, { subresource: 'status' });
    await clock.advance(2_000);
    await on(volumes).delete('disk');
    await clock.advance(2_000);
    expect((await on(volumes).get('disk')).metadata.finalizers).toEqual(['kubernetes.io/pv-protection']);
    await on(volumes).patch('disk', merge, { status: { phase: 'Released' } }, { subresource: 'status' });
    await clock.advance(2_000);
    expect(await exists(volumes, 'disk')).toBe(false);
  });

  it('that are to grow wait for their driver', async () => {
    await start('persistentvolume-expander-controller');
    const claim = await on<PersistentVolumeClaim>(claims).create({
      metadata: { name: 'data' },
      spec: { ...claimSpec, volumeName: 'disk' },
    });
    const claimRef = { namespace: 'one', name: 'data', uid: claim.metadata.uid };
    const csi = { driver: 'csi.example.com', volumeHandle: 'disk' };
    await on<PersistentVolume>(volumes).create({
      metadata: { name: 'disk' },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], csi, claimRef },
    });
    const bound = { phase: 'Bound', capacity: { storage: '1Gi' } };
    await on(claims).patch('data', merge, { status: bound }, { subresource: 'status' });
    await clock.advance(2_000);
    expect(await told()).toEqual([]);
    await on(claims).patch('data', merge, { spec: { resources: { requests: { storage: '2Gi' } } } });
    await clock.advance(2_000);
    expect(await told()).toEqual(['Normal ExternalExpanding: waiting for an external controller to expand this PVC']);
  });
});
