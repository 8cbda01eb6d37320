// `sagong up`: a whole cluster in this process and on the nodes beside it.
import { appendFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Node } from '#api/core/v1';
import { createInformerFactory } from '#client';
import { Supervisor } from '#component-base';
import { ensureDir, execCommand } from '#host';
import type { Clock, Logger, Rng } from '#utils';
import type { ComponentArgs } from './component-args/args.ts';
import { type ClusterPki, openPki } from './certificates/certificates.ts';
import {
  type AuditFiles,
  type ControlPlane,
  type ControlPlaneOptions,
  type PlaneAccess,
  startControlPlane,
} from './control-plane.ts';
import { settle } from './choices.ts';
import { controlRoutes } from './control-routes.ts';
import { serveControl } from './control-socket.ts';
import { openEtcdLocation } from './store/etcd-location.ts';
import { rememberDir } from './state/elsewhere.ts';
import type { UpFlags } from './flags/index.ts';
import { identities } from './certificates/identities.ts';
import type { ControlPlaneEndpoint } from './cloud/endpoint.ts';
import type { ClusterNodes } from './cloud/nodes.ts';
import { ownMachineDir } from './machines/choice.ts';
import { ownControlPlane } from './machines/own-plane.ts';
import { containerdPaths } from './nodes/index.ts';
import { assertSocketPaths, clusterPaths, clustersHome, isUntouched, nodeDir } from './state/paths.ts';
import type { Progress } from './terminal/progress.ts';
import { keepRenewing, renewAging } from './certificates/renewal.ts';
import { assertNotRunning, claimRunState, removeRunState } from './state/run-state.ts';
import {
  type ClusterSettings,
  type EtcdLocation,
  loadSettings,
  nodesOf,
  type NodeMount,
  type PortMapping,
  saveSettings,
} from './state/settings.ts';
import { rewriteSecrets, secretEncryption } from './certificates/secret-encryption.ts';
import { startFailure } from './start-failure.ts';
import { UserAccess } from './access/user-access.ts';
import { isHeardSince, isNodeReadySince, waitFor } from './state/wait.ts';

/** What was given of the flags; those that name files and flags of components, as what they name. */
export interface UpOptions extends UpFlags {
  name: string;
  /** Absolute. */
  dataDir: string;
  /** Ports of this machine that lead to nodes. Absent: those of the last start, if any. */
  portMappings?: PortMapping[] | undefined;
  /** Folders of this machine that nodes see. Absent: those of the last start, if any. */
  mounts?: NodeMount[] | undefined;
  /** An etcd to keep the data in; absent: as before, or a store of its own. */
  etcd?: EtcdLocation | undefined;
  /** The audit log of this run; absent where requests are not recorded. */
  audit?: AuditFiles | undefined;
  /** Flags of components. Components that are absent keep those of the last start. */
  componentArgs?: ComponentArgs;
  /** Further flags of each node's kubelet, in the order of the nodes. Absent: those of the last start, if any. */
  nodeArgs?: readonly (readonly string[])[] | undefined;
  /** How to run this program, for node agents. */
  program: readonly string[];
  env: Record<string, string | undefined>;
}

export interface UpDeps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
  progress: Progress;
  descriptions?(): Promise<string | undefined>;
  /** Aborting ends a start that is under way. */
  signal?: AbortSignal;
}

export interface RunningCluster {
  readonly settings: ClusterSettings;
  readonly plane: PlaneAccess;
  /** Resolves when the control plane of this process cannot go on, with the reason. */
  readonly failed: Promise<Error>;
  readonly kubeconfig: string;
  /** Whether the user's own kubeconfig has it as its current context. */
  readonly contextSet: boolean;
  /** Absent: a control plane alone. */
  readonly nodes: ClusterNodes | undefined;
  /** Where people find the apiserver now. */
  server(): string;
  /** Tells other commands that the cluster is ready. */
  announce(): Promise<void>;
  stop(): Promise<void>;
}

const nodesReadyTimeoutMs = 90_000;

/** Starts the cluster; resolves when its nodes are Ready. Whatever was started is stopped again when that fails. */
export async function up(options: UpOptions, deps: UpDeps): Promise<RunningCluster> {
  const { dataDir } = options;
  const { progress, clock } = deps;
  await assertNotRunning(dataDir, process.pid);
  const settings = await settle(options, progress);
  assertSocketPaths(dataDir, socketsOf(settings));
  const isFirst = isUntouched(dataDir);
  const { logs, log } = clusterPaths(dataDir);
  await ensureDir(logs);
  await appendFile(log, '', { mode: 0o600 });
  const startedAtMs = clock.now();
  await claimRunState(dataDir, { pid: process.pid, startedAtMs, ready: false }, clock);
  progress.say(`Starting cluster "${settings.name}" in ${dataDir}`);
  await rememberDir(dataDir, clustersHome()).catch((error: Error) =>
    progress.say(`   sagong list will not show it: ${error.message}`),
  );
  const undo: (() => Promise<void> | void)[] = [];
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
    await removeRunState(dataDir);
  };
  try {
    await renewAging(dataDir, deps);
    if (settings.controlPlanes) await (await import('./control-planes/begin.ts')).beginPlanes(options, deps);
    const supervisor = new Supervisor(deps);
    return await start(options, settings, { ...deps, supervisor, startedAtMs, undo, stop });
  } catch (error) {
    const why = await startFailure(error, settings.port);
    const dealt = stop().then(() => (isFirst ? forgetStart(settings) : undefined));
    await dealt.catch((second: unknown) => deps.logger.error('clean-up failed', { error: String(second) }));
    throw why;
  }
}

/** Removes everything of a first start that failed before there was a cluster, unless another program holds a part of it or its logs can say why. */
async function forgetStart({ dataDir, etcd, controlPlanes, machine }: ClusterSettings): Promise<void> {
  if (etcd || controlPlanes || machine || (await loadSettings(dataDir)) !== undefined) return;
  const { removeStart } = await import('./state/removal.ts');
  await removeStart(dataDir);
}

/** The sockets in the data directory that have the longest paths. */
function socketsOf(settings: ClusterSettings): string[] {
  const { dataDir, runtime, machine } = settings;
  const { controlSocket, apiSocket } = clusterPaths(dataDir);
  const nodes = runtime === 'simulated' ? [] : nodesOf(settings).map((name) => nodeDir(dataDir, name));
  if (machine?.node) nodes.push(ownMachineDir(dataDir));
  return [controlSocket, apiSocket, ...nodes.map((dir) => containerdPaths(dir).ttrpcSocket)];
}

interface StartDeps extends UpDeps {
  supervisor: Supervisor;
  startedAtMs: number;
  undo: (() => Promise<void> | void)[];
  stop(): Promise<void>;
}

async function certificatesOf({ dataDir, machine }: ClusterSettings, progress: Progress): Promise<ClusterPki> {
  // Nobody else is a part of the control plane: it begins here, or it is in this process or on machines that start with it.
  const whole = machine?.controlPlane === undefined || (await ownControlPlane(dataDir)) === undefined;
  const pki = await openPki(clusterPaths(dataDir).pki, { whole });
  if (!pki.kubeletAuthority)
    progress.say(
      "   what kubelets serve with is signed by the cluster's own authority, as this cluster is older than one for kubelets alone (docs/security.md)",
    );
  return pki;
}

async function start(options: UpOptions, settings: ClusterSettings, deps: StartDeps): Promise<RunningCluster> {
  const { progress, undo, startedAtMs } = deps;
  const paths = clusterPaths(settings.dataDir);
  const pki = await certificatesOf(settings, progress);
  const makeNodes = async (): Promise<ClusterNodes> => {
    const { ClusterNodes } = await import('./cloud/nodes.ts');
    return new ClusterNodes({ settings, program: options.program, pki }, { ...deps, exec: execCommand });
  };
  const hasCloud = settings.nodes.length > 0 || settings.controlPlanes !== undefined;
  // A cloud with machines boots beside the control plane, which they wait for; a simulated one would take its time from the control plane.
  let nodes = hasCloud && settings.runtime !== 'simulated' ? await makeNodes() : undefined;
  const booted = nodes?.boot();
  undo.push(() => nodes?.stop());
  booted?.catch(() => {});
  const planeOptions = controlPlaneOptions(settings, pki, nodes?.endpoint, () => nodes);
  const own =
    settings.controlPlanes || settings.machine?.controlPlane
      ? undefined
      : await progress.step('control plane', () => startOwnPlane(planeOptions, options, settings, deps));
  const plane = own ?? (await remoteOf({ settings, pki, nodes, booted, program: options.program }, deps));
  if (hasCloud) nodes ??= await makeNodes();
  const managed = nodes?.endpoint !== undefined && settings.topology === 'managed';
  const kept = { ...settings, ...(own && !managed && { port: Number(new URL(own.apiserver.url).port) }) };
  await saveSettings(kept);
  const keepKubeconfig = options.keepKubeconfig ?? false;
  const access = new UserAccess({ settings: kept, plane, startedAtMs, keepKubeconfig, env: options.env }, deps.clock);
  if (!managed) await access.tell();
  await own?.startLoops();
  const routes = controlRoutes({ settings: kept, plane, own, nodes, access, clock: deps.clock });
  const control = await serveControl(paths.controlSocket, routes, deps.logger);
  undo.push(() => control.close({ graceMs: 0 }));
  const storage = beginStorage(kept, plane, deps);
  if (nodes) {
    undo.push(() => nodes.disconnect());
    await progress.step(cloudTitle(kept), async () => {
      await (booted ?? nodes.boot());
      await nodes.connect(plane, own);
      await beginRegistry(kept, nodes, plane, deps);
    });
    if (managed && nodes.endpoint) await access.tellEndpoint(nodes.endpoint);
    if (nodes.emulated)
      progress.say(
        `   ${kept.cloudEmulator} answers at ${nodes.emulated.url}; keys and configuration are in ${nodes.emulated.dir}`,
      );
    if (nodes.noUplink) progress.say(`   nodes have no way out of this machine (${nodes.noUplink})`);
    await progress.step(kept.cni === 'none' ? 'nodes' : 'nodes Ready', async () => {
      await nodes.kubeletsAnswer(deps.signal);
      await nodesReady(plane, await nodes.bootTimes(), arrivalOf(kept), deps).then(() => nodes.mark(plane));
    });
  }
  if (kept.machine) {
    const { startFirstMachine } = await import('./machines/first.ts');
    await startFirstMachine({ settings: kept, machine: kept.machine, plane, own, pki, program: options.program }, deps);
  }
  await storage;
  for (const { component, state, last } of deps.supervisor.status())
    if (state !== 'running' && last) progress.say(`   ${component} has failed and is started again: ${last.message}`);
  if (access.contextTrouble) progress.say(`   ${access.contextTrouble}`);
  return {
    settings: kept,
    plane,
    failed: own?.apiserver.failed ?? new Promise(() => {}),
    kubeconfig: paths.kubeconfig,
    contextSet: !keepKubeconfig && access.contextTrouble === undefined,
    nodes,
    server: () => access.server,
    announce: () => access.announce(),
    stop: deps.stop,
  };
}

interface Remote {
  settings: ClusterSettings;
  pki: ClusterPki;
  nodes: ClusterNodes | undefined;
  booted: Promise<void> | undefined;
  program: readonly string[];
}

/** The control plane on machines, once it answers. */
async function remoteOf({ settings, pki, nodes, booted, program }: Remote, deps: StartDeps): Promise<PlaneAccess> {
  if (settings.machine) return (await import('./machines/first.ts')).startFirstPlane(settings, program, deps);
  const { startRemotePlane } = await import('./control-planes/start.ts');
  const { length } = settings.controlPlanes ?? [];
  return deps.progress.step(`control plane on ${length} machine${length === 1 ? '' : 's'}`, async () => {
    await booted;
    const { way, publicServer } = nodes?.endpoint ?? {};
    deps.undo.push(keepRenewing(settings.dataDir, undefined, deps));
    const at = { url: publicServer?.url ?? '', ...way };
    if (way) {
      const { hostname: host, port } = new URL(way.url);
      const { relay } = await import('./control-planes/relay.ts');
      const open = () => way.dial({ host, port: Number(port) || 443 });
      deps.undo.push(await relay(clusterPaths(settings.dataDir).apiSocket, open));
    }
    return startRemotePlane({ settings, pki, at, supervisor: deps.supervisor }, deps);
  });
}

async function startOwnPlane(
  base: ControlPlaneOptions,
  options: UpOptions,
  settings: ClusterSettings,
  deps: StartDeps,
): Promise<ControlPlane> {
  const own = await startPlane(base, options, settings, deps);
  deps.undo.push(() => own.stop());
  deps.undo.push(keepRenewing(settings.dataDir, own, deps));
  await own.apiserver.started;
  if (settings.encryptSecrets) await rewriteSecrets(own.apiserver, deps.logger);
  return own;
}

/** The control plane over the store that the settings name. */
async function startPlane(
  base: ControlPlaneOptions,
  { audit, quotaBytes }: UpOptions,
  settings: ClusterSettings,
  deps: StartDeps,
): Promise<ControlPlane> {
  // The settings are written once the store is there.
  const storeMustExist = (await loadSettings(settings.dataDir)) !== undefined;
  const etcd = settings.etcd && (await openEtcdLocation(settings.etcd));
  const encryption = settings.encryptSecrets ? await secretEncryption(clusterPaths(settings.dataDir).pki) : undefined;
  const chosen = {
    storeMustExist,
    ...(quotaBytes && { quotaBytes }),
    ...(etcd && { etcd }),
    ...(audit && { audit }),
    ...(encryption && { encryption }),
  };
  return startControlPlane({ ...base, ...chosen }, deps);
}

async function beginRegistry(
  { registryPort: port, dataDir }: ClusterSettings,
  { endpoint }: ClusterNodes,
  plane: PlaneAccess,
  deps: StartDeps,
): Promise<void> {
  if (port === undefined || !endpoint?.sockets) return;
  const { startRegistry } = await import('./add-ons/registry-addon.ts');
  const registry = await startRegistry({ port, dataDir, plane, sockets: endpoint.sockets }, deps);
  deps.undo.push(() => registry.stop());
}

/** Goes on while the nodes boot, which take longer. */
function beginStorage({ storage, dataDir, runtime }: ClusterSettings, plane: PlaneAccess, deps: StartDeps): Promise<unknown> {
  if (storage === 'none') return Promise.resolve();
  const started = import('./add-ons/storage-addon.ts').then(({ startStorage }) =>
    startStorage({ plane, dataDir, simulated: runtime === 'simulated' }, deps),
  );
  const settled = started.catch(() => undefined);
  deps.undo.push(async () => (await settled)?.stop());
  return started;
}

function controlPlaneOptions(
  settings: ClusterSettings,
  pki: ClusterPki,
  endpoint: ControlPlaneEndpoint | undefined,
  nodes: () => ClusterNodes | undefined,
): ControlPlaneOptions {
  const { dataDir, port, topology, podCidr, metrics, machine, componentArgs } = settings;
  return {
    ...(componentArgs && { componentArgs }),
    dataDir,
    ...(metrics && { metrics }),
    nodeStats: (name) => nodes()?.stats(name),
    podCidr,
    pki,
    port,
    advertiseAddress: machine?.advertiseAddress ?? endpoint?.advertised.address ?? '127.0.0.1',
    ...(machine && { joinable: true, names: { dnsNames: [hostname()], ips: [] } }),
    ...(endpoint && { advertisePort: endpoint.advertised.port, names: endpoint.names }),
    ...(endpoint && topology === 'managed' && { socket: clusterPaths(dataDir).apiSocket }),
    ...(!machine && {
      dialKubelet: (target, signal) =>
        nodes()?.dial(target, signal) ??
        Promise.reject(new Error(settings.nodes.length > 0 ? 'the nodes have not started yet' : 'this cluster has no nodes')),
    }),
  };
}

const cloudTitle = ({ nodes, runtime, cloudProvider, cloudEmulator }: ClusterSettings): string =>
  [
    `${cloudEmulator ? `emulated ${cloudEmulator}` : 'cloud'} with ${nodes.length} ${runtime === 'simulated' ? 'simulated ' : ''}instance${nodes.length === 1 ? '' : 's'}`,
    ...(cloudProvider === 'local' ? ['cloud-controller-manager'] : []),
  ].join(', ');

/** Without a network of pods no node is Ready: it is enough that its kubelet says so. */
const arrivalOf = ({ cni, runtime }: ClusterSettings) =>
  cni === 'none' && runtime !== 'simulated' ? isHeardSince : isNodeReadySince;

/** `bootTimes`: since when the word of each node's kubelet counts. */
async function nodesReady(
  plane: PlaneAccess,
  bootTimes: ReadonlyMap<string, number>,
  arrived: (node: Node, sinceMs: number) => boolean,
  deps: StartDeps,
): Promise<void> {
  const informers = createInformerFactory({ ...deps, client: plane.client(identities.admin, 'sagong') });
  const nodes = informers.informer<Node>({ group: '', version: 'v1', resource: 'nodes' });
  informers.start();
  const waiting = (all: readonly Node[]): string[] =>
    [...bootTimes].flatMap(([name, sinceMs]) =>
      all.some((node) => node.metadata.name === name && arrived(node, sinceMs)) ? [] : [name],
    );
  try {
    await informers.waitForSync(deps.signal);
    await waitFor(nodes, (all) => waiting(all).length === 0, {
      clock: deps.clock,
      timeoutMs: nodesReadyTimeoutMs,
      signal: deps.signal,
      complaint: (all) =>
        `not Ready after ${nodesReadyTimeoutMs / 1000} s: ${waiting(all).join(', ')}; see the logs below the cluster's data directory`,
    });
  } finally {
    informers.stop();
  }
}
