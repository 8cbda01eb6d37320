// Keeps a pod on every node that should have one (pkg/controller/daemon).
import type { ControllerRevision, DaemonSet } from '#api/apps/v1';
import type { Node, Pod } from '#api/core/v1';
import { keyOf, splitKey } from '#apimachinery/meta';
import { type Cache, defineController, ownKey, type ViewContext, watch } from '#controller-runtime';
import {
  allow,
  childrenOf,
  controllerRevisions,
  daemonSets,
  nodes,
  pods,
  recordEvents,
  watchChildren,
  watchRevisions,
} from '#controller-runtime/workload';
import { deepEqual } from '#utils';
import { daemonSetKind } from './kind.ts';
import { type DaemonSetView, reconcile } from './reconcile.ts';
import { revisionName } from './revisions.ts';

/** Heartbeats change nothing about who belongs on a node; labels and taints do. */
const sameForPlacement = (node: Node, old: Node): boolean =>
  deepEqual(node.metadata.labels, old.metadata.labels) && deepEqual(node.spec?.taints, old.spec?.taints);

function keysOfNode(node: Node, old: Node | undefined, cache: Cache): string[] {
  if (old && sameForPlacement(node, old)) return [];
  return cache.list<DaemonSet>(daemonSets).map(({ metadata }) => keyOf(metadata));
}

function view(key: string, cache: Cache, context: ViewContext): DaemonSetView {
  const { namespace, name } = splitKey(key);
  const set = cache.get<DaemonSet>(daemonSets, namespace, name);
  if (!set) return { set, pods: [], revisions: [], holder: undefined, nodes: [], context };
  const byName = (a: Node, b: Node): number => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);
  return {
    set,
    pods: childrenOf<Pod>(cache, pods, set),
    revisions: childrenOf<ControllerRevision>(cache, controllerRevisions, set),
    holder: cache.get<ControllerRevision>(controllerRevisions, namespace, revisionName(set)),
    nodes: cache.list<Node>(nodes).sort(byName),
    context,
  };
}

export const daemonSetController = defineController<DaemonSetView>({
  name: 'daemonset-controller',
  aliases: ['daemonset'],
  for: daemonSets,
  concurrency: { flag: 'concurrent-daemonset-syncs', default: 2 },
  serviceAccount: 'daemon-set-controller',
  rights: [
    allow('get,list,watch', 'apps,extensions', 'daemonsets'),
    allow('update', 'apps,extensions', 'daemonsets/status'),
    allow('update', 'apps,extensions', 'daemonsets/finalizers'),
    allow('list,watch', 'core', 'nodes'),
    allow('create,delete,list,patch,watch', 'core', 'pods'),
    allow('create', 'core', 'pods/binding'),
    allow('create,delete,get,list,patch,update,watch', 'apps', 'controllerrevisions'),
    recordEvents,
  ],
  watches: [
    { resource: daemonSets, keys: ownKey },
    watchChildren(pods, daemonSetKind),
    watchRevisions(daemonSetKind),
    watch<Node>({ resource: nodes, keys: keysOfNode }),
  ],
  view,
  reconcile,
});
