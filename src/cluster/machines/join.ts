// `sagong join`: this machine becomes a node of a cluster, and with --control-plane a part of its control plane. The flow is kubeadm's: the way in is
// discovered by address, token and hash; the kubelet gets its certificate by TLS bootstrap; everything else follows from that identity.
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { connect } from 'node:net';
import type { Node } from '#api/core/v1';
import { createClient, createRestTransport } from '#client';
import { userAgent } from '#component-base';
import { removeTree } from '#host';
import type { Clock, Logger, Rng } from '#utils';
import { obstacles } from '../capabilities.ts';
import { containerdPaths, parseRegistryMirror } from '../nodes/index.ts';
import { assertSocketPaths } from '../state/paths.ts';
import { assertPortsFree } from '../port-holder.ts';
import { loadSettings } from '../state/settings.ts';
import { isNodeReadySince } from '../state/wait.ts';
import type { Discovered } from './cluster-info.ts';
import { discover } from './discovery.ts';
import { joinTimeoutMs } from './limits.ts';
import { loadMachine, type MachineSettings, machinePaths, prepareMachine, saveMachine } from './machine.ts';
import { assertNameFree, assertOwnNode, NameTakenError } from './name-taken.ts';
import { machineLinks } from './network/index.ts';
import { nodeClient, nodeConfig, nodeDial, nodesResource } from './node-client.ts';
import { type RunningMachine, startMachine } from './power.ts';
import { type Published, readPublished } from './published.ts';

export interface JoinOptions {
  /** Absolute; of this machine's node. */
  dir: string;
  /** Absent: as before. */
  endpoint?: string | undefined;
  token?: string | undefined;
  hashes?: readonly string[];
  /** Trust any server that knows the token. */
  skipHashes?: boolean | undefined;
  nodeName?: string | undefined;
  nodeIp?: string | undefined;
  registryMirrors?: readonly string[] | undefined;
  /** Flags of the kubelet, as words of a command line. */
  kubeletArgs?: readonly string[];
  /** The apiserver that this machine's programs ask; absent: the one that the cluster names. */
  serveBy?: string;
  /** Become a further control plane: the key of the uploaded certificates. */
  certificateKey?: string | undefined;
  /** How to run this program. */
  program: readonly string[];
}

export interface JoinDeps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
  signal?: AbortSignal;
  /** Called with sentences that say what the join waits for. */
  tell?: (sentence: string) => void;
}

const kubeletPort = 10_250;
const readyPollMs = 200;

/** The address by which this machine reaches another one. */
export function addressTowards(host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    socket.once('connect', () => {
      const { localAddress = '' } = socket;
      socket.destroy();
      resolve(localAddress);
    });
    socket.once('error', reject);
  });
}

/** Rejects with all that keeps this machine from being a node. */
export async function preflight(): Promise<void> {
  const why = await obstacles();
  if (why.length > 0) throw new Error(`this machine cannot be a node: ${why.join('; ')}`);
  await assertPortsFree([kubeletPort], 'a kubelet');
}

function nodeNameOf(given: string | undefined): string {
  const name = (given ?? hostname()).toLowerCase();
  if (name.length > 253 || !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name))
    throw new Error(`${JSON.stringify(name)} cannot be the name of a node; choose one with --node-name`);
  return name;
}

function hostAndPort(server: string): { host: string; port: number } {
  const { hostname: host, port } = new URL(server);
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port || 443) };
}

interface Found extends Discovered {
  published: Published;
}

async function settingsFor(options: JoinOptions, { server: theirs, published }: Found): Promise<MachineSettings> {
  const { serveBy: server = theirs, kubeletArgs = [] } = options;
  const { host, port } = hostAndPort(server);
  const nodeIp = options.nodeIp ?? (await addressTowards(host, port));
  if (!(await machineLinks()).some(({ cidr }) => cidr.startsWith(`${nodeIp}/`)))
    throw new Error(`${nodeIp} is no IPv4 address of this machine; choose one with --node-ip`);
  const registryMirrors = (options.registryMirrors ?? []).map(parseRegistryMirror);
  const { podCidr, proxyMode, networkPolicy } = published;
  const settings = { nodeName: nodeNameOf(options.nodeName), nodeIp, server, podCidr, registryMirrors, proxyMode, networkPolicy };
  return { ...settings, ...(kubeletArgs.length > 0 && { kubeletArgs }) };
}

/** What the cluster decides for all machines may have changed while this one was off. */
async function refreshed(dir: string, before: MachineSettings, clock: Clock): Promise<MachineSettings> {
  const config = nodeConfig(dir);
  const published = config && (await readPublished(config, clock, nodeDial(dir, config, clock)).catch(() => undefined));
  if (!published) return before;
  const { podCidr, proxyMode, networkPolicy } = published;
  return { ...before, podCidr, proxyMode, networkPolicy };
}

/** Makes this machine a node; resolves when it is Ready. Once joined, it only starts again what the machine runs. */
export async function join(options: JoinOptions, deps: JoinDeps): Promise<RunningMachine & { settings: MachineSettings }> {
  const { dir, endpoint } = options;
  const before = await loadMachine(dir);
  if (!before && (await loadSettings(dir)))
    throw new Error(`there is a cluster in ${dir}: a node that joins another one needs another --data-dir`);
  if (before && endpoint !== undefined && !isOf(before, endpoint))
    throw new Error(`this machine is a node of ${before.server} already; leave it first: sagong leave --data-dir ${dir}`);
  if (before && options.certificateKey !== undefined && !before.controlPlane)
    throw new Error(`this machine is a node already; to make it a control plane, leave first: sagong leave --data-dir ${dir}`);
  if (before) return startAgain(options, before, deps);
  await assertKubeletArgs(options.kubeletArgs);
  assertSocketPaths(dir, [containerdPaths(dir).ttrpcSocket]);
  await preflight();
  const found = await wayIn(options, deps);
  const settings = await settingsFor(options, found);
  await assertOwnName(options, found, settings, deps.clock);
  if (options.certificateKey === undefined) return startNode(options, { ...found, settings }, deps);
  const { joinControlPlane } = await import('./join-control-plane.ts');
  const { certificateKey: key } = options;
  const joined = await joinControlPlane(options, { ...found, settings, certificateKey: key, token: options.token ?? '' }, deps);
  try {
    const { stop } = await run(options, joined.settings, deps, async (node) => {
      assertOwnNode(node, joined.settings);
      await joined.mark();
    });
    return together({ settings: joined.settings, stop }, joined.stop);
  } catch (error) {
    await joined.undo();
    throw error;
  }
}

/** The Node of the first machine may be its own: its data was restored. */
async function assertOwnName(
  { serveBy, token = '' }: JoinOptions,
  { server, ca }: Found,
  { nodeName, nodeIp }: MachineSettings,
  clock: Clock,
): Promise<void> {
  const client = createClient(createRestTransport({ config: { server, ca, token }, clock, userAgent: userAgent('sagong') }));
  await assertNameFree(client, nodeName, serveBy === undefined ? undefined : nodeIp).finally(() => client.close());
}

async function assertKubeletArgs(words: readonly string[] = []): Promise<void> {
  if (words.length > 0) await (await import('../component-args/tables.ts')).checkComponentArgs({ kubelet: words }, () => false);
}

const isOf = ({ server, controlPlane }: MachineSettings, endpoint: string): boolean =>
  [new URL(server).host, controlPlane?.endpoint].includes(new URL(`https://${endpoint}`).host);

type Joined = RunningMachine & { settings: MachineSettings };

const together = ({ settings, stop }: Joined, stopPlane: () => Promise<void>): Joined => ({
  settings,
  async stop() {
    await stop();
    await stopPlane();
  },
});

async function startNode(options: JoinOptions, found: Found & { settings: MachineSettings }, deps: JoinDeps): Promise<Joined> {
  const { settings, ca } = found;
  // What a join as control plane may have left that was cut off: a node alone has no authorities.
  await removeTree(machinePaths(options.dir).certificates);
  await prepareMachine(options.dir, settings, ca, options.token ?? '');
  try {
    const { stop } = await run(options, settings, deps, async (node) => assertOwnNode(node, settings));
    return { settings, stop };
  } catch (error) {
    if (error instanceof NameTakenError) await forgetNode(options.dir);
    throw error;
  }
}

/** The Node is another machine's: nothing that is kept here may ever take it away. */
async function forgetNode(dir: string): Promise<void> {
  const { settings, agentConfig, bootstrapKubeconfig, kubeconfig, certificates, authority } = machinePaths(dir);
  for (const path of [kubeconfig, certificates, bootstrapKubeconfig, agentConfig, authority, settings]) await removeTree(path);
}

/** A join that was interrupted may go on with another token: that of before may be over. Whether it was. */
async function wasInterrupted({ dir, token }: JoinOptions, settings: MachineSettings): Promise<boolean> {
  const { bootstrapKubeconfig, authority } = machinePaths(dir);
  if (!existsSync(bootstrapKubeconfig)) return false;
  if (token !== undefined) await prepareMachine(dir, settings, await readFile(authority, 'utf8'), token);
  return true;
}

async function startAgain(options: JoinOptions, before: MachineSettings, deps: JoinDeps): Promise<Joined> {
  const { dir } = options;
  const interrupted = await wasInterrupted(options, before);
  const plane =
    before.controlPlane &&
    (await (await import('./join-control-plane.ts')).startControlPlaneAgain(options, before, interrupted, deps));
  try {
    const settings = await refreshed(dir, before, deps.clock);
    await saveMachine(dir, settings);
    const { stop } = await run(options, settings, deps, interrupted ? plane?.mark : undefined);
    return together({ settings, stop }, async () => plane?.stop());
  } catch (error) {
    await plane?.stop();
    throw error;
  }
}

/** `onceReady`: what is done with its Node when it is Ready. */
async function run(
  { dir, program }: JoinOptions,
  settings: MachineSettings,
  deps: JoinDeps,
  onceReady?: (node: Node) => Promise<void>,
): Promise<RunningMachine> {
  const { clock, signal } = deps;
  const startedMs = clock.now();
  const machine = await startMachine(dir, program, deps);
  try {
    await onceReady?.(await untilReady(dir, settings, startedMs, clock, signal));
  } catch (error) {
    await machine.stop();
    throw error;
  }
  await rm(machinePaths(dir).bootstrapKubeconfig, { force: true }).catch(() => {});
  return machine;
}

/** Finds the cluster, and checks that it is the one that was meant. */
async function wayIn(options: JoinOptions, deps: JoinDeps): Promise<Found> {
  const { endpoint, token, hashes = [], skipHashes = false } = options;
  if (endpoint === undefined || token === undefined)
    throw new Error(
      'this machine is no node yet: give the endpoint of a cluster, and --token (sagong token create --print-join-command)',
    );
  if (hashes.length === 0 && !skipHashes)
    throw new Error(
      'give --discovery-token-ca-cert-hash, or --discovery-token-unsafe-skip-ca-verification to believe whoever knows the token',
    );
  const found = await discover({ endpoint, token, hashes }, deps);
  return { ...found, published: await readPublished({ ...found, token }, deps.clock) };
}

async function untilReady(
  dir: string,
  settings: MachineSettings,
  sinceMs: number,
  clock: Clock,
  signal?: AbortSignal,
): Promise<Node> {
  const { nodeName } = settings;
  const deadlineMs = clock.monotonic() + joinTimeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const client = nodeClient(dir, clock);
    const node = await client
      ?.resource<Node>(nodesResource)
      .get(nodeName)
      .catch(() => undefined);
    client?.close();
    if (node && isNodeReadySince(node, sinceMs)) return node;
    if (clock.monotonic() > deadlineMs)
      throw new Error(`the node ${nodeName} is not Ready after ${joinTimeoutMs / 1000} s; see ${machinePaths(dir).agentLog}`);
    await clock.sleep(readyPollMs, signal);
  }
}
