// `sagong up`: a whole cluster in this process and on the nodes beside it.
import { appendFile } from 'node:fs/promises';
import { inDomain, Supervisor } from '#component-base';
import { ensureDir, execCommand } from '#host';
import type { ControlPlane, PlaneAccess } from '../control-plane.ts';
import type { ClusterPki } from '../certificates/certificates.ts';
import { settle } from './choices.ts';
import { controlRoutes } from './control-routes.ts';
import { serveControl } from '../control-socket.ts';
import { rememberDir } from '../state/elsewhere.ts';
import type { ClusterNodes } from '../cluster-nodes/cluster-nodes.ts';
import { ownMachineDir } from '../machines/choice.ts';
import { containerdPaths } from '../nodes/index.ts';
import { assertSocketPaths, clusterPaths, clustersHome, isUntouched, nodeDir } from '../state/paths.ts';
import { renewAging } from '../renewal/renewal.ts';
import { assertNotRunning, claimRunState, removeRunState } from '../state/run-state.ts';
import { type ClusterSettings, loadSettings, nodesOf, saveSettings } from '../state/settings.ts';
import { arrivalOf, nodesReady } from './nodes-ready.ts';
import { certificatesOf, controlPlaneOptions, remoteOf, startOwnPlane } from './plane.ts';
import type { RunningCluster, StartDeps, UpDeps, UpOptions } from './types.ts';
import { startFailure } from './start-failure.ts';
import { UserAccess } from '../access/user-access.ts';

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
  await claimRunState(dataDir, { pid: process.pid, startedAtMs, ready: false });
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
    if (settings.controlPlanes) await (await import('../control-planes/begin.ts')).beginPlanes(options, deps);
    const supervisor = new Supervisor(deps);
    return await start(options, settings, { ...deps, supervisor, isFirst, startedAtMs, undo, stop });
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
  const { removeStart } = await import('../state/removal.ts');
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

/** Resolves when the nodes are Ready, and says of which it goes on without. */
async function awaitNodes(nodes: ClusterNodes, plane: PlaneAccess, kept: ClusterSettings, deps: StartDeps): Promise<void> {
  const silent = await deps.progress.step(kept.cni === 'none' ? 'nodes' : 'nodes Ready', async () => {
    // One that was broken since does not keep the others of its cluster from starting.
    const without = await nodes.kubeletsAnswer(deps.isFirst, deps.signal);
    await nodesReady(plane, await nodes.bootTimes(without), arrivalOf(kept), deps).then(() => nodes.mark(plane));
    return without;
  });
  for (const why of silent.values()) deps.progress.say(`   the cluster runs without a node: ${why}`);
}

async function start(options: UpOptions, settings: ClusterSettings, deps: StartDeps): Promise<RunningCluster> {
  const { progress, undo } = deps;
  const pki = await certificatesOf(settings, progress);
  const makeNodes = async (): Promise<ClusterNodes> => {
    const { ClusterNodes } = await import('../cluster-nodes/cluster-nodes.ts');
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
  const beside = async (): Promise<RunningCluster> => {
    if (hasCloud) nodes ??= await makeNodes();
    return startBeside(options, settings, { pki, own, plane, nodes, booted }, deps);
  };
  return inDomain(undefined, beside);
}

interface Begun {
  pki: ClusterPki;
  /** Absent: the control plane is on machines. */
  own: ControlPlane | undefined;
  plane: PlaneAccess;
  nodes: ClusterNodes | undefined;
  /** Machines that boot since before the control plane was there. */
  booted: Promise<void> | undefined;
}

/** Starts all that is beside the control plane. */
async function startBeside(
  options: UpOptions,
  settings: ClusterSettings,
  { pki, own, plane, nodes, booted }: Begun,
  deps: StartDeps,
): Promise<RunningCluster> {
  const { progress, undo, startedAtMs } = deps;
  const paths = clusterPaths(settings.dataDir);
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
    await awaitNodes(nodes, plane, kept, deps);
  }
  if (kept.machine) {
    const { startFirstMachine } = await import('../machines/first.ts');
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

async function beginRegistry(
  { registryPort: port, dataDir }: ClusterSettings,
  { endpoint }: ClusterNodes,
  plane: PlaneAccess,
  deps: StartDeps,
): Promise<void> {
  if (port === undefined || !endpoint?.sockets) return;
  const { startRegistry } = await import('../add-ons/registry-addon.ts');
  const registry = await startRegistry({ port, dataDir, plane, sockets: endpoint.sockets }, deps);
  deps.undo.push(() => registry.stop());
}

/** Goes on while the nodes boot, which take longer. */
function beginStorage({ storage, dataDir, runtime }: ClusterSettings, plane: PlaneAccess, deps: StartDeps): Promise<unknown> {
  if (storage === 'none') return Promise.resolve();
  const started = import('../add-ons/storage-addon.ts').then(({ startStorage }) =>
    startStorage({ plane, dataDir, simulated: runtime === 'simulated' }, deps),
  );
  const settled = started.catch(() => undefined);
  deps.undo.push(async () => (await settled)?.stop());
  return started;
}

const cloudTitle = ({ nodes, runtime, cloudProvider, cloudEmulator }: ClusterSettings): string =>
  [
    `${cloudEmulator ? `emulated ${cloudEmulator}` : 'cloud'} with ${nodes.length} ${runtime === 'simulated' ? 'simulated ' : ''}instance${nodes.length === 1 ? '' : 's'}`,
    ...(cloudProvider === 'local' ? ['cloud-controller-manager'] : []),
  ].join(', ');
