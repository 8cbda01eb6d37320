// Volumes that cannot be used twice: disks of some in-tree kinds on one node, ReadWriteOncePod claims anywhere (upstream
// plugins/volumerestrictions).
import type { PersistentVolumeClaim, Pod, Volume } from '#api/core/v1';
import {
  claimNames,
  type ClusterView,
  interest,
  type NodeInfo,
  type Plugin,
  type PodInfo,
  type Status,
  unresolvable,
  unschedulable,
} from '../../framework/index.ts';

const name = 'VolumeRestrictions';
const diskConflict = unschedulable(name, 'node(s) had no available disk');
const inUse = unschedulable(
  name,
  'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod',
);

type Words = readonly string[] | null | undefined;

const overlap = (a: Words, b: Words): boolean => a?.some((one) => b?.includes(one)) ?? false;

function conflicts(a: Volume, b: Volume): boolean {
  const bothRead = (x: { readOnly?: boolean }, y: { readOnly?: boolean }): boolean => x.readOnly === true && y.readOnly === true;
  const { gcePersistentDisk: gce, awsElasticBlockStore: ebs, iscsi, rbd } = a;
  if (gce && b.gcePersistentDisk && gce.pdName === b.gcePersistentDisk.pdName && !bothRead(gce, b.gcePersistentDisk)) return true;
  if (ebs && b.awsElasticBlockStore && ebs.volumeID === b.awsElasticBlockStore.volumeID) return true;
  if (iscsi && b.iscsi && iscsi.iqn === b.iscsi.iqn && !bothRead(iscsi, b.iscsi)) return true;
  if (!rbd || !b.rbd || bothRead(rbd, b.rbd)) return false;
  return rbd.pool === b.rbd.pool && rbd.image === b.rbd.image && overlap(rbd.monitors, b.rbd.monitors);
}

const restricted = (volume: Volume): boolean =>
  Boolean(volume.gcePersistentDisk || volume.awsElasticBlockStore || volume.iscsi || volume.rbd);

const anyConflict = (pod: Pod, other: Pod): boolean =>
  pod.spec?.volumes?.some((volume) => restricted(volume) && other.spec?.volumes?.some((theirs) => conflicts(volume, theirs))) ===
  true;

interface State {
  /** Claims that only one pod may use. */
  readonly exclusive: ReadonlySet<string>;
  /** How many of them are in use. */
  used: number;
  readonly restricted: boolean;
}

function exclusiveClaims(pod: Pod, view: ClusterView): Set<string> | Status {
  const exclusive = new Set<string>();
  for (const { persistentVolumeClaim } of pod.spec?.volumes ?? []) {
    if (persistentVolumeClaim === undefined) continue;
    const claim = view.get('PersistentVolumeClaim', pod.metadata.namespace ?? '', persistentVolumeClaim.claimName);
    if (claim === undefined) {
      return unresolvable(name, `persistentvolumeclaim ${JSON.stringify(persistentVolumeClaim.claimName)} not found`);
    }
    if (claim.spec?.accessModes?.includes('ReadWriteOncePod')) exclusive.add(persistentVolumeClaim.claimName);
  }
  return exclusive;
}

function count(state: State, other: PodInfo, pod: PodInfo, by: 1 | -1): void {
  if (other.namespace !== pod.namespace) return;
  for (const claim of other.claims) if (state.exclusive.has(claim)) state.used += by;
}

export const volumeRestrictions = (): Plugin<State> => ({
  name,
  events: [
    interest<Pod>('Pod', ['Delete'], ({ pod, namespace }, { old }) => {
      if (old?.metadata.namespace !== namespace) return false;
      return anyConflict(pod, old) || overlap(claimNames(pod), claimNames(old));
    }),
    interest('Node', ['Add']),
    interest<PersistentVolumeClaim>('PersistentVolumeClaim', ['Add'], ({ pod, namespace }, { now }) => {
      return now?.metadata.namespace === namespace && claimNames(pod).includes(now.metadata.name ?? '');
    }),
  ],
  preFilter({ pod, snapshot, view }) {
    if (!pod.pod.spec?.volumes?.length) return { skip: true };
    const exclusive = exclusiveClaims(pod.pod, view);
    if (!(exclusive instanceof Set)) return { status: exclusive };
    const used = [...exclusive].filter((claim) => snapshot.claimUsers.has(`${pod.namespace}/${claim}`)).length;
    const state = { exclusive, used, restricted: pod.pod.spec.volumes.some(restricted) };
    return { state, skip: !state.restricted && used === 0 };
  },
  filter(state, node: NodeInfo, { pod }) {
    if (state.restricted) for (const other of node.pods.values()) if (anyConflict(pod.pod, other.pod)) return diskConflict;
    return state.used > 0 ? inUse : undefined;
  },
  copyState: (state) => state && { ...state },
  addPod: (state, other, _node, { pod }) => count(state, other, pod, 1),
  removePod: (state, other, _node, { pod }) => count(state, other, pod, -1),
});
