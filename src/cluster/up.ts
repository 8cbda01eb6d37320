// `sagong up`: a whole cluster in this process and on the nodes beside it.
import { mkdir, readFile } from 'node:fs/promises';
import type { Node } from '#api/core/v1';
import { createInformerFactory, kubeconfigFor, writeKubeconfig } from '#client';
import { execCommand } from '#host';
import { parseUpstream, runDns, upstreamsOf } from '#dns';
import type { Clock, Logger, Rng } from '#utils';
import type { Dial } from '#wire';
import { obstacles } from './capabilities.ts';
import { openPki } from './certificates.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { grantDns, publishDns } from './dns-addon.ts';
import { serveExplanations } from './explain.ts';
import { identities } from './identities.ts';
import { lan, parseRegistryMirror } from './nodes/index.ts';
import { clusterPaths } from './paths.ts';
import type { Progress } from './progress.ts';
import { apiServerPort, RealNodes } from './real-nodes.ts';
import { removeRunState, runningProcess, writeRunState } from './run-state.ts';
import {
  type ClusterSettings,
  clusterNetworks,
  loadSettings,
  nodeNames,
  type RuntimeChoice,
  saveSettings,
  type UplinkChoice,
} from './settings.ts';
import { type SimulatedNodes, startSimulatedNodes } from './simulated-nodes.ts';
import { addUserContext } from './user-kubeconfig.ts';
import { isNodeReadySince, waitFor } from './wait.ts';

export interface UpOptions {
  name: string;
  /** Absolute. */
  dataDir: string;
  /** Absent: as before, or 1. */
  nodes?: number;
  runtime: 'auto' | RuntimeChoice;
  /** Absent or 0: as before, or a free one. */
  port?: number;
  /** Absent: as before, or auto. */
  uplink?: UplinkChoice;
  /** `address[:port]`; absent: as before, or the machine's name servers. */
  dnsUpstreams?: readonly string[];
  /** `[registry=]url`; absent: as before, or none. */
  registryMirrors?: readonly string[];
  /** How to run this program, for node agents. */
  program: readonly string[];
  /** Leave the user's kubeconfig alone. */
  keepKubeconfig?: boolean;
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
  readonly plane: ControlPlane;
  readonly kubeconfig: string;
  readonly nodes: RealNodes | undefined;
  stop(): Promise<void>;
}

const nodesReadyTimeoutMs = 90_000;

/** Chooses between real and simulated nodes; throws when real ones were asked for and cannot be had. */
function chooseRuntime(wanted: UpOptions['runtime'], before: RuntimeChoice | undefined, progress: Progress): RuntimeChoice {
  if (wanted === 'simulated') return 'simulated';
  const why = obstacles();
  if (why.length === 0) return wanted === 'auto' ? (before ?? 'containerd') : 'containerd';
  if (wanted === 'containerd') throw new Error(`real nodes cannot run here: ${why.join('; ')}`);
  if (before === 'containerd') throw new Error(`this cluster has real nodes, which cannot run here: ${why.join('; ')}`);
  progress.say(`   nodes are SIMULATED, pods are not real processes (${why.join('; ')})`);
  return 'simulated';
}

async function settle(options: UpOptions, progress: Progress): Promise<ClusterSettings> {
  const before = await loadSettings(options.dataDir);
  const nodes =
    options.nodes === undefined ? (before?.nodes ?? nodeNames(options.name, 1)) : nodeNames(options.name, options.nodes);
  const runtime =
    nodes.length === 0
      ? (before?.runtime ?? 'simulated')
      : chooseRuntime(options.runtime, before?.nodes.length ? before.runtime : undefined, progress);
  const dnsUpstreams = [...(options.dnsUpstreams ?? before?.dnsUpstreams ?? [])];
  const registryMirrors = [...(options.registryMirrors ?? before?.registryMirrors ?? [])];
  // Better said now than with half a cluster running.
  dnsUpstreams.forEach(parseUpstream);
  registryMirrors.forEach(parseRegistryMirror);
  return {
    name: before?.name ?? options.name,
    dataDir: options.dataDir,
    nodes,
    runtime,
    port: options.port || (before?.port ?? 0),
    uplink: options.uplink ?? before?.uplink ?? 'auto',
    dnsUpstreams,
    registryMirrors,
  };
}

/** Starts the cluster; resolves when its nodes are Ready. Whatever was started is stopped again when that fails. */
export async function up(options: UpOptions, deps: UpDeps): Promise<RunningCluster> {
  const { dataDir } = options;
  const { progress, clock } = deps;
  const other = await runningProcess(dataDir);
  if (other && other.pid !== process.pid)
    throw new Error(
      `the cluster in ${dataDir} is already running (process ${other.pid}); stop it with: sagong stop --data-dir ${dataDir}`,
    );
  await mkdir(clusterPaths(dataDir).logs, { recursive: true, mode: 0o700 });
  const settings = await settle(options, progress);
  const startedAtMs = clock.now();
  await writeRunState(dataDir, { pid: process.pid, startedAtMs, ready: false });
  const undo: (() => Promise<void> | void)[] = [];
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
    await removeRunState(dataDir);
  };
  try {
    return await start(options, settings, { ...deps, startedAtMs, undo, stop });
  } catch (error) {
    await stop().catch((second: unknown) => deps.logger.error('clean-up failed', { error: String(second) }));
    throw error;
  }
}

interface StartDeps extends UpDeps {
  startedAtMs: number;
  undo: (() => Promise<void> | void)[];
  stop(): Promise<void>;
}

async function start(options: UpOptions, settings: ClusterSettings, deps: StartDeps): Promise<RunningCluster> {
  const { dataDir } = settings;
  const { progress, undo } = deps;
  const paths = clusterPaths(dataDir);
  const real =
    settings.runtime === 'containerd' && settings.nodes.length > 0
      ? new RealNodes(
          {
            dataDir,
            names: settings.nodes,
            program: options.program,
            uplink: settings.uplink ?? 'auto',
            registryMirrors: (settings.registryMirrors ?? []).map(parseRegistryMirror),
          },
          { ...deps, exec: execCommand },
        )
      : undefined;
  let simulated: SimulatedNodes | undefined;
  const dialKubelet: Dial = async (target, signal) => {
    if (real) return real.lan.connect(target.host, target.port);
    if (simulated) return simulated.dial(target, signal);
    throw new Error('this cluster has no nodes yet');
  };
  const pki = await openPki(paths.pki);
  const booted = real?.boot();
  if (real) undo.push(() => real.stop());
  booted?.catch(() => {});
  const plane = await progress.step('control plane', () =>
    startControlPlane(
      {
        dataDir,
        pki,
        port: settings.port,
        advertiseAddress: real ? lan.gateway : '127.0.0.1',
        ...(real && { advertisePort: apiServerPort }),
        dialKubelet,
      },
      deps,
    ),
  );
  undo.push(() => plane.stop());
  await plane.apiserver.started;
  const kept = { ...settings, port: Number(new URL(plane.apiserver.url).port) };
  await saveSettings(kept);
  await writeRunState(dataDir, { pid: process.pid, startedAtMs: deps.startedAtMs, server: plane.apiserver.url, ready: false });
  const kubeconfig = kubeconfigFor(kept.name, plane.clientConfig(identities.admin));
  await writeKubeconfig(paths.kubeconfig, kubeconfig);
  if (!options.keepKubeconfig) await addUserContext(kubeconfig, options.env);
  await plane.startLoops();
  const explanations = await serveExplanations(plane, paths.explainSocket, deps.logger);
  undo.push(() => void explanations.close());
  if (real && booted)
    await progress.step(
      `${kept.nodes.length} node${kept.nodes.length === 1 ? '' : 's'}: namespaces and containerd`,
      () => booted,
    );
  if (real?.noUplink) progress.say(`   nodes have no way out of this machine (${real.noUplink})`);
  if (real) await connectNodes(real, kept, plane, pki, deps);
  else if (kept.nodes.length > 0) {
    simulated = await startSimulatedNodes(plane, kept.nodes, { ...deps, pki });
    undo.push(() => simulated?.stop());
  }
  if (kept.nodes.length > 0) await progress.step('nodes Ready', () => nodesReady(plane, kept.nodes, deps));
  await writeRunState(dataDir, { pid: process.pid, startedAtMs: deps.startedAtMs, server: plane.apiserver.url, ready: true });
  return { settings: kept, plane, kubeconfig: paths.kubeconfig, nodes: real, stop: deps.stop };
}

/** The apiserver and the name server appear in the nodes' network; then the agents start. */
async function connectNodes(
  real: RealNodes,
  { dnsUpstreams = [] }: ClusterSettings,
  plane: ControlPlane,
  pki: Awaited<ReturnType<typeof openPki>>,
  deps: StartDeps,
): Promise<void> {
  await plane.serveOn({ handle: await real.lan.listen(lan.gateway, apiServerPort) });
  await grantDns(plane.client(identities.admin, 'sagong'));
  const informers = createInformerFactory({ ...deps, client: plane.client(identities.dns, 'coredns') });
  const [udp, tcp] = [await real.lan.bindUdp(lan.gateway, 53), await real.lan.listen(lan.gateway, 53)];
  const upstreams =
    dnsUpstreams.length > 0
      ? dnsUpstreams.map(parseUpstream)
      : upstreamsOf(await readFile('/etc/resolv.conf', 'utf8').catch(() => ''), [lan.gateway]);
  const dns = runDns({ sockets: { udp, tcp }, informers, clock: deps.clock, domain: clusterNetworks.domain, upstreams });
  informers.start();
  deps.undo.push(() => {
    informers.stop();
    dns.close();
  });
  await publishDns(plane.client(identities.admin, 'sagong'), lan.gateway);
  await real.startAgents(plane, pki);
}

async function nodesReady(plane: ControlPlane, names: readonly string[], deps: StartDeps): Promise<void> {
  const informers = createInformerFactory({ ...deps, client: plane.client(identities.admin, 'sagong') });
  const nodes = informers.informer<Node>({ group: '', version: 'v1', resource: 'nodes' });
  informers.start();
  const waiting = (all: readonly Node[]): string[] =>
    names.filter((name) => !all.some((node) => node.metadata.name === name && isNodeReadySince(node, deps.startedAtMs)));
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
