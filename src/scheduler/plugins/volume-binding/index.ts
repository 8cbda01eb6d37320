// Claims and the node go together: bound volumes must be reachable, others are bound to or made for the chosen node (upstream
// plugins/volumebinding, KEP-490).
import type { PersistentVolumeClaim, Pod } from '#api/core/v1';
import type { CSIDriver, CSINode, CSIStorageCapacity, StorageClass } from '#api/storage/v1';
import { deepEqual } from '#utils';
import { type BindEffect, claimNames, type ClusterView, interest, type NodeInfo, type Plugin } from '../../framework/index.ts';
import { isBound, type NodeVolumes, nodeVolumes, type PodClaims, podClaims } from './claims.ts';
import { boundVolume, selectedNodeAnnotation } from './matching.ts';
import { capacityLimit } from './provisioning.ts';
import type { VolumeBindingArgs } from './args.ts';

const name = 'VolumeBinding';
const core = (resource: string) => ({ group: '', version: 'v1', resource });
const volumes = core('persistentvolumes');
const claims = core('persistentvolumeclaims');
const migratedPlugins = 'storage.alpha.kubernetes.io/migrated-plugins';

const usesClaim = (pod: Pod, claim: PersistentVolumeClaim | undefined): boolean =>
  claim?.metadata.namespace === pod.metadata.namespace && claimNames(pod).includes(claim?.metadata.name ?? '');

const isMadeFor = (claim: PersistentVolumeClaim, { name: nodeName }: NodeInfo): PersistentVolumeClaim => ({
  ...claim,
  metadata: { ...claim.metadata, annotations: { ...claim.metadata.annotations, [selectedNodeAnnotation]: nodeName } },
});

/** The writes, and then waiting for the volume controller to finish what they began. */
function effectsOf({ bindings, provisions }: NodeVolumes, node: NodeInfo, timeoutMs: number): BindEffect[] {
  if (bindings.length + provisions.length === 0) return [];
  const waitFor = [...bindings.map(({ claim }) => claim), ...provisions];
  const done = (view: ClusterView) => {
    for (const { metadata } of waitFor) {
      const now = view.get('PersistentVolumeClaim', metadata.namespace ?? '', metadata.name ?? '');
      if (now === undefined)
        return { plugin: name, code: 'Error' as const, reasons: [`binding volumes: claim ${metadata.name} is gone`] };
      const reset =
        provisions.some(({ metadata: { uid } }) => uid === metadata.uid) &&
        now.metadata.annotations?.[selectedNodeAnnotation] !== node.name;
      if (reset)
        return {
          plugin: name,
          code: 'Error' as const,
          reasons: [`binding volumes: provisioning failed for PVC "${metadata.name}"`],
        };
      if (!isBound(now)) return false;
    }
    return true;
  };
  return [
    ...bindings.map(({ volume, claim }) => ({ kind: 'update' as const, resource: volumes, object: boundVolume(volume, claim) })),
    ...provisions.map((claim) => ({ kind: 'update' as const, resource: claims, object: isMadeFor(claim, node) })),
    { kind: 'await', describe: 'volumes to be bound', timeoutMs, done },
  ];
}

export const volumeBinding = ({ bindTimeoutSeconds = 600 }: VolumeBindingArgs = {}): Plugin<PodClaims> => ({
  name,
  events: [
    interest<StorageClass>('StorageClass', ['Add', 'Update'], (_pod, { old, now }) => {
      return old === undefined || !deepEqual(old.allowedTopologies, now?.allowedTopologies);
    }),
    interest<PersistentVolumeClaim>('PersistentVolumeClaim', ['Add', 'Update'], ({ pod }, { now }) => usesClaim(pod, now)),
    interest('PersistentVolume', ['Add', 'Update']),
    interest('Node', ['Add', 'UpdateNodeLabel']),
    interest<CSINode>('CSINode', ['Add', 'Update'], (_pod, { old, now }) => {
      return old === undefined || old.metadata.annotations?.[migratedPlugins] !== now?.metadata.annotations?.[migratedPlugins];
    }),
    interest<CSIDriver>('CSIDriver', ['Update'], ({ pod }, { old, now }) => {
      const uses = pod.spec?.volumes?.some(({ csi }) => csi?.driver === now?.metadata.name) === true;
      return uses && old?.spec.storageCapacity === true && now?.spec.storageCapacity !== true;
    }),
    interest<CSIStorageCapacity>('CSIStorageCapacity', ['Add', 'Update'], (_pod, { old, now }) => {
      const limit = now && capacityLimit(now);
      const before = old && capacityLimit(old);
      return old === undefined || (limit !== undefined && (before === undefined || limit.compare(before) > 0));
    }),
  ],
  preFilter({ pod, view }) {
    if (pod.claims.length === 0) return { skip: true };
    const found = podClaims(pod, view);
    return 'code' in found ? { status: found } : { state: found };
  },
  filter(state, node, { view }) {
    const found = nodeVolumes(state, node, view);
    return 'code' in found ? found : undefined;
  },
  preBind(state, node, { view }) {
    if (state === undefined) return [];
    const found = nodeVolumes(state, node, view);
    return 'code' in found ? [] : effectsOf(found, node, bindTimeoutSeconds * 1000);
  },
});
