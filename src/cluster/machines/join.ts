// `sagong join` and `sagong leave`: this machine becomes a node of a cluster, and stops being one. The flow is kubeadm's: the way in is discovered by
// address, token and hash; the kubelet gets its certificate by TLS bootstrap; everything else follows from that identity.
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { connect, createServer } from 'node:net';
import type { Node } from '#api/core/v1';
import { isNotFound } from '#apimachinery/errors';
import { createClient, createRestTransport, type KubeClient, loadClientConfig } from '#client';
import { userAgent } from '#component-base';
import { removeTree } from '#host';
import type { Clock, Logger } from '#utils';
import { obstacles } from '../capabilities.ts';
import { parseRegistryMirror } from '../nodes/index.ts';
import { stopProcess } from '../run-state.ts';
import { clusterNetworks } from '../settings.ts';
import { isNodeReadySince } from '../wait.ts';
import { type Discovered, discover } from './discovery.ts';
import { joinTimeoutMs } from './limits.ts';
import { loadMachine, type MachineSettings, machinePaths, prepareMachine, writeAgentConfig } from './machine.ts';
import { machineLinks } from './network/index.ts';
import { powerOff, type RunningMachine, startMachine } from './power.ts';

export interface JoinOptions {
  /** Absolute; of this machine's node. */
  dir: string;
  /** Absent: as before. */
  endpoint?: string;
  token?: string;
  hashes?: readonly string[];
  /** Believe whoever knows the token. */
  skipHashes?: boolean;
  nodeName?: string | undefined;
  nodeIp?: string | undefined;
  registryMirrors?: readonly string[];
  /** How to run this program. */
  program: readonly string[];
}

export interface JoinDeps {
  clock: Clock;
  logger: Logger;
  signal?: AbortSignal;
}

const kubeletPort = 10_250;
const readyPollMs = 200;
const nodesResource = { group: '', version: 'v1', resource: 'nodes' };

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

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '0.0.0.0' }, () => server.close(() => resolve(true)));
  });

/** Rejects with all that keeps this machine from being a node. */
export async function preflight(): Promise<void> {
  const why = await obstacles();
  if (why.length > 0) throw new Error(`this machine cannot be a node: ${why.join('; ')}`);
  if (!(await isFree(kubeletPort)))
    throw new Error(`port ${kubeletPort} of this machine is in use: is it a node of another cluster already?`);
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

async function settingsFor(options: JoinOptions, { server }: Discovered, podCidr: string): Promise<MachineSettings> {
  const { host, port } = hostAndPort(server);
  const nodeIp = options.nodeIp ?? (await addressTowards(host, port));
  if (!(await machineLinks()).some(({ cidr }) => cidr.startsWith(`${nodeIp}/`)))
    throw new Error(`${nodeIp} is no IPv4 address of this machine; choose one with --node-ip`);
  const registryMirrors = (options.registryMirrors ?? []).map(parseRegistryMirror);
  return { nodeName: nodeNameOf(options.nodeName), nodeIp, server, podCidr, registryMirrors };
}

/** What kubeadm keeps of a cluster: where its pods are. */
async function podCidrOf({ server, ca }: Discovered, token: string, clock: Clock): Promise<string> {
  const client = createClient(createRestTransport({ config: { server, ca, token }, clock, userAgent: userAgent('sagong') }));
  try {
    const { data = {} } = await client
      .resource<{ metadata: object; data?: Record<string, string> }>(
        { group: '', version: 'v1', resource: 'configmaps' },
        'kube-system',
      )
      .get('kubeadm-config');
    return /podSubnet: *"?([\d./]+)/.exec(data['ClusterConfiguration'] ?? '')?.[1] ?? clusterNetworks.podCidr;
  } finally {
    client.close();
  }
}

/** Makes this machine a node; resolves when it is Ready. Once joined, it only starts again what the machine runs. */
export async function join(options: JoinOptions, deps: JoinDeps): Promise<RunningMachine & { settings: MachineSettings }> {
  const { dir } = options;
  const { clock, signal } = deps;
  const before = await loadMachine(dir);
  if (before && options.endpoint !== undefined && new URL(before.server).host !== new URL(`https://${options.endpoint}`).host)
    throw new Error(`this machine is a node of ${before.server} already; leave it first: sagong leave --data-dir ${dir}`);
  if (!before) await preflight();
  const settings = before ?? (await firstJoin(options, deps));
  if (before) await writeAgentConfig(dir, before);
  const startedMs = clock.now();
  const machine = await startMachine(dir, options.program, deps);
  try {
    await untilReady(dir, settings, startedMs, clock, signal);
  } catch (error) {
    await machine.stop();
    throw error;
  }
  await rm(machinePaths(dir).bootstrapKubeconfig, { force: true }).catch(() => {});
  return { ...machine, settings };
}

async function firstJoin(options: JoinOptions, { clock, signal }: JoinDeps): Promise<MachineSettings> {
  const { endpoint, token, hashes = [], skipHashes = false } = options;
  if (endpoint === undefined || token === undefined)
    throw new Error(
      'this machine is no node yet: give the endpoint of a cluster, and --token (sagong token create --print-join-command)',
    );
  if (hashes.length === 0 && !skipHashes)
    throw new Error(
      'give --discovery-token-ca-cert-hash, or --discovery-token-unsafe-skip-ca-verification to believe whoever knows the token',
    );
  const found = await discover({ endpoint, token, hashes }, clock, signal);
  const settings = await settingsFor(options, found, await podCidrOf(found, token, clock));
  await prepareMachine(options.dir, settings, found.ca, token);
  return settings;
}

/** As the kubelet; undefined while it has no identity. */
function nodeClient(dir: string, clock: Clock): KubeClient | undefined {
  const { kubeconfig } = machinePaths(dir);
  if (!existsSync(kubeconfig)) return undefined;
  const config = loadClientConfig(kubeconfig, {});
  return createClient(createRestTransport({ config, clock, userAgent: userAgent('sagong') }));
}

async function untilReady(
  dir: string,
  { nodeName }: MachineSettings,
  sinceMs: number,
  clock: Clock,
  signal?: AbortSignal,
): Promise<void> {
  const deadlineMs = clock.monotonic() + joinTimeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const client = nodeClient(dir, clock);
    const node = await client
      ?.resource<Node>(nodesResource)
      .get(nodeName)
      .catch(() => undefined);
    client?.close();
    if (node && isNodeReadySince(node, sinceMs)) return;
    if (clock.monotonic() > deadlineMs)
      throw new Error(`the node ${nodeName} is not Ready after ${joinTimeoutMs / 1000} s; see ${machinePaths(dir).agentLog}`);
    await clock.sleep(readyPollMs, signal);
  }
}

/** Undoes all that join did: the Node, what runs, rules, routes, files. Gives what could not be undone, in sentences. */
export async function leave(dir: string, clock: Clock): Promise<string[]> {
  const settings = await loadMachine(dir);
  if (!settings) throw new Error(`there is no node in ${dir}`);
  const left: string[] = [];
  await stopProcess(dir, clock);
  // First, for a kubelet that runs would make the Node again.
  await powerOff(dir, clock);
  const client = nodeClient(dir, clock);
  await client
    ?.resource<Node>(nodesResource)
    .delete(settings.nodeName)
    .catch((error: unknown) => {
      if (!isNotFound(error)) left.push(`the Node ${settings.nodeName} is still in the cluster: ${(error as Error).message}`);
    });
  client?.close();
  await removeTree(dir);
  return left;
}
