// All that runs on a real node besides pods: containerd, kubelet, kube-proxy and a name server, each with its own identity. The first and only program of an
// instance (its user data): a node that is switched off and on comes back by itself.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, createEventRecorder, createInformerFactory, createRestTransport, loadClientConfig } from '#client';
import { type Running, Supervisor, userAgent } from '#component-base';
import { execCommand } from '#host';
import { runKubeProxy } from '#kube-proxy';
import { defaultOptions, runKubelet } from '#kubelet';
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
  /** Stops kubelet, kube-proxy and name server; pods and containerd run on. */
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
  const running = await Promise.all([
    supervisor.run('kube-proxy', () => startKubeProxy(config, deps), { retryFirst: true }),
    supervisor.run('kubelet', () => startKubelet(config, containerd.socket, names !== undefined, deps), { retryFirst: true }),
  ]);
  return {
    async stop() {
      containerd.leave();
      await names?.stop();
      await Promise.all(running.map((component) => component.stop()));
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
  const { nodeName, clusterCidr } = config;
  const client = clientOf('kube-proxy', config.kubeProxyKubeconfig, clock);
  const informers = createInformerFactory({ ...deps, client });
  const recorder = createEventRecorder({ ...deps, client, component: 'kube-proxy', host: nodeName, api: 'events' });
  const proxy = await runKubeProxy({ nodeName, clusterCidr }, { ...deps, informers, exec: execCommand, recorder });
  informers.start();
  return {
    async stop() {
      informers.stop();
      await proxy.stop();
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
  socket: string,
  answersNames: boolean,
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
