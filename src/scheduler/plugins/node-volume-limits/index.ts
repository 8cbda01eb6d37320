// How many volumes of a CSI driver a node can hold (upstream plugins/nodevolumelimits).
import type { PersistentVolumeClaim, Pod } from '#api/core/v1';
import type { CSIDriver, CSINode, VolumeAttachment } from '#api/storage/v1';
import {
  claimNames,
  type ClusterView,
  type Cycle,
  interest,
  type NodeInfo,
  type Plugin,
  type PodInfo,
  type Status,
  unresolvable,
  unschedulable,
} from '../../framework/index.ts';

const name = 'NodeVolumeLimits';
const full = unschedulable(name, 'node(s) exceed max volume count');

const handle = (driver: string, volume: string): string => `${driver}/${volume}`;

/** Driver and unique handle of a claim's volume, or of the one still to be made. */
function volumeOf(claim: PersistentVolumeClaim, view: ClusterView): [string, string] | undefined {
  const { namespace = '', name: claimName = '', annotations } = claim.metadata;
  const volume = claim.spec?.volumeName ? view.get('PersistentVolume', '', claim.spec.volumeName) : undefined;
  const csi = volume?.spec?.csi;
  if (volume !== undefined) return csi === undefined ? undefined : [csi.driver, handle(csi.driver, csi.volumeHandle)];
  const className = annotations?.['volume.beta.kubernetes.io/storage-class'] ?? claim.spec?.storageClassName ?? '';
  const provisioner = className === '' ? undefined : view.get('StorageClass', '', className)?.provisioner;
  return provisioner === undefined ? undefined : [provisioner, handle(provisioner, `new ${namespace}/${claimName}`)];
}

/** Adds the pod's volumes, driver by handle; the claim that is missing otherwise. */
function addVolumes(
  into: Map<string, string>,
  { pod, namespace }: Pick<PodInfo, 'pod' | 'namespace'>,
  view: ClusterView,
): string | undefined {
  for (const claimName of claimNames(pod)) {
    const claim = view.get('PersistentVolumeClaim', namespace, claimName);
    if (claim === undefined) return claimName;
    const volume = volumeOf(claim, view);
    if (volume !== undefined) into.set(volume[1], volume[0]);
  }
  return undefined;
}

function attachmentsOn(nodeName: string, view: ClusterView): [string, string][] {
  return view.list('VolumeAttachment').flatMap(({ spec }): [string, string][] => {
    const volumeName = spec.source.persistentVolumeName;
    if (spec.nodeName !== nodeName || volumeName === undefined) return [];
    const csi = view.get('PersistentVolume', '', volumeName)?.spec?.csi;
    return csi === undefined ? [] : [[handle(csi.driver, csi.volumeHandle), csi.driver]];
  });
}

const limitsOf = (node: CSINode | undefined): Map<string, number> =>
  new Map(
    (node?.spec.drivers ?? []).flatMap((driver) =>
      driver.allocatable?.count === undefined ? [] : [[driver.name, driver.allocatable.count]],
    ),
  );

function missingDriver(drivers: Iterable<string>, csiNode: CSINode | undefined, view: ClusterView): Status | undefined {
  for (const driver of drivers) {
    if (view.get('CSIDriver', '', driver)?.spec.preventPodSchedulingIfMissing !== true) continue;
    if (!csiNode?.spec.drivers?.some((one) => one.name === driver)) {
      return unschedulable(name, `${driver} CSI driver is not installed on the node`);
    }
  }
  return undefined;
}

const tally = (drivers: Iterable<string>): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const driver of drivers) counts.set(driver, (counts.get(driver) ?? 0) + 1);
  return counts;
};

function verdict(wanted: ReadonlyMap<string, string>, node: NodeInfo, { view }: Cycle): Status | undefined {
  if (wanted.size === 0) return undefined;
  const csiNode = view.get('CSINode', '', node.name);
  const missing = missingDriver(wanted.values(), csiNode, view);
  if (missing !== undefined) return missing;
  const limits = limitsOf(csiNode);
  if (limits.size === 0) return undefined;
  const present = new Map<string, string>();
  for (const other of node.pods.values()) addVolumes(present, other, view);
  const extra = [...wanted].filter(([one]) => !present.has(one)).map(([, driver]) => driver);
  for (const [one, driver] of attachmentsOn(node.name, view)) present.set(one, driver);
  const used = tally(present.values());
  for (const [driver, more] of tally(extra)) {
    const limit = limits.get(driver);
    if (limit !== undefined && (used.get(driver) ?? 0) + more > limit) return full;
  }
  return undefined;
}

export const nodeVolumeLimits = (): Plugin<ReadonlyMap<string, string> | string> => ({
  name,
  events: [
    interest<CSINode>('CSINode', ['Add', 'Update'], (_pod, { old, now }) => {
      const before = limitsOf(old);
      return (
        [...limitsOf(now)].some(([driver, limit]) => limit > (before.get(driver) ?? 0)) ||
        now?.spec.drivers?.length !== old?.spec.drivers?.length
      );
    }),
    interest<CSIDriver>('CSIDriver', ['Add', 'Update', 'Delete']),
    interest<Pod>(
      'Pod',
      ['Delete'],
      (_pod, { old }) => Boolean(old?.spec?.nodeName) && old !== undefined && claimNames(old).length > 0,
    ),
    interest<PersistentVolumeClaim>('PersistentVolumeClaim', ['Add'], ({ pod, namespace }, { now }) => {
      return now?.metadata.namespace === namespace && claimNames(pod).includes(now.metadata.name ?? '');
    }),
    interest<VolumeAttachment>('VolumeAttachment', ['Delete']),
  ],
  preFilter({ pod, view }) {
    if (pod.claims.length === 0) return { skip: true };
    const wanted = new Map<string, string>();
    return { state: addVolumes(wanted, pod, view) ?? wanted };
  },
  filter(state, node, cycle) {
    if (typeof state !== 'string') return verdict(state, node, cycle);
    const { namespace } = cycle.pod;
    return unresolvable(name, `looking up PVC ${namespace}/${state}: persistentvolumeclaim ${JSON.stringify(state)} not found`);
  },
});
