// The decisions of the provisioner, from data to data.
import { describe, expect, it } from 'vitest';
import type { Node, PersistentVolume, PersistentVolumeClaim } from '#api/core/v1';
import type { StorageClass } from '#api/storage/v1';
import type { KubeObject } from '#apimachinery/meta';
import { type Effect, type Plan, refKey } from '#controller-runtime';
import { nodes } from '#controller-runtime/platform';
import { afterMaking, type ClaimView, type Making, reconcileClaim } from './reconcile/claim.ts';
import { finalizer, type LocalPathConfig, provisionedBy, provisionerName, selectedNode } from './reconcile/names.ts';
import { afterRemoving, reconcileVolume, type Removing } from './reconcile/volume.ts';

const config: LocalPathConfig = { nodesDir: '/data/nodes', simulated: false };
const asked = { 'volume.kubernetes.io/storage-provisioner': provisionerName, [selectedNode]: 'one' };
const claim = (spec: PersistentVolumeClaim['spec'] = {}, annotations: Record<string, string> = asked): PersistentVolumeClaim => ({
  metadata: { namespace: 'default', name: 'data', uid: 'u1', resourceVersion: '7', annotations },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'standard', ...spec },
});
const storageClass: StorageClass = {
  metadata: { name: 'standard' },
  provisioner: provisionerName,
  volumeBindingMode: 'WaitForFirstConsumer',
};
const node = (labels: Record<string, string> = { 'kubernetes.io/hostname': 'host-one' }): Node => ({
  metadata: { name: 'one', labels },
});
const found = (object: KubeObject | undefined) => new Map([[refKey({ resource: nodes, namespace: '', name: 'one' }), object]]);
const decide = (view: Partial<ClaimView>, simulated = false): Plan =>
  reconcileClaim({ ...config, simulated }, { claim: claim(), storageClass, volume: undefined, live: found(node()), ...view });
/** Effects in short. */
const short = (effect: Effect): string => {
  switch (effect.op) {
    case 'event':
      return `${effect.type} ${effect.reason}: ${effect.message}`;
    case 'action':
      return effect.name;
    case 'create':
    case 'update':
      return `${effect.op} ${effect.resource.resource} ${effect.object.metadata.name}`;
    case 'patch':
    case 'delete':
      return `${effect.op} ${effect.ref.resource.resource} ${effect.ref.name}`;
    case 'parallel':
      return 'parallel';
  }
};
const effects = (plan: Plan): string[] => plan.effects.map(short);
const inputOf = <T>(plan: Plan): T =>
  plan.effects.flatMap((effect) => (effect.op === 'action' ? [effect.input as T] : []))[0] as T;

const provisioning = 'Normal Provisioning: External provisioner is provisioning volume for claim "default/data"';
const failed = (problem: string): string =>
  `Warning ProvisioningFailed: failed to provision volume with StorageClass "standard": ${problem}`;
const accessModes = 'NodePath only supports ReadWriteOnce and ReadWriteOncePod (1.22+) access modes';
const volume: PersistentVolume = { metadata: { name: 'pvc-u1' } };

describe('a claim', () => {
  it.each<[string, Partial<ClaimView>, string[]]>([
    ['that is gone', { claim: undefined }, []],
    ['that asks nobody', { claim: claim({}, { [selectedNode]: 'one' }) }, []],
    ['that asks somebody else', { claim: claim({}, { ...asked, 'volume.kubernetes.io/storage-provisioner': 'other' }) }, []],
    [
      'of the older annotation',
      { claim: claim({}, { 'volume.beta.kubernetes.io/storage-provisioner': provisionerName, [selectedNode]: 'one' }) },
      [provisioning, 'make'],
    ],
    ['that has a volume', { claim: claim({ volumeName: 'there' }) }, []],
    ['whose volume was made', { volume }, []],
    ['whose node is not chosen yet', { claim: claim({}, { 'volume.kubernetes.io/storage-provisioner': provisionerName }) }, []],
    ['whose class is of somebody else by now', { storageClass: { ...storageClass, provisioner: 'other' } }, []],
    ['of one pod', { claim: claim({ accessModes: ['ReadWriteOncePod'] }) }, [provisioning, 'make']],
    ['of many nodes', { claim: claim({ accessModes: ['ReadWriteOnce', 'ReadWriteMany'] }) }, [provisioning, failed(accessModes)]],
    ['of many readers', { claim: claim({ accessModes: ['ReadOnlyMany'] }) }, [provisioning, failed(accessModes)]],
    [
      'that selects',
      { claim: claim({ selector: { matchLabels: { a: 'b' } } }) },
      [provisioning, failed('claim.Spec.Selector is not supported')],
    ],
    [
      'that is to be a copy',
      { claim: claim({ dataSource: { kind: 'PersistentVolumeClaim', name: 'other' } }) },
      [provisioning, failed('claim.Spec.DataSource is not supported')],
    ],
    [
      'of a class that binds at once',
      {
        claim: claim({}, { 'volume.kubernetes.io/storage-provisioner': provisionerName }),
        storageClass: { ...storageClass, volumeBindingMode: 'Immediate' },
      },
      [provisioning, failed('configuration error, no node was specified')],
    ],
    [
      'to a block device',
      { claim: claim({ volumeMode: 'Block' }) },
      ['Warning ProvisioningFailed: sagong.dev/local-path does not support block volume provisioning'],
    ],
    [
      'whose node is gone',
      { live: found(undefined) },
      ['Warning ProvisioningFailed: nodes "one" not found', 'update persistentvolumeclaims data'],
    ],
  ])('%s', (_, view, expected) => {
    const plan = decide(view);
    expect(effects(plan)).toEqual(expected);
    expect(plan.failure).toBeUndefined();
  });

  it('is tried again while its class is missing', () => {
    expect(decide({ storageClass: undefined })).toEqual({ effects: [], failure: 'storageClass "standard" not found' });
  });

  it('asks the server for its node, and lets the scheduler choose again when it is gone', () => {
    expect(decide({ live: new Map() }).needsLive).toEqual([{ resource: nodes, namespace: '', name: 'one' }]);
    const [, update] = decide({ live: found(undefined) }).effects;
    expect(update).toMatchObject({
      object: { metadata: { annotations: { 'volume.kubernetes.io/storage-provisioner': provisionerName } } },
    });
    expect(JSON.stringify(update)).not.toContain(selectedNode);
  });

  it.each<[Record<string, string>, string]>([
    [{ 'kubernetes.io/hostname': 'host-one' }, 'host-one'],
    [{}, 'one'],
  ])('becomes a directory of its node, with labels %j found by %s', (labels, host) => {
    const making = inputOf<Making>(
      decide({ live: found(node(labels)), storageClass: { ...storageClass, reclaimPolicy: 'Retain' } }),
    );
    expect(making.place).toEqual({ node: 'one', name: 'pvc-u1', path: '/data/nodes/one/volumes/pvc-u1' });
    expect(making.volume).toEqual({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'pvc-u1', annotations: { [provisionedBy]: provisionerName }, finalizers: [finalizer] },
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Gi' },
        claimRef: {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          namespace: 'default',
          name: 'data',
          uid: 'u1',
          resourceVersion: '7',
        },
        local: { path: '/data/nodes/one/volumes/pvc-u1' },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [host] }] }],
          },
        },
        persistentVolumeReclaimPolicy: 'Retain',
        storageClassName: 'standard',
        volumeMode: 'Filesystem',
      },
    });
    expect(effects(afterMaking(making, undefined))).toEqual(['create persistentvolumes pvc-u1']);
    const full = afterMaking(making, 'no space left on device');
    expect(effects(full)).toEqual([failed('no space left on device')]);
    expect(full.failure).toContain('no space left on device');
  });

  it('says when its volume is no directory', () => {
    const plan = decide({}, true);
    expect(plan.because).toContain('without a directory');
    expect(inputOf<Making>(plan).volume.metadata.labels).toEqual({ 'sagong.dev/runtime': 'simulated' });
  });
});

const path = '/data/nodes/one/volumes/pvc-u1';
const made = (
  phase: string,
  { policy = 'Delete', metadata = {}, at = path }: { policy?: string; metadata?: PersistentVolume['metadata']; at?: string } = {},
): PersistentVolume => ({
  metadata: {
    name: 'pvc-u1',
    uid: 'v1',
    annotations: { [provisionedBy]: provisionerName },
    finalizers: [finalizer],
    ...metadata,
  },
  spec: { persistentVolumeReclaimPolicy: policy, local: { path: at } },
  status: { phase },
});
const deletionTimestamp = '2026-11-21T12:00:00Z';
const notOurs = (at: string): string =>
  `Warning VolumeFailedDelete: path "${at}" of volume "pvc-u1" is not a place of sagong.dev/local-path`;

describe('a volume', () => {
  it.each<[string, PersistentVolume, string[]]>([
    ['of somebody else', made('Released', { metadata: { annotations: { [provisionedBy]: 'other' } } }), []],
    ['that nobody made', made('Released', { metadata: { annotations: {} } }), []],
    ['in use', made('Bound'), []],
    [
      'in use that was made without the finalizer',
      made('Bound', { metadata: { finalizers: [] } }),
      ['patch persistentvolumes pvc-u1'],
    ],
    ['in use that is deleted', made('Bound', { metadata: { deletionTimestamp } }), []],
    ['that is free', made('Released'), ['remove']],
    ['that is free and deleted already', made('Released', { metadata: { deletionTimestamp } }), ['remove']],
    [
      'whose data is gone',
      made('Released', { metadata: { deletionTimestamp, finalizers: ['kubernetes.io/pv-protection'] } }),
      [],
    ],
    ['to be kept', made('Released', { policy: 'Retain' }), ['patch persistentvolumes pvc-u1']],
    ['to be kept, unmarked', made('Released', { policy: 'Retain', metadata: { finalizers: [] } }), []],
    ...['/etc', '/data/nodes/one', `${path}/..`, '/data/nodes/one/volumes/pvc-u2', '/data/nodes/../volumes/pvc-u1', ''].map(
      (at): [string, PersistentVolume, string[]] => [`at ${at}`, made('Released', { at }), [notOurs(at)]],
    ),
  ])('%s', (_, given, expected) => {
    expect(effects(reconcileVolume(config, { volume: given }))).toEqual(expected);
  });

  it('goes once its data is gone', () => {
    const removing = inputOf<Removing>(reconcileVolume(config, { volume: made('Released') }));
    expect(removing.place).toEqual({ node: 'one', name: 'pvc-u1', path });
    const { effects: done } = afterRemoving(removing, undefined);
    expect(done).toMatchObject([
      { op: 'delete', options: { preconditions: { uid: 'v1' } } },
      { op: 'patch', body: { metadata: { uid: 'v1', '$deleteFromPrimitiveList/finalizers': [finalizer] } }, goneIsDone: true },
    ]);
    const busy = afterRemoving(removing, 'device busy');
    expect([effects(busy), busy.failure]).toEqual([['Warning VolumeFailedDelete: device busy'], 'device busy']);
  });
});
