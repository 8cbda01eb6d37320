// What must be true of a cluster once nothing disturbs it any more. Every check gives sentences about what is wrong.
import type { DaemonSet, Deployment, ReplicaSet, StatefulSet } from '#api/apps/v1';
import type { Job } from '#api/batch/v1';
import type { Node, Pod, Service } from '#api/core/v1';
import type { EndpointSlice } from '#api/discovery/v1';
import { controllerOf, type KubeObject } from '#apimachinery/meta';
import { type ClusterChaos, resources } from './cluster-chaos.ts';

interface Found {
  pods: Pod[];
  deployments: Deployment[];
  replicaSets: ReplicaSet[];
  statefulSets: StatefulSet[];
  daemonSets: DaemonSet[];
  nodes: Node[];
  jobs: Job[];
  services: Service[];
  slices: EndpointSlice[];
  namespaces: KubeObject[];
  controllerRevisions: KubeObject[];
}

const nameOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;
const isReady = ({ status }: Pod): boolean =>
  (status?.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True');
const isFinished = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';
const ownedBy = ({ metadata }: KubeObject, objects: readonly Pod[]): Pod[] =>
  objects.filter((one) => controllerOf(one.metadata)?.uid === metadata.uid);
const differ = (what: string, is: string, wanted: string): string[] =>
  is === wanted ? [] : [`${what}: ${is} instead of ${wanted}`];
const sorted = (names: Iterable<string>): string => [...names].sort().join(' ');

const replicaSets = ({ replicaSets: sets, pods }: Found): string[] =>
  sets.flatMap((set) => {
    const active = ownedBy(set, pods).filter((pod) => !isFinished(pod));
    const wanted = `${set.spec?.replicas}`;
    return [
      ...differ(`pods of ReplicaSet ${nameOf(set)}`, `${active.length}`, wanted),
      ...differ(`ready pods in the status of ReplicaSet ${nameOf(set)}`, `${set.status?.readyReplicas ?? 0}`, wanted),
    ];
  });

const deployments = ({ deployments: all, replicaSets: sets }: Found): string[] =>
  all.flatMap((deployment) => {
    const own = sets.filter(({ metadata }) => controllerOf(metadata)?.uid === deployment.metadata.uid);
    const counts = own.map(({ spec }) => spec?.replicas ?? 0).filter((count) => count > 0);
    const wanted = deployment.spec?.replicas ?? 0;
    const { readyReplicas = 0, updatedReplicas = 0, observedGeneration } = deployment.status ?? {};
    return [
      ...differ(`ReplicaSets in use of Deployment ${nameOf(deployment)}`, counts.join('+'), wanted === 0 ? '' : `${wanted}`),
      ...differ(`status of Deployment ${nameOf(deployment)}`, `${readyReplicas}, ${updatedReplicas}`, `${wanted}, ${wanted}`),
      ...differ(`generation of Deployment ${nameOf(deployment)}`, `${observedGeneration}`, `${deployment.metadata.generation}`),
    ];
  });

const statefulSets = ({ statefulSets: all, pods }: Found): string[] =>
  all.flatMap((set) => {
    const names = ownedBy(set, pods).map(({ metadata }) => metadata.name ?? '');
    const wanted = Array.from({ length: set.spec?.replicas ?? 0 }, (_, index) => `${set.metadata.name}-${index}`);
    const { readyReplicas = 0, currentRevision, updateRevision } = set.status ?? {};
    return [
      ...differ(`pods of StatefulSet ${nameOf(set)}`, sorted(names), sorted(wanted)),
      ...differ(`ready pods in the status of StatefulSet ${nameOf(set)}`, `${readyReplicas}`, `${wanted.length}`),
      ...differ(`revision of StatefulSet ${nameOf(set)}`, `${currentRevision}`, `${updateRevision}`),
    ];
  });

const daemonSets = ({ daemonSets: all, pods, nodes: machines }: Found): string[] =>
  all.flatMap((set) => {
    const at = ownedBy(set, pods).map(({ spec }) => spec?.nodeName ?? '');
    const wanted = machines.map(({ metadata }) => metadata.name ?? '');
    const { numberReady, updatedNumberScheduled = 0 } = set.status ?? {};
    return [
      ...differ(`pods of DaemonSet ${nameOf(set)}`, sorted(at), sorted(wanted)),
      ...differ(
        `status of DaemonSet ${nameOf(set)}`,
        `${numberReady}, ${updatedNumberScheduled}`,
        `${wanted.length}, ${wanted.length}`,
      ),
    ];
  });

const jobs = ({ jobs: all }: Found): string[] =>
  all.flatMap((job) => {
    const { conditions = [], succeeded = 0, active = 0 } = job.status ?? {};
    const ended = conditions.some(({ type, status }) => type === 'Complete' && status === 'True');
    return [
      ...(ended ? [] : [`Job ${nameOf(job)} is not complete: ${JSON.stringify(job.status)}`]),
      ...differ(
        `pods of Job ${nameOf(job)}`,
        `${succeeded} succeeded, ${active} active`,
        `${job.spec?.completions} succeeded, 0 active`,
      ),
    ];
  });

const services = ({ services: all, slices, pods }: Found): string[] =>
  all.flatMap((service) => {
    const { app } = service.spec?.selector ?? {};
    const { namespace } = service.metadata;
    const wanted = pods.filter(
      (pod) => pod.metadata.namespace === namespace && pod.metadata.labels?.['app'] === app && isReady(pod) && !isFinished(pod),
    );
    const listed = slices
      .filter(({ metadata }) => controllerOf(metadata)?.uid === service.metadata.uid)
      .flatMap(({ endpoints }) => endpoints ?? [])
      .filter(({ conditions }) => conditions?.ready)
      .map(({ addresses, nodeName, targetRef }) => `${targetRef?.name}=${addresses.join()}@${nodeName}`);
    const expected = wanted.map(({ metadata, status, spec }) => `${metadata.name}=${status?.podIP}@${spec?.nodeName}`);
    return differ(`endpoints of Service ${nameOf(service)}`, sorted(listed), sorted(expected));
  });

const owners = (found: Found): string[] => {
  const everything = Object.values(found).flat() as KubeObject[];
  const uids = new Set(everything.map(({ metadata }) => metadata.uid));
  const namespaces = new Set(found.namespaces.map(({ metadata }) => metadata.name));
  return everything.flatMap((object) => [
    ...(object.metadata.ownerReferences ?? [])
      .filter(({ uid }) => !uids.has(uid))
      .map(({ kind, name }) => `${nameOf(object)} outlived its owner, ${kind} ${name}`),
    ...(object.metadata.namespace === undefined || namespaces.has(object.metadata.namespace)
      ? []
      : [`${nameOf(object)} is in a namespace that is gone`]),
    ...(object.metadata.deletionTimestamp ? [`${nameOf(object)} is still being deleted`] : []),
  ]);
};

/** Pods as the API has them and as the nodes run them. */
async function nodes(world: ClusterChaos, { pods }: Found): Promise<string[]> {
  const placed = new Map(pods.filter((pod) => !isFinished(pod)).map((pod) => [pod.metadata.uid ?? '', pod]));
  const seen = new Map<string, string>();
  const wrong: string[] = [];
  for (const [node, kubelet] of world.kubelets) {
    for (const { uid, name, sandboxes } of (await kubelet?.parts.runtime.list()) ?? []) {
      if (!sandboxes.some(({ ready }) => ready)) continue;
      const other = seen.get(uid);
      if (other) wrong.push(`pod ${name} runs on ${other} and on ${node}`);
      seen.set(uid, node);
      if (!placed.has(uid)) wrong.push(`${node} runs pod ${name}, which the API does not know as running`);
    }
  }
  for (const [uid, pod] of placed) {
    if (!isReady(pod))
      wrong.push(`pod ${nameOf(pod)} is not ready on ${pod.spec?.nodeName}: ${pod.status?.phase} ${pod.status?.reason ?? ''}`);
    if (seen.get(uid) !== pod.spec?.nodeName)
      wrong.push(`pod ${nameOf(pod)} runs on ${seen.get(uid)}, not on ${pod.spec?.nodeName}`);
  }
  return wrong;
}

const machines = ({ nodes: all }: Found, world: ClusterChaos): string[] => [
  ...differ('nodes', sorted(all.map(({ metadata }) => metadata.name ?? '')), sorted(world.kubelets.keys())),
  ...all.flatMap(({ metadata, spec, status }) => {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
    return ready === 'True' && !spec?.taints?.length
      ? []
      : [`node ${metadata.name}: Ready ${ready}, ${JSON.stringify(spec?.taints)}`];
  }),
];

/** How the cluster differs from what users asked for; empty when it has settled. */
export async function whatIsWrong(world: ClusterChaos): Promise<string[]> {
  const found = Object.fromEntries(
    Object.entries(resources).map(([kind, resource]) => [kind, world.history.objects(resource)]),
  ) as unknown as Found;
  const checks = [replicaSets, deployments, statefulSets, daemonSets, jobs, services, owners];
  return [...checks.flatMap((check) => check(found)), ...machines(found, world), ...(await nodes(world, found))];
}
