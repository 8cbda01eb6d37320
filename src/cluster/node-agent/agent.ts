// All that runs on a real node besides pods: containerd, kubelet, kube-proxy, network policies and a name server, each with its own identity. The first and
// only program of an instance (its user data): a node that is switched off and on comes back by itself.
import { readFile } from 'node:fs/promises';
import type { Pod } from '#api/core/v1';
import { createEventRecorder, createInformerFactory } from '#client';
import { type Running, Supervisor } from '#component-base';
import { execCommand, watchFile } from '#host';
import { runKubeProxy } from '#kube-proxy';
import { defaultOptions, type KubeletOptions, runKubelet, serveHealthz } from '#kubelet';
import { type NetworkPolicyAgent, removePolicyRules, runNetworkPolicy } from '#network-policy';
import type { Clock, Logger, Rng } from '#utils';
import type { NodeKubelet } from '../component-args/apply.ts';
import type { ControlPlaneConfig } from '../control-planes/config.ts';
import { buildPauseImage, importArchive, importImage, pauseImageReference } from '../images/index.ts';
import { dnsNodeLabel } from '../add-ons/dns-label.ts';
import type { NodeAgentConfig } from '../nodes/node-agent-config.ts';
import { fileClients, type NodeClients } from '../nodes/clients.ts';
import { ContainerdService } from '../nodes/containerd.ts';
import { accepts } from '../nodes/processes.ts';
import { apiserverPollMs, kubeletHealthz, podPidsMax } from './limits.ts';
import { startNameServer } from './name-server.ts';
import { nodePlaces, prepareOwnRoot } from './places.ts';
import { controlPlaneTaint } from '../system-pods/names.ts';

export interface NodeAgentDeps {
  clock: Clock;
  rng: Rng;
  /** The logger of a component, by its name. */
  logger(component: string): Logger;
}

export interface NodeAgent {
  /** Stops kubelet, kube-proxy, network policies and name server; pods, containerd and packet rules stay. */
  stop(): Promise<void>;
}

export async function runNodeAgent(config: NodeAgentConfig, deps: NodeAgentDeps): Promise<NodeAgent> {
  const { clock } = deps;
  const mtu = config.machine && (await podMtu(config.nodeIp));
  if (config.ownRoot) await prepareOwnRoot(config, execCommand);
  const { cniBinDir, cniConfDir, registryHostsDir } = nodePlaces(config);
  const folders = { cniBinDir, cniConfDir, registryHostsDir };
  const containerd = new ContainerdService(
    { ...config, ...folders, sandboxImage: pauseImageReference, ...(mtu !== undefined && { podMtu: mtu }) },
    { clock, logger: deps.logger('containerd') },
  );
  const { pods } = config;
  await Promise.all([
    containerd.start().then(() => importImages(containerd.socket, pods?.image)),
    // What a node of the control plane would wait for, it has to start.
    pods?.controlPlane === undefined && apiserverAnswers(config, clock),
  ]);
  const supervisor = new Supervisor({ clock, logger: deps.logger('node-agent') });
  const clients = await clientsOf(config, deps);
  const given: Given = { config, clients, deps };
  const plane = pods?.controlPlane === undefined ? undefined : await startControlPlane(pods.controlPlane, deps);
  const names = pods
    ? undefined
    : await supervisor
        .run('coredns', () => startDns(given))
        .catch((error: unknown) => {
          deps.logger('coredns').error('this node answers no names', { error: String(error) });
        });
  const policies = await guardOf(given, supervisor);
  const kubelet = { socket: containerd.socket, answersNames: names !== undefined, podNetwork: policies?.podNetwork };
  const running = await Promise.all([
    ...(pods
      ? []
      : [
          supervisor.run('kube-proxy', (fail) => untilRenewed(config.kubeProxyKubeconfig, fail, startKubeProxy(given)), {
            retryFirst: true,
          }),
        ]),
    supervisor.run('kubelet', (fail) => untilRenewed(config.kubeletKubeconfig, fail, startKubelet(given, kubelet)), {
      retryFirst: true,
    }),
    ...(config.machine ? [supervisor.run('pod-network', () => startNetwork(given), { retryFirst: true })] : []),
  ]);
  return {
    async stop() {
      containerd.leave();
      await names?.stop();
      await Promise.all([...running, policies, plane].map(async (component) => component?.stop()));
      clients.close();
    },
  };
}

async function importImages(socket: string, systemImage: string | undefined): Promise<void> {
  await importImage({ socket, exec: execCommand }, buildPauseImage());
  if (systemImage !== undefined) await importArchive({ socket, exec: execCommand }, systemImage);
}

/** The static pods of a machine of the control plane. */
async function startControlPlane(path: string, deps: NodeAgentDeps): Promise<Running> {
  const { StaticPodsOfMachine } = await import('../system-pods/static-pods.ts');
  const config = JSON.parse(await readFile(path, 'utf8')) as ControlPlaneConfig;
  const pods = new StaticPodsOfMachine(config, { ...deps, logger: deps.logger('control-plane') });
  await pods.start();
  return pods;
}

/** A component of an instance reads its identity at its start: it is started again with a new one. A joined machine renews its own in place. */
async function untilRenewed(kubeconfig: string, fail: (error: Error) => void, starting: Promise<Running>): Promise<Running> {
  const running = await starting;
  const renewed = (): void => fail(new Error('it is started again: its certificate was renewed'));
  const watch = kubeconfig === '' ? undefined : watchFile(kubeconfig, renewed);
  return {
    async stop() {
      watch?.close();
      await running.stop();
    },
  };
}

/** A node may boot before its control plane; clients would wait longer and longer between their tries. */
async function apiserverAnswers({ apiserver, machine }: NodeAgentConfig, clock: Clock): Promise<void> {
  const accepted = async (): Promise<boolean> => {
    if (machine?.apiservers === undefined) return accepts(apiserver);
    const { anyAccepts, keptWays } = await import('../nodes/ways.ts');
    return anyAccepts([apiserver, ...(await keptWays(machine.apiservers))], clock);
  };
  while (!(await accepted())) await clock.sleep(apiserverPollMs);
}

/** What the components of one node share. */
interface Given {
  config: NodeAgentConfig;
  clients: NodeClients;
  deps: NodeAgentDeps;
}

/** A joined machine asks for its certificates, an instance of the cluster's cloud has them on its disk. */
async function clientsOf(config: NodeAgentConfig, deps: NodeAgentDeps): Promise<NodeClients> {
  if (!config.machine) return fileClients(config, deps);
  const { machineClients } = await import('../machines/clients.ts');
  const { host, port } = config.apiserver;
  const server = `https://${host}:${port}`;
  const ca = await readFile(config.clientCaFile, 'utf8');
  return machineClients(config, { server, ca }, { ...deps, logger: deps.logger('certificates') });
}

/** The MTU of pods: as large as the machine's own packets, because cards and tunnels of clouds have less than 1,500 bytes. */
async function podMtu(nodeIp: string): Promise<number | undefined> {
  const { machineLinks } = await import('../machines/network/index.ts');
  return (await machineLinks()).find(({ cidr }) => cidr.startsWith(`${nodeIp}/`))?.mtu;
}

/** Starts the pod network with kube-proxy's rights: a kubelet may see no Node but its own. */
async function startNetwork({ config: { nodeName, clusterCidr }, clients, deps }: Given): Promise<Running> {
  const { startPodNetwork } = await import('../machines/network/index.ts');
  const client = clients.client('kube-proxy');
  const shared = { ...deps, logger: deps.logger('pod-network'), client, exec: execCommand };
  const network = startPodNetwork({ nodeName, podCidr: clusterCidr }, shared);
  return {
    async stop() {
      await network.stop();
      client.close();
    },
  };
}

async function startKubeProxy({ config, clients, deps: { clock, rng, logger } }: Given): Promise<Running> {
  const deps = { clock, rng, logger: logger('kube-proxy') };
  const { nodeName, clusterCidr, proxyMode: mode } = config;
  const client = clients.client('kube-proxy');
  const informers = createInformerFactory({ ...deps, client });
  const recorder = createEventRecorder({ ...deps, client, component: 'kube-proxy', host: nodeName, api: 'events' });
  const { kubeProxyArgs = [] } = config;
  const ours = { nodeName, clusterCidr, mode };
  const options =
    kubeProxyArgs.length === 0 ? ours : await (await import('../component-args/apply.ts')).proxyWith(ours, kubeProxyArgs);
  const proxy = await runKubeProxy(options, { ...deps, informers, exec: execCommand, recorder });
  informers.start();
  return {
    async stop() {
      informers.stop();
      await proxy.stop();
      client.close();
    },
  };
}

type PodNetwork = (pod: Pod, ips: readonly string[]) => Promise<void>;

/** What enforces network policies, and lets pods start once their policies are in force; undefined where somebody else does, or nobody. */
async function guardOf(given: Given, supervisor: Supervisor): Promise<(Running & { podNetwork: PodNetwork }) | undefined> {
  if (given.config.networkPolicyKubeconfig === undefined) {
    await removePolicyRules(execCommand);
    return undefined;
  }
  const unit = await supervisor.run('network-policy', async () => startNetworkPolicy(given), {
    retryFirst: true,
  });
  return {
    async podNetwork(pod, ips) {
      if (!unit.current) throw new Error('what enforces network policies is about to be started again');
      await unit.current.agent.admit(pod, ips);
    },
    stop: () => unit.stop(),
  };
}

function startNetworkPolicy({
  config: { nodeName },
  clients,
  deps: { clock, rng, logger },
}: Given): Running & { agent: NetworkPolicyAgent } {
  const deps = { clock, rng, logger: logger('network-policy') };
  const client = clients.client('kube-network-policy');
  const informers = createInformerFactory({ ...deps, client });
  const recorder = createEventRecorder({ ...deps, client, component: 'kube-network-policy', host: nodeName, api: 'events' });
  const agent = runNetworkPolicy(nodeName, { ...deps, informers, exec: execCommand, recorder });
  informers.start();
  return {
    agent,
    async stop() {
      informers.stop();
      await agent.stop();
      client.close();
    },
  };
}

/** A machine's own network is also that of others, who have no business with the cluster's names. */
async function startGuests({ config: { nodeIp: own, clusterCidr: podCidr }, clients, deps }: Given) {
  const { startGuestList } = await import('../machines/network/guests.ts');
  const client = clients.client('kube-proxy');
  const guests = startGuestList({ own, podCidr }, { ...deps, logger: deps.logger('coredns'), client });
  return {
    serves: guests.serves,
    stop() {
      guests.stop();
      client.close();
    },
  };
}

/** Rejects where the port is taken: the node's pods then ask the name servers of other nodes. */
async function startDns({ config, clients, deps }: Given): Promise<Running> {
  const { nodeIp: address, clusterDomain: domain } = config;
  const client = clients.client('coredns');
  const guests = config.machine && (await startGuests({ config, clients, deps }));
  const own = { address, domain, client, ...(guests && { serves: guests.serves }) };
  const stop = await startNameServer(own, { ...deps, logger: deps.logger('coredns') }).catch((error: unknown) => {
    guests?.stop();
    throw error;
  });
  return {
    stop() {
      stop();
      guests?.stop();
      client.close();
    },
  };
}

async function startKubelet(
  { config, clients, deps }: Given,
  { socket, answersNames, podNetwork }: { socket: string; answersNames: boolean; podNetwork: PodNetwork | undefined },
): Promise<Running> {
  const { clock, rng, logger } = deps;
  const { cloudProvider, machine } = config;
  const { kubeletDir, podLogsDir, systemLogsDir, manifestsDir } = nodePlaces(config);
  const [pair, ca] = await Promise.all([clients.serving(), readFile(config.clientCaFile, 'utf8')]);
  const tls = { ...pair, ca };
  const client = clients.client('kubelet');
  const ours: KubeletOptions = {
    ...defaultOptions(config.nodeName),
    nodeIPs: [config.nodeIp],
    cloudProvider,
    routesFromCloud: cloudProvider === 'external',
    clusterDNS: [config.clusterDns],
    registerWithTaints: config.pods?.tainted ? [controlPlaneTaint] : [],
    nodeLabels: answersNames ? { [dnsNodeLabel]: 'true' } : {},
    clusterDomain: config.clusterDomain,
    rootDir: kubeletDir,
    podLogsDir,
    systemLogsDir,
    podManifestPath: manifestsDir,
    containerRuntimeEndpoint: `unix://${socket}`,
    podInfraImage: pauseImageReference,
    podPidsMax,
    ...(machine && { cgroupRoot: machine.cgroupRoot }),
  };
  const serving = {
    tls: { ...tls, requestClientCert: true },
    anonymous: false,
    tokenReview: true,
    authorization: 'Webhook' as const,
  };
  const settings = await kubeletSettingsOf(config, { options: ours, serving, healthz: kubeletHealthz });
  for (const warning of settings.warnings) logger('kubelet').warn(warning);
  const kubelet = await runKubelet(settings.options, {
    clock,
    rng,
    logger: logger('kubelet'),
    client,
    ...(podNetwork && { podNetwork }),
    ...(settings.serving && { serving: settings.serving }),
  });
  const renewal = clients.serves?.(kubelet, { ...settings.serving?.tls, ...tls });
  const health = await serveHealthz(settings.healthz, logger('kubelet'));
  return {
    async stop() {
      renewal?.close();
      await health?.close({ graceMs: 0 });
      await kubelet.close();
      client.close();
    },
  };
}

/** The kubelet's settings: a user's flags come before what the node decides. */
const kubeletSettingsOf = async (
  { kubeletArgs = [] }: NodeAgentConfig,
  ours: Omit<NodeKubelet, 'warnings'>,
): Promise<NodeKubelet> =>
  kubeletArgs.length === 0
    ? { ...ours, warnings: [] }
    : (await import('../component-args/apply.ts')).kubeletWith(ours, kubeletArgs);
