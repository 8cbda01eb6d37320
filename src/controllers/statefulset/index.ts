// Keeps numbered pods with storage of their own (pkg/controller/statefulset).
import type { ControllerRevision, StatefulSet } from '#api/apps/v1';
import type { PersistentVolumeClaim, Pod } from '#api/core/v1';
import { splitKey } from '#apimachinery/meta';
import { type Cache, defineController, ownKey, type ViewContext } from '#controller-runtime';
import {
  allow,
  childrenOf,
  controllerRevisions,
  persistentVolumeClaims,
  pods,
  recordEvents,
  statefulSets,
  watchChildren,
  watchRevisions,
} from '#controller-runtime/workload';
import { claimNames } from './claims.ts';
import { ordinalOf, ordinalsOfPass, statefulSetKind } from './kind.ts';
import { reconcile, type StatefulSetView } from './reconcile.ts';
import { revisionName } from './revisions.ts';

/** Claims of every ordinal that is there, or that a pass may make. */
function claimsOf(set: StatefulSet, found: readonly Pod[], cache: Cache): Map<string, PersistentVolumeClaim> {
  const { spec } = set;
  if (!spec?.volumeClaimTemplates?.length) return new Map();
  const ordinals = new Set(found.flatMap((pod) => ordinalOf(set, pod) ?? []));
  for (const ordinal of [...ordinalsOfPass(spec, (one) => ordinals.has(one))]) ordinals.add(ordinal);
  const names = [...ordinals].flatMap((ordinal) => claimNames(set, ordinal));
  return new Map(
    names.flatMap((name): [string, PersistentVolumeClaim][] => {
      const claim = cache.get<PersistentVolumeClaim>(persistentVolumeClaims, set.metadata.namespace ?? '', name);
      return claim ? [[name, claim]] : [];
    }),
  );
}

function view(key: string, cache: Cache, context: ViewContext): StatefulSetView {
  const { namespace, name } = splitKey(key);
  const set = cache.get<StatefulSet>(statefulSets, namespace, name);
  if (!set) return { set, pods: [], revisions: [], holder: undefined, claims: new Map(), context };
  const found = childrenOf<Pod>(cache, pods, set);
  return {
    set,
    pods: found,
    revisions: childrenOf<ControllerRevision>(cache, controllerRevisions, set),
    holder: cache.get<ControllerRevision>(controllerRevisions, namespace, revisionName(set)),
    claims: claimsOf(set, found, cache),
    context,
  };
}

export const statefulSetController = defineController<StatefulSetView>({
  name: 'statefulset-controller',
  aliases: ['statefulset'],
  for: statefulSets,
  concurrency: { flag: 'concurrent-statefulset-syncs', default: 5 },
  rights: [
    allow('list,watch', 'core', 'pods'),
    allow('get,list,watch', 'apps', 'statefulsets'),
    allow('update', 'apps', 'statefulsets/status'),
    allow('update', 'apps', 'statefulsets/finalizers'),
    allow('create,delete,get,patch,update', 'core', 'pods'),
    allow('create,delete,get,list,patch,update,watch', 'apps', 'controllerrevisions'),
    allow('create,get,list,watch', 'core', 'persistentvolumeclaims'),
    allow('delete,update', 'core', 'persistentvolumeclaims'),
    allow('update', 'core', 'pods/finalizers'),
    recordEvents,
  ],
  watches: [
    { resource: statefulSets, keys: ownKey },
    watchChildren(pods, statefulSetKind),
    watchRevisions(statefulSetKind),
    { resource: persistentVolumeClaims },
  ],
  view,
  reconcile,
});
