// Volumes come to nodes and leave them over the real apiserver in virtual time; the test plays the driver's external-attacher, and the kubelet's
// part of node status.
import { afterEach, describe, expect, it } from 'vitest';
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '#api/core/v1';
import type { CSIDriver, VolumeAttachment } from '#api/storage/v1';
import { createControllers, defaultControllersConfig } from '#controllers';
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta';
import { startTestControlPlane, type TestControlPlane, virtualClock } from '#testing';

const core = (resource: string): GroupVersionResource => ({ group: '', version: 'v1', resource });
const storage = (resource: string): GroupVersionResource => ({ group: 'storage.k8s.io', version: 'v1', resource });
const [pods, nodes, claims, volumes] = [core('pods'), core('nodes'), core('persistentvolumeclaims'), core('persistentvolumes')];
const [attachments, drivers] = [storage('volumeattachments'), storage('csidrivers')];
const merge = 'application/merge-patch+json';
const driver = 'csi.example.com';
const unique = (name: string): string => `kubernetes.io/csi/${driver}^handle-${name}`;

const clock = virtualClock();
let plane: TestControlPlane;
afterEach(() => plane.stop());

const namespaced = new Set([pods, claims, core('events')].map(({ resource }) => resource));
const on = <T extends KubeObject>(resource: GroupVersionResource) =>
  plane.client.resource<T>(resource, namespaced.has(resource.resource) ? 'one' : undefined);
const status = (resource: GroupVersionResource, name: string, fields: object) =>
  on(resource).patch(name, merge, { status: fields }, { subresource: 'status' });
const settle = () => clock.advance(2_000);

async function makeNode(name: string, ready = true): Promise<void> {
  const annotations = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' };
  await on<Node>(nodes).create({ metadata: { name, annotations } });
  await setReady(name, ready);
}
const setReady = (name: string, ready: boolean) =>
  status(nodes, name, { conditions: [{ type: 'Ready', status: ready ? 'True' : 'Unknown' }] });
const mounted = (name: string, ...inUse: string[]) => status(nodes, name, { volumesInUse: inUse.map(unique) });

async function makeVolume(name: string, of = driver, accessModes = ['ReadWriteOnce']): Promise<void> {
  const [capacity, resources] = [{ storage: '1Gi' }, { requests: { storage: '1Gi' } }];
  const claim = await on<PersistentVolumeClaim>(claims).create({
    metadata: { name },
    spec: { accessModes, resources, volumeName: name, storageClassName: '' },
  });
  await on<PersistentVolume>(volumes).create({
    metadata: { name },
    spec: {
      capacity,
      accessModes,
      csi: { driver: of, volumeHandle: `handle-${name}` },
      claimRef: { namespace: 'one', name, uid: claim.metadata.uid ?? '' },
    },
  });
  await status(claims, name, { phase: 'Bound', accessModes, capacity });
}
const makePod = (name: string, nodeName: string, claimName: string) =>
  on<Pod>(pods).create({
    metadata: { name },
    spec: {
      nodeName,
      containers: [{ name: 'c', image: 'c:1' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
    },
  });
const removePod = (name: string) => on(pods).delete(name, { gracePeriodSeconds: 0 });

async function start(config: Partial<typeof defaultControllersConfig> = {}): Promise<void> {
  const controllers = createControllers({ ...defaultControllersConfig, ...config }).filter(
    ({ name }) => name === 'persistentvolume-attach-detach-controller',
  );
  plane = await startTestControlPlane({ clock, controllers });
  await plane.client.resource(core('namespaces')).create({ metadata: { name: 'one' } });
  for (const name of ['a', 'b']) await makeNode(name);
  await makeVolume('disk');
  await settle();
}

/** `node: volume` of every attachment, with a mark where the driver has it attached. */
const attached = async (): Promise<string[]> =>
  (await on<VolumeAttachment>(attachments).list()).items
    .map(({ spec, status: now }) => `${spec.nodeName}: ${spec.source.persistentVolumeName}${now?.attached ? ' attached' : ''}`)
    .sort();
const promised = async (name: string): Promise<string[]> =>
  ((await on<Node>(nodes).get(name)).status?.volumesAttached ?? []).map((volume) => volume.name);
const told = async (): Promise<string[]> =>
  (
    await on<KubeObject & { type?: string; reason?: string; message?: string; involvedObject?: { name?: string } }>(
      core('events'),
    ).list()
  ).items
    .map(({ type, reason, message, involvedObject }) => `${involvedObject?.name} ${type} ${reason}: ${message}`)
    .sort();

/** Plays the external-attacher: everything is attached, everything to be deleted is let go. */
async function driverWorks(): Promise<void> {
  for (const { metadata } of (await on<VolumeAttachment>(attachments).list()).items) {
    const name = metadata.name ?? '';
    if (metadata.deletionTimestamp) await on(attachments).patch(name, merge, { metadata: { finalizers: null } });
    else {
      await on(attachments).patch(name, merge, { metadata: { finalizers: [`external-attacher/${driver}`] } });
      await status(attachments, name, { attached: true });
    }
  }
  await settle();
}

const succeeded = 'AttachVolume.Attach succeeded for volume "disk" ';

describe('a volume', () => {
  it('comes when a pod needs it, and leaves when no pod does and the node has let go', async () => {
    await start();
    await makePod('web', 'a', 'disk');
    await settle();
    const [attachment] = (await on<VolumeAttachment>(attachments).list()).items;
    expect(attachment?.metadata.name).toMatch(/^csi-[0-9a-f]{64}$/);
    expect(attachment?.spec).toEqual({ attacher: driver, nodeName: 'a', source: { persistentVolumeName: 'disk' } });
    expect(await promised('a')).toEqual([]);
    expect(await told()).toEqual([]);

    await driverWorks();
    expect(await promised('a')).toEqual([unique('disk')]);
    expect(await told()).toEqual([`web Normal SuccessfulAttachVolume: ${succeeded}`]);

    await mounted('a', 'disk');
    await removePod('web');
    await clock.advance(3_600_000);
    expect(await promised('a')).toEqual([unique('disk')]);

    await mounted('a');
    await settle();
    expect(await promised('a')).toEqual([]);
    expect((await on<VolumeAttachment>(attachments).list()).items[0]?.metadata.deletionTimestamp).toBeDefined();
    await driverWorks();
    expect(await attached()).toEqual([]);
  });

  it('is left to the kubelet where the driver does not attach', async () => {
    await start();
    await on<CSIDriver>(drivers).create({ metadata: { name: 'files.example.com' }, spec: { attachRequired: false } });
    await makeVolume('share', 'files.example.com');
    await makePod('web', 'a', 'share');
    await settle();
    expect(await attached()).toEqual([]);
  });

  it('for one node only goes from node to node, and pods that come too early hear who has it', async () => {
    await start();
    await makePod('web', 'a', 'disk');
    await settle();
    await driverWorks();
    await mounted('a', 'disk');
    await makePod('late', 'b', 'disk');
    await settle();
    expect(await attached()).toEqual(['a: disk attached']);
    expect(await told()).toContain(
      'late Warning FailedAttachVolume: Multi-Attach error for volume "disk" Volume is already used by pod(s) web',
    );
    await removePod('web');
    await mounted('a');
    await settle();
    await driverWorks();
    expect(await attached()).toEqual(['b: disk']);
    await driverWorks();
    expect(await promised('b')).toEqual([unique('disk')]);
    expect((await told()).filter((line) => line.includes('FailedAttachVolume'))).toHaveLength(1);
  });

  it('for one node only is given to one of two that ask at once; for many to both', async () => {
    await start();
    await makeVolume('shared', driver, ['ReadWriteMany']);
    await Promise.all(['a', 'b'].flatMap((node) => ['disk', 'shared'].map((name) => makePod(`${name}-${node}`, node, name))));
    await settle();
    const all = await attached();
    expect(all.filter((line) => line.endsWith('shared'))).toHaveLength(2);
    expect(all.filter((line) => line.endsWith('disk'))).toHaveLength(1);
  });

  it('that the driver fails to attach is tried again, and its pods hear why', async () => {
    await start();
    await makePod('web', 'a', 'disk');
    await settle();
    const name = (await on<VolumeAttachment>(attachments).list()).items[0]?.metadata.name ?? '';
    await status(attachments, name, { attachError: { message: 'no such disk' } });
    await clock.advance(10_000);
    expect(await told()).toEqual(['web Warning FailedAttachVolume: AttachVolume.Attach failed for volume "disk" : no such disk']);
    const [event] = (await on<KubeObject & { count?: number }>(core('events')).list()).items;
    expect(event?.count).toBeGreaterThan(2);
    await status(attachments, name, { attached: true, attachError: null });
    await clock.advance(10_000);
    expect(await promised('a')).toEqual([unique('disk')]);
  });

  it('that the driver never answers for fails after two minutes', async () => {
    await start();
    await makePod('web', 'a', 'disk');
    await clock.advance(119_000);
    expect(await told()).toEqual([]);
    await clock.advance(10_000);
    expect(await told()).toEqual([
      `web Warning FailedAttachVolume: AttachVolume.Attach failed for volume "disk" : timed out waiting for external-attacher of ${driver} CSI driver to attach volume handle-disk`,
    ]);
  });
});

describe('a node', () => {
  const lose = async (config: Partial<typeof defaultControllersConfig> = {}): Promise<void> => {
    await start(config);
    await makePod('web', 'a', 'disk');
    await settle();
    await driverWorks();
    await mounted('a', 'disk');
    await setReady('a', false);
    await removePod('web');
    await settle();
  };
  const isGoing = async (): Promise<boolean> =>
    (await on<VolumeAttachment>(attachments).list()).items[0]?.metadata.deletionTimestamp !== undefined;

  it('that is not ready keeps its volumes for six minutes', async () => {
    await lose();
    await clock.advance(350_000);
    expect(await isGoing()).toBe(false);
    await clock.advance(20_000);
    expect(await isGoing()).toBe(true);
    expect(await promised('a')).toEqual([]);
  });

  it('that is not ready keeps them for ever if so asked', async () => {
    await lose({ disableForceDetachOnTimeout: true });
    await clock.advance(3_600_000);
    expect(await isGoing()).toBe(false);
  });

  it('that is out of service loses them at once', async () => {
    await lose({ disableForceDetachOnTimeout: true });
    const taints = [{ key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' }];
    await on(nodes).patch('a', merge, { spec: { taints } });
    await settle();
    expect(await isGoing()).toBe(true);
    expect(await promised('a')).toEqual([]);
  });

  it('that is gone loses them after six minutes', async () => {
    await lose();
    await on(nodes).delete('a');
    await clock.advance(350_000);
    expect(await isGoing()).toBe(false);
    await clock.advance(20_000);
    expect(await isGoing()).toBe(true);
  });

  it('has what it had before the start looked at: kept, adopted or let go', async () => {
    await start();
    await makePod('web', 'a', 'disk');
    await settle();
    await driverWorks();
    await status(nodes, 'a', { volumesAttached: null });
    const { metadata } = (await on<VolumeAttachment>(attachments).list()).items[0] as VolumeAttachment;
    await settle();
    expect(await promised('a')).toEqual([unique('disk')]);
    await makeVolume('old');
    const spec = { attacher: driver, nodeName: 'a', source: { persistentVolumeName: 'old' } };
    // Of somebody else: left alone.
    await on<VolumeAttachment>(attachments).create({ metadata: { name: 'foreign' }, spec });
    await status(nodes, 'a', {
      volumesAttached: ['disk', 'old'].map((name) => ({ name: unique(name), devicePath: '' })),
    });
    await settle();
    expect(await promised('a')).toEqual([unique('disk')]);
    const names = (await on(attachments).list()).items.map((one) => one.metadata.name);
    expect(names.sort()).toEqual([metadata.name, 'foreign'].sort());
  });
});
