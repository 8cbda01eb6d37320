// What a person sees when a cluster is up, and what `sagong status` says: nodes, pods and services as tables.
import type { Node, Pod, Service } from '#api/core/v1';
import { clientConfigOf, createClient, createRestTransport, type KubeClient, readKubeconfig } from '#client';
import type { ComponentStatus } from '#component-base';
import type { Clock } from '#utils';
import { askCluster } from '../control-socket.ts';
import type { Dial } from '#wire';
import { connect } from 'node:net';
import type { ControlPlaneState } from '../control-planes/states.ts';
import { identities } from '../certificates/identities.ts';
import { clusterFlags, clusterPaths } from '../state/paths.ts';
import { lastServer } from '../state/last-server.ts';
import { readRunState, type RunState, runningProcess } from '../state/run-state.ts';
import { type ClusterSettings, loadSettings } from '../state/settings.ts';
import { textTable } from '../terminal/text-table.ts';
import type { PlaneAccess } from '../control-plane.ts';
import { isNodeReady } from '../state/wait.ts';

const core = (resource: string) => ({ group: '', version: 'v1', resource });

async function tables(client: KubeClient): Promise<string> {
  const [nodes, pods, services] = await Promise.all([
    client.resource<Node>(core('nodes')).list(),
    client.resource<Pod>(core('pods')).list(),
    client.resource<Service>(core('services')).list(),
  ]);
  const nodeRows = nodes.items.map(({ metadata, status }) => [
    metadata.name ?? '',
    isNodeReady({ metadata, status }) ? 'Ready' : 'NotReady',
    status?.nodeInfo?.containerRuntimeVersion ?? '',
    status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '',
  ]);
  const podRows = pods.items.map(({ metadata, spec, status }) => [
    metadata.namespace ?? '',
    metadata.name ?? '',
    status?.phase ?? '',
    status?.podIP ?? '',
    spec?.nodeName ?? '',
  ]);
  const serviceRows = services.items.map(({ metadata, spec, status }) => [
    metadata.namespace ?? '',
    metadata.name ?? '',
    spec?.clusterIP ?? '',
    externalAddress(status),
    (spec?.ports ?? []).map(({ port, protocol }) => `${port}/${protocol}`).join(','),
  ]);
  return [
    ...(nodeRows.length > 0 ? [textTable(['NODE', 'STATUS', 'RUNTIME', 'ADDRESS'], nodeRows)] : []),
    ...(podRows.length > 0 ? [textTable(['NAMESPACE', 'POD', 'STATUS', 'IP', 'NODE'], podRows)] : []),
    textTable(['NAMESPACE', 'SERVICE', 'CLUSTER-IP', 'EXTERNAL-IP', 'PORTS'], serviceRows),
  ].join('\n\n');
}

const externalAddress = (status: Service['status']): string =>
  (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip ?? hostname ?? '').join(',') || '<none>';

const privateNotice = "It is private: only the cluster's own network knows the way to it, this machine does not.";
const isPrivate = ({ endpointAccess }: ClusterSettings): boolean => endpointAccess === 'private';

const simulatedNotice = 'The nodes are SIMULATED: pods are not real processes.';

/** A cluster that has just started. */
export interface StartedCluster {
  settings: ClusterSettings;
  plane: Pick<PlaneAccess, 'client'>;
  kubeconfig: string;
  /** Whether the user's own kubeconfig has it as its current context. */
  contextSet: boolean;
  /** Where people find the apiserver now, as a URL. */
  server(): string;
}

/** The last words of a successful `up`. */
export async function summary(cluster: StartedCluster): Promise<string> {
  const { settings, plane } = cluster;
  const client = plane.client(identities.admin, 'sagong');
  const hasDemo = await client
    .resource({ group: 'apps', version: 'v1', resource: 'deployments' }, 'default')
    .get('hello')
    .then(
      () => true,
      () => false,
    );
  const commands = hasDemo
    ? [
        'kubectl get pods -o wide',
        'kubectl exec deploy/hello -- wget -qO- http://hello',
        'kubectl scale deployment hello --replicas 8',
      ]
    : ['kubectl get nodes', 'kubectl create deployment web --image nginx', 'kubectl get events --watch'];
  return [
    '',
    await tables(client),
    '',
    ...(settings.runtime === 'simulated' && settings.nodes.length > 0 ? [simulatedNotice, ''] : []),
    `The apiserver listens on ${cluster.server()}; ${cluster.contextSet ? `the kubectl context "${settings.name}" is set` : `use it with KUBECONFIG=${cluster.kubeconfig}`}.`,
    ...(isPrivate(settings) ? [privateNotice] : []),
    'Try next:',
    ...commands.map((command) => `  ${command}`),
  ].join('\n');
}

const dialSocket =
  (path: string): Dial =>
  () =>
    new Promise((resolve, reject) => {
      const socket = connect(path, () => resolve(socket));
      socket.once('error', reject);
    });

const ago = (atMs: number, nowMs: number): string => `${Math.max(0, Math.round((nowMs - atMs) / 1000))} s ago`;

/** The components that have failed since the cluster was started; an empty list where none has. */
function troubles(components: readonly ComponentStatus[], nowMs: number): string {
  const rows = components.flatMap(({ component, state, restarts, failures, last }) =>
    last
      ? [[component, state, String(restarts), String(failures), `${ago(last.atMs, nowMs)}: ${last.message.split('\n')[0]}`]]
      : [],
  );
  return rows.length === 0 ? '' : `\n\n${textTable(['COMPONENT', 'STATE', 'RESTARTS', 'FAILURES', 'LAST FAILURE'], rows)}`;
}

const controlPlaneTable = (planes: readonly ControlPlaneState[]): string => {
  const rows = planes.map(({ name, zone, state, address, api }) => [name, zone, state, address, api]);
  return rows.length === 0 ? '' : `\n\n${textTable(['CONTROL PLANE', 'ZONE', 'STATE', 'ADDRESS', 'APISERVER'], rows)}`;
};

/** What is said in place of the objects. */
const silence = ({ message }: Error, planes: readonly ControlPlaneState[]): string =>
  planes.length > 1
    ? `Its API does not answer: ${message}\nMore than half of the control planes have to run for that; why one does not is in its logs, control-planes/<machine>/logs`
    : `Its API does not answer: ${message}`;

/** Text for people, and whether the cluster runs. */
async function whyNot({ name, dataDir }: ClusterSettings, state: RunState | undefined): Promise<string> {
  const cluster = `The cluster "${name}" in ${dataDir}`;
  if (state) return `${cluster} is starting`;
  const flags = clusterFlags(name, dataDir);
  const crashed = await readRunState(dataDir);
  if (!crashed) return `${cluster} is stopped; start it with: sagong up${flags}`;
  return `${cluster} has crashed: process ${crashed.pid} is gone; start it again with: sagong up${flags}, or clear away what it left with: sagong stop${flags}`;
}

/** What a process that runs on has of a directory without a cluster's settings was removed, or is not written yet. */
const noneIn = (dataDir: string, state: RunState | undefined): string =>
  state?.ready
    ? `There is no cluster in ${dataDir}, and process ${state.pid} of one that was there goes on; end it with: sagong down --data-dir ${dataDir}`
    : `There is no cluster in ${dataDir}`;

export async function clusterStatus(dataDir: string, clock: Clock): Promise<{ text: string; running: boolean }> {
  const settings = await loadSettings(dataDir);
  const state = await runningProcess(dataDir);
  if (!settings) return { text: noneIn(dataDir, state), running: false };
  const server = state?.server ?? (state?.ready ? lastServer(dataDir) : undefined);
  if (!state || server === undefined) return { text: await whyNot(settings, state), running: false };
  const config = clientConfigOf(readKubeconfig(clusterPaths(dataDir).kubeconfig));
  const { apiSocket } = clusterPaths(dataDir);
  // A managed control plane is not on this machine's networks; its own user may look in.
  const dial = settings.topology === 'managed' ? { dial: dialSocket(apiSocket) } : {};
  const client = createClient(createRestTransport({ config, clock, userAgent: 'sagong', ...dial }));
  try {
    const components = await askCluster<ComponentStatus[]>(clusterPaths(dataDir).controlSocket, 'GET', '/components', {});
    const planes = await askCluster<ControlPlaneState[]>(clusterPaths(dataDir).controlSocket, 'GET', '/control-planes', {});
    const runtime = settings.runtime === 'simulated' && settings.nodes.length > 0 ? `\n${simulatedNotice}` : '';
    const objects = await tables(client).then(
      (text) => ({ text, running: true }),
      (error: Error) => ({ text: silence(error, planes), running: false }),
    );
    return {
      ...objects,
      text: `The cluster "${settings.name}" runs (process ${state.pid}, ${server})${runtime}${controlPlaneTable(planes)}\n\n${objects.text}${troubles(components, clock.now())}`,
    };
  } finally {
    client.close();
  }
}
