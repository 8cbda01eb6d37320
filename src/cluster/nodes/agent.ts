// All that runs on a real node besides pods: containerd, kubelet, kube-proxy, network policies and a name server, each with its own identity. The first and
// only program of an instance (its user data): a node that is switched off and on comes back by itself.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '#api/core/v1';
import { createClient, createEventRecorder, createInformerFactory, createRestTransport, loadClientConfig } from '#client';
import { type Running, Supervisor, userAgent } from '#component-base';
import { execCommand } from '#host';
import { runKubeProxy } from '#kube-proxy';
import { defaultOptions, runKubelet } from '#kubelet';
import { type NetworkPolicyAgent, removePolicyRules, runNetworkPolicy } from '#network-policy';
import type { Clock, Logger, Rng } from '#utils';
import { buildPauseImage, importImage, pauseImageReference } from '../images/index.ts';
import { dnsNodeLabel } from '../dns-label.ts';
import type { NodeAgentConfig } from '../node-agent-config.ts';
import { accepts, ContainerdService } from './containerd.ts';
import { apiserverPollMs, podPidsMax } from './limits.ts';
import { startNameServer } from './name-server.ts';

export interface NodeAgentDeps {
  clock: Clock;
  rng: Rng;
  /** Of a component by name. */
  logger(component: string): Logger;
}

export interface NodeAgent {
  /** Stops kubelet, kube-proxy, network policies and name server; pods, containerd and packet rules stay. */
  stop(): Promise<void>;
}

export async function runNodeAgent(config: NodeAgentConfig, deps: NodeAgentDeps): Promise<NodeAgent> {
  const { clock } = deps;
  const containerd = new ContainerdService(
    { ...config, sandboxImage: pauseImageReference },
    { clock, logger: deps.logger('containerd') },
  );
  await Promise.all([
    containerd.start().then(() => importImage({ socket: containerd.socket, exec: execCommand }, buildPauseImage())),
    apiserverAnswers(config, clock),
  ]);
  const supervisor = new Supervisor({ clock, logger: deps.logger('node-agent') });
  const names = await supervisor
    .run('coredns', () => startDns(config, deps))
    .catch((error: unknown) => {
      deps.logger('coredns').error('this node answers no names', { error: String(error) });
    });
  const policies = await guardOf(config, deps, supervisor);
  const kubelet = { socket: containerd.socket, answersNames: names !== undefined, podNetwork: policies?.podNetwork };
  const running = await Promise.all([
    supervisor.run('kube-proxy', () => startKubeProxy(config, deps), { retryFirst: true }),
    supervisor.run('kubelet', () => startKubelet(config, kubelet, deps), { retryFirst: true }),
  ]);
  return {
    async stop() {
      containerd.leave();
      await names?.stop();
      await Promise.all([...running, policies].map((component) => component?.stop()));
    },
  };
}

/** A node may boot before its control plane; clients would wait longer and longer between their tries. */
async function apiserverAnswers({ apiserver }: NodeAgentConfig, clock: Clock): Promise<void> {
  while (!(await accepts(apiserver))) await clock.sleep(apiserverPollMs);
}

const clientOf = (component: string, kubeconfig: string, clock: Clock) =>
  createClient(
    createRestTransport({ config: loadClientConfig(kubeconfig, process.env), clock, userAgent: userAgent(component) }),
  );

async function startKubeProxy(config: NodeAgentConfig, { clock, rng, logger }: NodeAgentDeps): Promise<Running> {
  const deps = { clock, rng, logger: logger('kube-proxy') };
  const { nodeName, clusterCidr, proxyMode: mode } = config;
  const client = clientOf('kube-proxy', config.kubeProxyKubeconfig, clock);
  const informers = createInformerFactory({ ...deps, client });
  const recorder = createEventRecorder({ ...deps, client, component: 'kube-proxy', host: nodeName, api: 'events' });
  const proxy = await runKubeProxy({ nodeName, clusterCidr, mode }, { ...deps, informers, exec: execCommand, recorder });
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
async function guardOf(
  config: NodeAgentConfig,
  deps: NodeAgentDeps,
  supervisor: Supervisor,
): Promise<(Running & { podNetwork: PodNetwork }) | undefined> {
  const { networkPolicyKubeconfig: kubeconfig, nodeName } = config;
  if (kubeconfig === undefined) {
    await removePolicyRules(execCommand);
    return undefined;
  }
  const unit = await supervisor.run('network-policy', async () => startNetworkPolicy(nodeName, kubeconfig, deps), {
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

function startNetworkPolicy(
  nodeName: string,
  kubeconfig: string,
  { clock, rng, logger }: NodeAgentDeps,
): Running & { agent: NetworkPolicyAgent } {
  const deps = { clock, rng, logger: logger('network-policy') };
  const client = clientOf('kube-network-policy', kubeconfig, clock);
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

/** Rejects where the port is taken: the node's pods then ask the name servers of other nodes. */
async function startDns(config: NodeAgentConfig, deps: NodeAgentDeps): Promise<Running> {
  const { nodeIp: address, clusterDomain: domain, dnsKubeconfig } = config;
  const client = clientOf('coredns', dnsKubeconfig, deps.clock);
  const stop = await startNameServer({ address, domain, client }, { ...deps, logger: deps.logger('coredns') });
  return {
    stop() {
      stop();
      client.close();
    },
  };
}

async function startKubelet(
  config: NodeAgentConfig,
  { socket, answersNames, podNetwork }: { socket: string; answersNames: boolean; podNetwork: PodNetwork | undefined },
  deps: NodeAgentDeps,
): Promise<Running> {
  const { clock, rng, logger } = deps;
  const { nodeDir, cloudProvider } = config;
  const [cert = '', key = '', ca = ''] = await Promise.all(
    [config.tlsCertFile, config.tlsPrivateKeyFile, config.clientCaFile].map((file) => readFile(file, 'utf8')),
  );
  const client = clientOf('kubelet', config.kubeletKubeconfig, clock);
  const kubelet = await runKubelet(
    {
      ...defaultOptions(config.nodeName),
      nodeIPs: [config.nodeIp],
      cloudProvider,
      routesFromCloud: cloudProvider === 'external',
      clusterDNS: [config.clusterDns],
      nodeLabels: answersNames ? { [dnsNodeLabel]: 'true' } : {},
      clusterDomain: config.clusterDomain,
      rootDir: join(nodeDir, 'kubelet'),
      podLogsDir: join(nodeDir, 'pod-logs'),
      systemLogsDir: join(nodeDir, 'logs'),
      containerRuntimeEndpoint: `unix://${socket}`,
      podInfraImage: pauseImageReference,
      podPidsMax,
    },
    {
      clock,
      rng,
      logger: logger('kubelet'),
      client,
      ...(podNetwork && { podNetwork }),
      serving: {
        tls: { cert, key, ca, requestClientCert: true },
        anonymous: false,
        tokenReview: true,
        authorization: 'Webhook',
      },
    },
  );
  return {
    async stop() {
      await kubelet.close();
      client.close();
    },
  };
}
