// What there is to say about the state of an object of each kind: reads what is around it, and has it put into words.
import type { DaemonSet, Deployment, ReplicaSet, StatefulSet } from '#api/apps/v1';
import type { HorizontalPodAutoscaler } from '#api/autoscaling/v2';
import type { CronJob, Job } from '#api/batch/v1';
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, Service } from '#api/core/v1';
import type { EndpointSlice } from '#api/discovery/v1';
import type { Ingress, IngressClass } from '#api/networking/v1';
import type { StorageClass } from '#api/storage/v1';
import { fromLabelSelector, type LabelSelector, type Selector } from '#apimachinery/labels';
import type { KubeObject } from '#apimachinery/meta';
import { conditionsOf, conditionText } from './conditions.ts';
import { deletionSentences } from './deletion.ts';
import type { FoundResource } from './find.ts';
import { nodeSentences } from './nodes.ts';
import { podSentences } from './pods.ts';
import { type Reader, resources } from './reader.ts';
import { ingressSentences, serviceSentences } from './services.ts';
import { claimSentences, claimsOf, podsUsing, volumeSentences } from './storage.ts';
import * as workloads from './workloads.ts';

export interface StateDeps {
  reader: Reader;
  nowMs: number;
}

type Say = (object: KubeObject, deps: StateDeps) => Promise<string[]> | string[];

const namespaceOf = ({ metadata }: KubeObject): string => metadata.namespace ?? '';

async function selectedPods(object: KubeObject, selector: LabelSelector | undefined, reader: Reader): Promise<Pod[]> {
  const wanted: Selector = fromLabelSelector(selector);
  const pods = await reader.list<Pod>(resources.pods, namespaceOf(object));
  return pods.filter(({ metadata }) => wanted.matches(metadata.labels ?? {}));
}

async function podState(pod: Pod, { reader }: StateDeps): Promise<string[]> {
  const claims = await Promise.all(
    claimsOf(pod).map(async (name) => ({
      name,
      claim: await reader.find<PersistentVolumeClaim>(resources.claims, name, namespaceOf(pod)),
    })),
  );
  const unbound = claims.flatMap(({ name, claim }) => {
    if (!claim) return [`its claim ${name} does not exist`];
    return claim.status?.phase === 'Bound' ? [] : [`its claim ${name} has no volume: sagong explain pvc/${name}`];
  });
  const node = pod.spec?.nodeName === undefined ? undefined : await reader.find<Node>(resources.nodes, pod.spec.nodeName);
  const gone = pod.spec?.nodeName !== undefined && !node ? [`its node ${pod.spec.nodeName} does not exist any more`] : [];
  const deaf = node && conditionsOf(node).some(({ type, status }) => type === 'Ready' && status !== 'True');
  return [
    ...podSentences(pod),
    ...unbound,
    ...gone,
    ...(deaf
      ? [
          `its node ${pod.spec?.nodeName} is not ready: what is told of the pod may be old; sagong explain node/${pod.spec?.nodeName}`,
        ]
      : []),
  ];
}

async function serviceState(service: Service, { reader }: StateDeps): Promise<string[]> {
  const labelSelector = `kubernetes.io/service-name=${service.metadata.name}`;
  const [pods, slices] = await Promise.all([
    reader.list<Pod>(resources.pods),
    reader.list<EndpointSlice>(resources.slices, namespaceOf(service), { labelSelector }),
  ]);
  return serviceSentences(service, { pods, slices });
}

async function claimState(claim: PersistentVolumeClaim, { reader }: StateDeps): Promise<string[]> {
  const { volumeName } = claim.spec ?? {};
  const [classes, pods, volume] = await Promise.all([
    reader.list<StorageClass>(resources.storageClasses),
    reader.list<Pod>(resources.pods, namespaceOf(claim)),
    volumeName ? reader.find<PersistentVolume>(resources.volumes, volumeName) : undefined,
  ]);
  return claimSentences(claim, { classes, pods, volume });
}

async function ingressState(ingress: Ingress, { reader }: StateDeps): Promise<string[]> {
  const [classes, services] = await Promise.all([
    reader.list<IngressClass>(resources.ingressClasses),
    reader.list<Service>(resources.services, namespaceOf(ingress)),
  ]);
  return ingressSentences(ingress, { classes, services });
}

async function deploymentState(deployment: Deployment, { reader, nowMs }: StateDeps): Promise<string[]> {
  const [sets, pods] = await Promise.all([
    reader.list<ReplicaSet>(resources.replicaSets, namespaceOf(deployment)),
    selectedPods(deployment, deployment.spec?.selector, reader),
  ]);
  const owned = sets.filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === deployment.metadata.uid));
  return workloads.deploymentSentences(deployment, owned, pods, nowMs);
}

const kinds: Readonly<Record<string, Say>> = {
  Pod: (object, deps) => podState(object as Pod, deps),
  Service: (object, deps) => serviceState(object as Service, deps),
  Endpoints: (object) => [`is made for the Service of its name: sagong explain service/${object.metadata.name}`],
  Ingress: (object, deps) => ingressState(object as Ingress, deps),
  PersistentVolumeClaim: (object, deps) => claimState(object as PersistentVolumeClaim, deps),
  PersistentVolume: (object) => volumeSentences(object as PersistentVolume),
  Deployment: (object, deps) => deploymentState(object as Deployment, deps),
  async ReplicaSet(object, { reader, nowMs }) {
    const set = object as ReplicaSet;
    return workloads.replicaSetSentences(set, await selectedPods(set, set.spec?.selector, reader), nowMs);
  },
  async StatefulSet(object, { reader }) {
    const set = object as StatefulSet;
    return workloads.statefulSetSentences(set, await selectedPods(set, set.spec?.selector, reader));
  },
  async DaemonSet(object, { reader }) {
    const set = object as DaemonSet;
    const [nodes, pods] = await Promise.all([reader.list<Node>(resources.nodes), selectedPods(set, set.spec?.selector, reader)]);
    return workloads.daemonSetSentences(set, nodes, pods);
  },
  async Job(object, { reader, nowMs }) {
    const job = object as Job;
    return workloads.jobSentences(job, await selectedPods(job, job.spec?.selector, reader), nowMs);
  },
  CronJob: (object) => workloads.cronJobSentences(object as CronJob),
  HorizontalPodAutoscaler: (object, { nowMs }) => workloads.autoscalerSentences(object as HorizontalPodAutoscaler, nowMs),
  Namespace: (object, deps) => namespaceState(object, deps),
  Node: (object, { nowMs }) => nodeSentences(object as Node, nowMs),
};

/** What keeps a namespace that is being deleted: its conditions that are True. */
const namespaceState: Say = (object, { nowMs }) =>
  conditionsOf(object)
    .filter(({ status }) => status === 'True')
    .map((condition) => conditionText(condition, nowMs));

/** Kinds without words of their own: their conditions, as they are. */
const generalState: Say = (object, { nowMs }) => conditionsOf(object).map((condition) => conditionText(condition, nowMs));

/** What keeps a deleted object, as far as it is found: pods that use a claim, the objects that it owns, objects of a kind. */
async function holdersOf(object: KubeObject, { reader }: StateDeps): Promise<string[]> {
  const { deletionTimestamp, finalizers = [], uid, name = '' } = object.metadata;
  if (!deletionTimestamp) return [];
  const within = object.metadata.namespace;
  if (object.kind === 'PersistentVolumeClaim')
    return podsUsing(name, await reader.list<Pod>(resources.pods, within)).map((pod) => `pod ${pod.metadata.name}`);
  if (object.kind === 'PersistentVolume') {
    const { namespace, name: claim } = (object as PersistentVolume).spec?.claimRef ?? {};
    return claim ? [`claim ${namespace}/${claim}`] : [];
  }
  if (!finalizers.includes('foregroundDeletion')) return [];
  const owned = await Promise.all(
    (
      [
        ['ReplicaSet', resources.replicaSets],
        ['Job', resources.jobs],
        ['Pod', resources.pods],
      ] as const
    ).map(async ([kind, resource]) =>
      (await reader.list(resource, within))
        .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.blockOwnerDeletion))
        .map(({ metadata }) => `${kind} ${metadata.name}`),
    ),
  );
  return owned.flat();
}

/** Sentences about an object as it is now, why it is still there among them. */
export async function stateOf(object: KubeObject, resource: FoundResource, deps: StateDeps): Promise<string[]> {
  const say = (resource.custom ? undefined : kinds[resource.kind]) ?? generalState;
  const [holders, sentences] = await Promise.all([holdersOf(object, deps), say(object, deps)]);
  const silent = resource.custom && sentences.length === 0 && (object as { status?: unknown }).status === undefined;
  return [
    ...deletionSentences(object, holders, deps.nowMs),
    ...sentences,
    ...(silent ? ['has no status: if its kind has a controller, that has not looked at it yet, or does not run'] : []),
  ];
}
