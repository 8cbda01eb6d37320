import { describe, expect, it } from 'vitest';
import type { Node, Pod } from '#api/core/v1';
import type { VolumeAttachment } from '#api/storage/v1';
import { type Effect, refKey } from '#controller-runtime';
import { nodes } from '#controller-runtime/platform';
import { reconcileNode } from './reconcile.ts';
import { type AttachView, emptyMemory, type Elsewhere, type Memory } from './view.ts';
import { attachmentName, type Volume, volumeAttachments, volumeOf } from './volumes.ts';

const now = Date.parse('2026-01-01T00:10:00Z');
const ago = (seconds: number): string => new Date(now - seconds * 1000).toISOString();
const volume: Volume = { uniqueName: 'kubernetes.io/csi/d^h', name: 'disk', driver: 'd', handle: 'h', isExclusive: true };
const pod = (name: string): Pod => ({ metadata: { name, namespace: 'ns' }, spec: { nodeName: 'a', containers: [] } });
const attachment = (
  nodeName: string,
  status: Partial<VolumeAttachment['status']>,
  metadata: Partial<VolumeAttachment['metadata']> = {},
): VolumeAttachment => ({
  metadata: { name: attachmentName(volume, nodeName), creationTimestamp: ago(5), ...metadata },
  spec: { nodeName, attacher: 'd', source: { persistentVolumeName: 'disk' } },
  status: { attached: false, ...status },
});
const node = (status: Node['status'] = {}, taints: NonNullable<Node['spec']>['taints'] = []): Node => ({
  metadata: { name: 'a', annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' } },
  spec: { taints },
  status: { conditions: [{ type: 'Ready', status: 'True' }], ...status },
});
const reported = { volumesAttached: [{ name: volume.uniqueName, devicePath: '' }] };
const inUse = { volumesInUse: [volume.uniqueName] };

interface World {
  node?: Node | undefined;
  pods?: Pod[];
  here?: VolumeAttachment;
  elsewhere?: Elsewhere[];
  live?: [string, Node | VolumeAttachment | undefined][];
  memory?: Partial<Memory>;
  disableSync?: boolean;
  disableForceDetachOnTimeout?: boolean;
}
const nodeKey = refKey({ resource: nodes, namespace: '', name: 'a' });
const rivalKey = refKey({ resource: volumeAttachments, namespace: '', name: attachmentName(volume, 'b') });

const words = (effect: Effect): string => {
  switch (effect.op) {
    case 'patch':
      return `report ${JSON.stringify((effect.body as { status: { volumesAttached: unknown } }).status.volumesAttached)}`;
    case 'event':
      return `${effect.reason} ${effect.regarding.metadata.name}: ${effect.message}`;
    case 'action':
      return `${effect.name} ${String(effect.input)}`;
    default:
      return effect.op;
  }
};

function decide(world: World) {
  const pods = world.pods ?? [];
  const known = 'node' in world ? world.node : node();
  const present = new Map<string, { uniqueName: string; attachment: VolumeAttachment | undefined }>();
  if (world.here || known?.status?.volumesAttached)
    present.set(volume.uniqueName, { uniqueName: volume.uniqueName, attachment: world.here });
  const view: AttachView = {
    nodeName: 'a',
    node: known,
    wanted: pods.length > 0 ? new Map([[volume.uniqueName, { volume, pods, elsewhere: world.elsewhere ?? [] }]]) : new Map(),
    present,
    known: {},
    live: new Map(world.live),
    memory: { ...emptyMemory, ...world.memory },
  };
  const { disableSync = false, disableForceDetachOnTimeout = false } = world;
  const plan = reconcileNode(view, { disableSync, disableForceDetachOnTimeout }, now);
  return { did: plan.effects.map(words), asks: plan.needsLive?.length ?? 0, wakeAfterMs: plan.requeueAfterMs };
}

const report = `report ${JSON.stringify(reported.volumesAttached)}`;
const unreport = 'report null';
const outOfService = [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' as const }];
const silent = { conditions: [{ type: 'Ready', status: 'Unknown' as const }] };
const long = { unwantedSince: { [volume.uniqueName]: now - 361_000 } };
const success = 'SuccessfulAttachVolume web: AttachVolume.Attach succeeded for volume "disk" ';
const other = (status: Partial<VolumeAttachment['status']>, more: Partial<Elsewhere> = {}, meta = {}): Elsewhere => ({
  nodeName: 'b',
  attachment: attachment('b', status, meta),
  pods: [pod('theirs')],
  inUse: true,
  ...more,
});
const multi = 'FailedAttachVolume web: Multi-Attach error for volume "disk" Volume is already used by pod(s) theirs';

describe('a node whose pod needs a volume', () => {
  const pods = [pod('web')];
  it.each<[string, World, string[]]>([
    ['asks for it', {}, ['create']],
    ['gets nothing new when it is gone', { node: undefined }, []],
    ['is promised it when it has come', { here: attachment('a', { attached: true }) }, [report, success]],
    ['needs nothing then', { here: attachment('a', { attached: true }), node: node(reported) }, []],
    ['loses the promise when the driver lost it', { here: attachment('a', {}), node: node(reported) }, [unreport]],
    ['asks again when the attachment is lost', { node: node(reported) }, [unreport, 'create']],
    ['keeps the promise where nobody compares', { node: node(reported), disableSync: true }, []],
    ['waits while somebody moves it', { elsewhere: [other({})] }, []],
    ['waits while it is let go', { elsewhere: [other({ attached: true }, { pods: [], inUse: false })] }, []],
    ['waits while it is detached', { elsewhere: [other({ attached: true }, {}, { deletionTimestamp: ago(5) })] }, []],
    ['says who has it', { elsewhere: [other({ attached: true })] }, [multi]],
    ['says so once', { elsewhere: [other({ attached: true })], memory: { told: [volume.uniqueName] } }, []],
    [
      'says so when detaching fails',
      { elsewhere: [other({ attached: true, detachError: { message: 'x' } }, {}, { deletionTimestamp: ago(5) })] },
      [multi],
    ],
    [
      'says so when only the node has it',
      { elsewhere: [other({ attached: true }, { pods: [] })] },
      [
        'FailedAttachVolume web: Multi-Attach error for volume "disk" Volume is already exclusively attached to one node and can\'t be attached to another',
      ],
    ],
    [
      'hears that it is being deleted by somebody',
      { here: attachment('a', {}, { deletionTimestamp: ago(5) }) },
      ['FailedAttachVolume web: AttachVolume.Attach failed for volume "disk" : volume attachment is being deleted'],
    ],
    [
      'waits while this process has it deleted',
      { here: attachment('a', { attached: true }, { deletionTimestamp: ago(5) }), memory: { detaching: [volume.uniqueName] } },
      [],
    ],
  ])('%s', (_what, world, did) => expect(decide({ pods, ...world }).did).toEqual(did));

  it('looks past the cache when another wants it too', () => {
    const rival: Elsewhere = { nodeName: 'b', attachment: undefined, pods: [pod('theirs')], inUse: false };
    expect(decide({ pods, elsewhere: [rival] })).toMatchObject({ did: [], asks: 1 });
    expect(decide({ pods, elsewhere: [rival], live: [[rivalKey, undefined]] }).did).toEqual(['create']);
    expect(decide({ pods, elsewhere: [rival], live: [[rivalKey, attachment('b', {})]] }).did).toEqual([]);
  });

  it('hears of failures, each time later', () => {
    const here = attachment('a', { attachError: { message: 'no such disk' } });
    const attempt = (failures: number, retryAt?: number) => ({
      attempts: { [volume.uniqueName]: { startedAt: now - 1, failures, pods, ...(retryAt !== undefined && { retryAt }) } },
    });
    const told = ['FailedAttachVolume web: AttachVolume.Attach failed for volume "disk" : no such disk'];
    expect(decide({ pods, here, memory: attempt(0) })).toMatchObject({ did: told, wakeAfterMs: 1_000 });
    expect(decide({ pods, here, memory: attempt(3) })).toMatchObject({ did: told, wakeAfterMs: 4_500 });
    expect(decide({ pods, here, memory: attempt(20) })).toMatchObject({ did: told, wakeAfterMs: 122_500 });
    expect(decide({ pods, here, memory: attempt(1, now + 700) })).toMatchObject({ did: [], wakeAfterMs: 700 });
    expect(decide({ pods, here, memory: attempt(1, now) }).did).toEqual(told);
  });
});

describe('a node that no longer needs a volume', () => {
  const here = attachment('a', { attached: true });
  it.each<[string, World, string[], number]>([
    ['keeps what it has mounted', { node: node({ ...reported, ...inUse }) }, [], 0],
    ['keeps it however long it takes, while it is well', { node: node({ ...reported, ...inUse }), memory: long }, [], 0],
    ['is first not promised it any more', { node: node(reported) }, [unreport], 0],
    ['is then asked once more', {}, [], 1],
    ['loses it when it does not have it mounted', { live: [[nodeKey, node()]] }, ['delete'], 0],
    ['loses it when it is gone by then', { live: [[nodeKey, undefined]] }, ['delete'], 0],
    ['keeps it when it was quicker', { live: [[nodeKey, node(inUse)]] }, [], 0],
    [
      'loses it out of service',
      { node: node({ ...reported, ...inUse }, outOfService) },
      [unreport, 'delete', 'countForcedDetach out-of-service'],
      0,
    ],
    ['keeps it for a while when silent', { node: node({ ...reported, ...inUse, ...silent }) }, [], 0],
    [
      'loses it when silent for long',
      { node: node({ ...reported, ...inUse, ...silent }), memory: long },
      [unreport, 'delete', 'countForcedDetach timeout'],
      0,
    ],
    [
      'keeps it for ever if so asked',
      { node: node({ ...reported, ...inUse, ...silent }), memory: long, disableForceDetachOnTimeout: true },
      [],
      0,
    ],
    ['keeps it for a while when gone', { node: undefined }, [], 0],
    ['loses it when gone and known to be done with it', { node: undefined, memory: { inUse: [] } }, ['delete'], 0],
    ['loses it when gone for long', { node: undefined, memory: long }, ['delete', 'countForcedDetach timeout'], 0],
    ['does nothing while it is detached', { here: attachment('a', { attached: true }, { deletionTimestamp: ago(5) }) }, [], 0],
  ])('%s', (_what, world, did, asks) => expect(decide({ here, ...world })).toMatchObject({ did, asks }));

  it('lets the driver finish what was asked of it', () => {
    const attempts = { [volume.uniqueName]: { startedAt: now - 20_000, failures: 0, pods: [] } };
    expect(decide({ here: attachment('a', {}), memory: { attempts } })).toMatchObject({ did: [], asks: 0, wakeAfterMs: 100_000 });
  });
});

it('names are upstream names', () => {
  const csi = { driver: 'hostpath.csi.k8s.io', volumeHandle: 'h' };
  const modes = (...accessModes: string[]) => volumeOf({ metadata: { name: 'pv' }, spec: { csi, accessModes } });
  expect(modes('ReadWriteOnce')).toMatchObject({ uniqueName: 'kubernetes.io/csi/hostpath.csi.k8s.io^h', isExclusive: true });
  expect([modes('ReadWriteOnce', 'ReadOnlyMany'), modes(), modes('ReadWriteOncePod')].map((one) => one?.isExclusive)).toEqual([
    false,
    false,
    true,
  ]);
  // sha256sum of "hda".
  expect(attachmentName({ handle: 'h', driver: 'd' }, 'a')).toBe(
    'csi-c7e15073db8a31851603fca8ebbbef87d485d00357b279084c86b1900878603f',
  );
});
