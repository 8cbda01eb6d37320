// Rolls a Deployment's template out over ReplicaSets (pkg/controller/deployment).
import type { Deployment, ReplicaSet } from '#api/apps/v1';
import type { Pod } from '#api/core/v1';
import { controllerOf, splitKey } from '#apimachinery/meta';
import { type Cache, defineController, ownKey, type ViewContext, watch } from '#controller-runtime';
import { allow, childrenOf, deployments, pods, recordEvents, replicaSets, watchChildren } from '#controller-runtime/workload';
import { deploymentKind } from './kind.ts';
import { replicaSetName } from './new-replica-set.ts';
import { type DeploymentView, reconcile } from './reconcile.ts';

const isRecreate = (deployment: Deployment | undefined): boolean => deployment?.spec?.strategy?.type === 'Recreate';

/** The strategy Recreate waits for old pods to be gone; the others need no pods. */
function keysOfPod(pod: Pod, _old: Pod | undefined, cache: Cache): string[] {
  const owner = controllerOf(pod.metadata);
  const namespace = pod.metadata.namespace ?? '';
  if (owner?.kind !== 'ReplicaSet') return [];
  const replicaSet = cache.get<ReplicaSet>(replicaSets, namespace, owner.name);
  const parent = replicaSet && controllerOf(replicaSet.metadata);
  if (parent?.kind !== 'Deployment') return [];
  return isRecreate(cache.get<Deployment>(deployments, namespace, parent.name)) ? [`${namespace}/${parent.name}`] : [];
}

function view(key: string, cache: Cache, context: ViewContext): DeploymentView {
  const { namespace, name } = splitKey(key);
  const deployment = cache.get<Deployment>(deployments, namespace, name);
  if (!deployment) return { deployment, replicaSets: [], holder: undefined, pods: new Map(), context };
  const owned = childrenOf<ReplicaSet>(cache, replicaSets, deployment);
  const podsOf = (uid: string): [string, Pod[]] => [uid, cache.ownedBy<Pod>(pods, uid)];
  return {
    deployment,
    replicaSets: owned,
    holder: cache.get<ReplicaSet>(replicaSets, namespace, replicaSetName(deployment)),
    pods: new Map(
      isRecreate(deployment)
        ? owned
            .filter(({ metadata }) => controllerOf(metadata)?.uid === deployment.metadata.uid)
            .map(({ metadata }) => podsOf(metadata.uid ?? ''))
        : [],
    ),
    context,
  };
}

export const deploymentController = defineController<DeploymentView>({
  name: 'deployment-controller',
  aliases: ['deployment'],
  for: deployments,
  concurrency: { flag: 'concurrent-deployment-syncs', default: 5 },
  rights: [
    allow('get,list,update,watch', 'apps,extensions', 'deployments'),
    allow('update', 'apps,extensions', 'deployments/status'),
    allow('update', 'apps,extensions', 'deployments/finalizers'),
    allow('create,delete,get,list,patch,update,watch', 'apps,extensions', 'replicasets'),
    allow('get,list,update,watch', 'core', 'pods'),
    recordEvents,
  ],
  watches: [
    { resource: deployments, keys: ownKey },
    watchChildren(replicaSets, deploymentKind),
    watch<Pod>({ resource: pods, keys: keysOfPod }),
  ],
  view,
  reconcile,
});
