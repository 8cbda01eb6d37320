// Has the drivers of volumes attach them to the nodes whose pods need them, and detach them when no pod does and the node is done with them
// (pkg/controller/volume/attachdetach, with the CSI plugin of pkg/volume/csi).
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '#api/core/v1';
import type { CSIDriver, VolumeAttachment } from '#api/storage/v1';
import { type Cache, type ControllerDefinition, defineController, watch } from '#controller-runtime';
import {
  claimIndexer,
  nodeIndexer,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  podsByClaim,
} from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';
import { deepEqual } from '#utils';
import type { ControllersConfig } from '../config.ts';
import { countForced } from './detach.ts';
import { retryBaseMs, retryMaxMs } from './limits.ts';
import { forcedDetaches, gauges } from './metrics.ts';
import { reconcileNode } from './reconcile.ts';
import { attachmentsByNode, attachmentsByVolume, type AttachView, podsOf, viewOf } from './view.ts';
import { csiDrivers, isManaged, isReady, needsVolumes, volumeAttachments } from './volumes.ts';

const nodeOf = (pod: Pod): string[] => (pod.spec?.nodeName ? [pod.spec.nodeName] : []);
const usesClaims = ({ spec }: Pod): boolean =>
  (spec?.volumes ?? []).some((volume) => volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined);
const usersOf = (namespace: string | undefined, claim: string | undefined, cache: Cache): string[] =>
  cache.byIndex<Pod>(pods, podsByClaim, `${namespace}/${claim}`).flatMap(nodeOf);

/** What of a node decides. */
const decisive = (node: Node): unknown => [
  node.status?.volumesInUse,
  node.status?.volumesAttached,
  node.spec?.taints,
  isReady(node),
  isManaged(node),
];

/** Nodes that have volumes, or are said to. */
const nodesWithVolumes = (cache: Cache): Set<string> =>
  new Set([
    ...cache.list<VolumeAttachment>(volumeAttachments).map(({ spec }) => spec.nodeName),
    ...cache.list<Node>(nodes).flatMap(({ metadata, status }) => (status?.volumesAttached?.length ? [metadata.name ?? ''] : [])),
  ]);

const watches = [
  watch<Pod>({
    resource: pods,
    indexers: { ...nodeIndexer, ...claimIndexer },
    keys(pod, old) {
      if (!usesClaims(pod)) return [];
      return old && nodeOf(old)[0] === nodeOf(pod)[0] && needsVolumes(old) === needsVolumes(pod) ? [] : nodeOf(pod);
    },
  }),
  watch<Node>({
    resource: nodes,
    keys: (node, old) => (old && deepEqual(decisive(old), decisive(node)) ? [] : [node.metadata.name ?? '']),
  }),
  watch<PersistentVolumeClaim>({
    resource: persistentVolumeClaims,
    keys({ metadata, spec, status }, old, cache) {
      const same = old?.spec?.volumeName === spec?.volumeName && old?.status?.phase === status?.phase;
      return old && same ? [] : usersOf(metadata.namespace, metadata.name, cache);
    },
  }),
  watch<PersistentVolume>({
    resource: persistentVolumes,
    keys({ spec }, old, cache) {
      const claim = spec?.claimRef;
      return !claim || (old && deepEqual(old.spec, spec)) ? [] : usersOf(claim.namespace, claim.name, cache);
    },
  }),
  watch<CSIDriver>({
    resource: csiDrivers,
    keys: ({ spec }, old, cache) =>
      old && old.spec.attachRequired === spec.attachRequired
        ? []
        : cache.list<Node>(nodes).map(({ metadata }) => metadata.name ?? ''),
  }),
  watch<VolumeAttachment>({
    resource: volumeAttachments,
    indexers: {
      [attachmentsByNode]: ({ spec }) => [spec.nodeName],
      [attachmentsByVolume]: ({ spec }) => [spec.source.persistentVolumeName ?? ''].filter(Boolean),
    },
    // Other nodes may wait for the volume.
    keys: ({ spec }, _old, cache) => [spec.nodeName, ...podsOf(spec.source.persistentVolumeName ?? '', cache).flatMap(nodeOf)],
  }),
];

export function attachDetachController(config: ControllersConfig): ControllerDefinition {
  const options = {
    disableSync: config.disableAttachDetachReconcileSync,
    disableForceDetachOnTimeout: config.disableForceDetachOnTimeout,
  };
  return defineController<AttachView>({
    name: 'persistentvolume-attach-detach-controller',
    aliases: ['attachdetach'],
    for: nodes,
    serviceAccount: 'attachdetach-controller',
    eventSource: 'attachdetach-controller',
    rights: [
      allow('list,watch', 'core', 'persistentvolumeclaims,persistentvolumes'),
      allow('get,list,watch', 'core', 'nodes'),
      allow('patch,update', 'core', 'nodes/status'),
      allow('list,watch', 'core', 'pods'),
      recordEvents,
      allow('create,delete,get,list,watch', 'storage.k8s.io', 'volumeattachments'),
      allow('get,list,watch', 'storage.k8s.io', 'csidrivers'),
      allow('get,list,watch', 'storage.k8s.io', 'csinodes'),
    ],
    watches,
    gauges,
    // One node after the other: who gets a volume for one node only is seen by the next that wants it.
    concurrency: 1,
    backoff: { baseMs: retryBaseMs, maxMs: retryMaxMs },
    ...(!options.disableSync && {
      periodic: { everyMs: config.attachDetachReconcileSyncPeriodMs, keys: nodesWithVolumes },
    }),
    actions: ({ metrics }) => [
      countForced.by((reason) => {
        metrics?.counter(forcedDetaches).inc(1, reason);
        return Promise.resolve(undefined);
      }),
    ],
    view: viewOf,
    reconcile: (view, now) => reconcileNode(view, options, now),
  });
}
