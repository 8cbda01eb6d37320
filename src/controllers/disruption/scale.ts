// How many pods the controllers of some pods want in all: what percentages of a disruption budget are of. Pure.
import type { Deployment, ReplicaSet, StatefulSet } from '#api/apps/v1';
import type { Scale } from '#api/autoscaling/v1';
import type { Pod, ReplicationController } from '#api/core/v1';
import { controllerOf, type KubeObject, type OwnerReference, parseApiVersion } from '#apimachinery/meta';
import { type Cache, type Ref, refKey } from '#controller-runtime';
import { deployments, replicaSets, replicationControllers, statefulSets } from '#controller-runtime/workload';

export interface ExpectedScale {
  count: number;
  unmanaged: string[];
  /** Scales only the server knows: ask and come back. */
  needsLive: Ref[];
  error?: string;
}

type Found = { uid: string; replicas: number } | undefined;

const found = (object: (KubeObject & { spec?: { replicas?: number } }) | undefined, ref: OwnerReference): Found =>
  object?.metadata.uid === ref.uid ? { uid: ref.uid, replicas: object.spec?.replicas ?? 1 } : undefined;

const isOf = ({ apiVersion, kind }: OwnerReference, wanted: string, ...groups: string[]): boolean =>
  kind === wanted && groups.includes(parseApiVersion(apiVersion).group);

/** The scale of a known kind of controller. A ReplicaSet of a Deployment counts as that Deployment. */
function known(ref: OwnerReference, namespace: string, cache: Cache): Found {
  if (isOf(ref, 'ReplicationController', ''))
    return found(cache.get<ReplicationController>(replicationControllers, namespace, ref.name), ref);
  if (isOf(ref, 'StatefulSet', 'apps')) return found(cache.get<StatefulSet>(statefulSets, namespace, ref.name), ref);
  if (!isOf(ref, 'ReplicaSet', 'apps', 'extensions')) return undefined;
  const set = cache.get<ReplicaSet>(replicaSets, namespace, ref.name);
  const owner = set?.metadata.uid === ref.uid ? controllerOf(set.metadata) : undefined;
  if (!owner || !isOf(owner, 'Deployment', 'apps', 'extensions')) return found(set, ref);
  return found(cache.get<Deployment>(deployments, namespace, owner.name), owner);
}

export function expectedScale(
  pods: readonly Pod[],
  cache: Cache,
  live: ReadonlyMap<string, KubeObject | undefined>,
): ExpectedScale {
  const scales = new Map<string, number>();
  const result: ExpectedScale = { count: 0, unmanaged: [], needsLive: [] };
  for (const { metadata } of pods) {
    const ref = controllerOf(metadata);
    if (!ref) {
      result.unmanaged.push(metadata.name ?? '');
      continue;
    }
    const namespace = metadata.namespace ?? '';
    const scale = known(ref, namespace, cache);
    if (scale) {
      scales.set(scale.uid, scale.replicas);
      continue;
    }
    const { group, version } = parseApiVersion(ref.apiVersion);
    const resource = cache.discovered().find((one) => one.group === group && one.version === version && one.kind === ref.kind);
    if (!resource) return { ...result, error: `no matches for kind "${ref.kind}" in version "${ref.apiVersion}"` };
    const ask: Ref = { resource, namespace, name: ref.name, subresource: 'scale' };
    if (!live.has(refKey(ask))) {
      result.needsLive.push(ask);
      continue;
    }
    const answer = live.get(refKey(ask)) as Scale | undefined;
    if (answer?.metadata.uid !== ref.uid) return { ...result, error: `found no controllers for pod "${metadata.name}"` };
    scales.set(ref.uid, answer.spec?.replicas ?? 0);
  }
  for (const replicas of scales.values()) result.count += replicas;
  return result;
}
