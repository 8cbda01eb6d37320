// What users, nodes and the network do to a cluster.
import type { DaemonSet, Deployment, StatefulSet } from '#api/apps/v1';
import type { Job } from '#api/batch/v1';
import type { Namespace, Node, Pod, PodTemplateSpec, Service } from '#api/core/v1';
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta';
import { type ClusterChaos, type Component, resources } from './cluster-chaos.ts';

type Workload = 'deployments' | 'statefulSets' | 'daemonSets' | 'jobs';
const namespacesMax = 3;
const objectsMax: Readonly<Record<Workload, number>> = { deployments: 8, statefulSets: 5, daemonSets: 3, jobs: 8 };
const merge = 'application/merge-patch+json';

const living = (chaos: ClusterChaos): string[] =>
  chaos.history
    .objects<Namespace>(resources.namespaces)
    .filter(({ metadata }) => metadata.name?.startsWith('team-') && !metadata.deletionTimestamp)
    .map(({ metadata }) => metadata.name ?? '');

async function makeNamespace(chaos: ClusterChaos): Promise<void> {
  if (living(chaos).length >= namespacesMax) return;
  // A namespace may come back under the name of one that went.
  const name = `team-${chaos.rng.int(namespacesMax * 2)}`;
  await chaos.plane.client.resource<Namespace>(resources.namespaces).create({ metadata: { name } });
  chaos.note('namespace made');
}
async function deleteNamespace(chaos: ClusterChaos): Promise<void> {
  const name = chaos.pick(living(chaos));
  if (!name) return;
  await chaos.plane.client.resource(resources.namespaces).delete(name);
  chaos.note('namespace deleted');
}

function templateOf({ rng }: ClusterChaos, app: string): PodTemplateSpec {
  const annotations = { 'simulated.sagong.dev/start-delay': `${rng.int(4_000)}ms` };
  const requests = { cpu: `${50 + rng.int(400)}m` };
  const spec = {
    terminationGracePeriodSeconds: 1 + rng.int(30),
    containers: [{ name: 'c', image: 'c:1', resources: { requests } }],
  };
  return { metadata: { labels: { app }, annotations }, spec };
}
async function makeWorkload(chaos: ClusterChaos): Promise<void> {
  const { rng } = chaos;
  const { client } = chaos.plane;
  const namespace = chaos.pick(living(chaos));
  if (!namespace) return makeNamespace(chaos);
  const kind = chaos.pick<Workload>(['deployments', 'deployments', 'statefulSets', 'jobs', 'daemonSets']) ?? 'jobs';
  if (chaos.history.objects(resources[kind]).length >= objectsMax[kind]) return;
  const name = `${kind.slice(0, 3)}-${kind === 'jobs' ? chaos.number() : rng.int(6)}`;
  const template = templateOf(chaos, name);
  const selector = { matchLabels: { app: name } };
  const metadata = { name };
  const replicas = rng.int(7);
  if (kind === 'deployments')
    await client
      .resource<Deployment>(resources.deployments, namespace)
      .create({ metadata, spec: { replicas, selector, template } });
  else if (kind === 'statefulSets') {
    const podManagementPolicy = rng.int(2) === 0 ? 'OrderedReady' : 'Parallel';
    const spec = { replicas, selector, template, serviceName: name, podManagementPolicy };
    await client.resource<StatefulSet>(resources.statefulSets, namespace).create({ metadata, spec });
  } else if (kind === 'daemonSets')
    await client.resource<DaemonSet>(resources.daemonSets, namespace).create({ metadata, spec: { selector, template } });
  else {
    const podSpec = { ...template.spec, restartPolicy: 'Never' } as PodTemplateSpec['spec'];
    const own = { ...template, spec: podSpec };
    const spec = { completions: replicas + 1, parallelism: 1 + rng.int(4), backoffLimit: 100, template: own };
    await client.resource<Job>(resources.jobs, namespace).create({ metadata, spec });
  }
  chaos.note(`${kind} made`);
  if (kind === 'jobs') return;
  const service: Service = { metadata, spec: { selector: { app: name }, ports: [{ port: 80 }] } };
  await client.resource<Service>(resources.services, namespace).create(service);
}

function someWorkload(
  chaos: ClusterChaos,
  kinds: readonly Workload[],
): { resource: GroupVersionResource; object: KubeObject } | undefined {
  const all = kinds.flatMap((kind) =>
    chaos.history.objects(resources[kind]).map((object) => ({ resource: resources[kind], object })),
  );
  return chaos.pick(all.filter(({ object }) => !object.metadata.deletionTimestamp));
}
async function patchWorkload(chaos: ClusterChaos, kinds: readonly Workload[], what: string, body: unknown): Promise<void> {
  const found = someWorkload(chaos, kinds);
  if (!found) return;
  const { namespace, name = '' } = found.object.metadata;
  await chaos.plane.client.resource(found.resource, namespace).patch(name, merge, body);
  chaos.note(what);
}
const scale = (chaos: ClusterChaos): Promise<void> =>
  patchWorkload(chaos, ['deployments', 'statefulSets'], 'scaled', { spec: { replicas: chaos.rng.int(8) } });
function rollOut(chaos: ClusterChaos): Promise<void> {
  const image = `c:${chaos.rng.int(4)}`;
  const body = { spec: { template: { spec: { containers: [{ name: 'c', image }] } } } };
  return patchWorkload(chaos, ['deployments', 'statefulSets', 'daemonSets'], 'rolled out', body);
}
async function deleteWorkload(chaos: ClusterChaos): Promise<void> {
  const found = someWorkload(chaos, ['deployments', 'statefulSets', 'daemonSets', 'jobs']);
  if (!found) return;
  const { namespace, name = '' } = found.object.metadata;
  const propagationPolicy = chaos.rng.int(2) === 0 ? 'Foreground' : 'Background';
  await chaos.plane.client.resource(found.resource, namespace).delete(name, { propagationPolicy });
  chaos.note('workload deleted');
  await chaos.plane.client.resource(resources.services, namespace).delete(name);
}
async function deletePod(chaos: ClusterChaos): Promise<void> {
  const pod = chaos.pick(chaos.history.objects<Pod>(resources.pods));
  if (!pod) return;
  await chaos.plane.client.resource(resources.pods, pod.metadata.namespace).delete(pod.metadata.name ?? '');
  chaos.note('pod deleted');
}

const nodesWith = (chaos: ClusterChaos, power: boolean): string[] =>
  [...chaos.kubelets].flatMap(([name, kubelet]) => (Boolean(kubelet) === power ? [name] : []));
/** Half of them keep running, so that something goes on. */
function stopNode(chaos: ClusterChaos): void {
  const name = chaos.pick(nodesWith(chaos, true));
  if (!name || nodesWith(chaos, false).length >= chaos.kubelets.size / 2) return;
  chaos.stopKubelet(name);
  chaos.note('node lost power');
}
function startNode(chaos: ClusterChaos): void {
  const name = chaos.pick(nodesWith(chaos, false));
  if (!name) return;
  chaos.startKubelet(name);
  chaos.note('node got power');
}
/** Somebody gives a node up: its Node goes, and its pods with it. */
async function giveUpNode(chaos: ClusterChaos): Promise<void> {
  const name = chaos.pick(nodesWith(chaos, false));
  if (!name) return;
  await chaos.plane.client.resource<Node>(resources.nodes).delete(name);
  chaos.note('node deleted');
}

function disturbLeader(chaos: ClusterChaos): void {
  const component = chaos.pick<Component>(['kube-controller-manager', 'kube-scheduler']) ?? 'kube-scheduler';
  const leader = chaos.leader(component);
  if (!leader) return;
  if (chaos.rng.int(3) > 0) {
    chaos.kill(leader);
    chaos.note(`${component} killed`);
    return;
  }
  leader.partition();
  chaos.clock.setTimer(5_000 + chaos.rng.int(60_000), () => leader.heal());
  chaos.note(`${component} cut off`);
}
async function disturbNetwork(chaos: ClusterChaos): Promise<void> {
  chaos.faults.dropWatches();
  await chaos.history.reconnect();
  chaos.note('watches dropped');
}

const actions: readonly [number, (chaos: ClusterChaos) => unknown][] = [
  [6, makeNamespace],
  [1, deleteNamespace],
  [22, makeWorkload],
  [18, scale],
  [10, rollOut],
  [8, deleteWorkload],
  [8, deletePod],
  [8, stopNode],
  [8, startNode],
  [1, giveUpNode],
  [6, disturbLeader],
  [4, disturbNetwork],
];
const total = actions.reduce((sum, [weight]) => sum + weight, 0);

/** One thing that happens. Rejects when somebody else was faster. */
export async function act(chaos: ClusterChaos): Promise<void> {
  let dice = chaos.rng.int(total);
  for (const [weight, action] of actions) {
    dice -= weight;
    if (dice >= 0) continue;
    await action(chaos);
    return;
  }
}
