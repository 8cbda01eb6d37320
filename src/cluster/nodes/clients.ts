// Who the programs of a node are to the apiserver: each has an identity of its own. An instance of the cluster's cloud finds them on its disk.
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { createClient, createRestTransport, type KubeClient, loadClientConfig } from '#client';
import { userAgent } from '#component-base';
import type { KubeletHandle } from '#kubelet';
import type { Clock, Rng } from '#utils';
import type { NodeAgentConfig } from './node-agent-config.ts';
import { NamedWay } from './named-way.ts';

export type NodeComponent = 'kubelet' | 'kube-proxy' | 'coredns' | 'kube-network-policy';

export interface NodeClients {
  /** A new one for each life of a component, which closes it. */
  client(component: NodeComponent): KubeClient;
  /** What the kubelet serves with at first. */
  serving(): Promise<{ cert: string; key: string }>;
  /** Called when the kubelet serves: keeps its certificate valid. Gives what ends that. */
  serves?(kubelet: KubeletHandle, tls: { cert: string; key: string; ca: string }): { close(): void };
  close(): void;
}

export function fileClients(config: NodeAgentConfig, { clock, rng }: { clock: Clock; rng: Rng }): NodeClients {
  const { host } = config.apiserver;
  const way = isIP(host) === 0 ? new NamedWay(host, { clock, rng }) : undefined;
  const kubeconfigs = {
    kubelet: config.kubeletKubeconfig,
    'kube-proxy': config.kubeProxyKubeconfig,
    coredns: config.dnsKubeconfig,
    'kube-network-policy': config.networkPolicyKubeconfig,
  };
  return {
    client(component) {
      const connection = loadClientConfig(kubeconfigs[component], process.env);
      const options = { config: connection, clock, userAgent: userAgent(component), ...(way && { dial: way.dial }) };
      return createClient(createRestTransport(options));
    },
    async serving() {
      const [cert, key] = await Promise.all([readFile(config.tlsCertFile, 'utf8'), readFile(config.tlsPrivateKeyFile, 'utf8')]);
      return { cert, key };
    },
    close: () => way?.close(),
  };
}
