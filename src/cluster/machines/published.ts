// What a cluster publishes for those who join it, read with a bootstrap token or as a kubelet: where pods are, how their packets are carried and judged,
// and whether other machines can be a part of its control plane.
import { parseYaml } from '#apimachinery/codec';
import { isForbidden, isNotFound } from '#apimachinery/errors';
import { type ClientConfig, createClient, createRestTransport } from '#client';
import { userAgent } from '#component-base';
import type { ProxyMode } from '#kube-proxy';
import type { Clock } from '#utils';
import type { Dial } from '#wire';
import type { ComponentArgs } from '../flags/component-args.ts';
import type { KeptFlags } from '../flags/index.ts';
import { clusterNetworks } from '../state/networks.ts';

export interface Published {
  cluster: string;
  podCidr: string;
  proxyMode: ProxyMode;
  networkPolicy: KeptFlags['networkPolicy'];
  /** `host:port`; absent: the control plane is one process with a store of its own. */
  controlPlaneEndpoint?: string;
  /** The cluster's flags of its components. */
  args: ComponentArgs;
}

interface ExtraArgs {
  extraArgs?: { name: string; value: string }[];
}

interface Configuration {
  apiServer?: ExtraArgs;
  controllerManager?: ExtraArgs;
  scheduler?: ExtraArgs;
  clusterName?: string;
  controlPlaneEndpoint?: string;
  networking?: { podSubnet?: string };
  etcd?: { local?: object };
}

function argsOf({ apiServer, controllerManager, scheduler }: Configuration): ComponentArgs {
  const words = (given: ExtraArgs | undefined): string[] =>
    (given?.extraArgs ?? []).map(({ name, value }) => `--${name}=${value}`);
  const all = {
    'kube-apiserver': words(apiServer),
    'kube-controller-manager': words(controllerManager),
    'kube-scheduler': words(scheduler),
  };
  return Object.fromEntries(Object.entries(all).filter(([, list]) => list.length > 0));
}

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };

export async function readPublished(config: ClientConfig, clock: Clock, dial?: Dial): Promise<Published> {
  const client = createClient(createRestTransport({ config, clock, userAgent: userAgent('sagong'), ...(dial && { dial }) }));
  const entry = async (name: string, key: string): Promise<string> => {
    try {
      const { data = {} } = await client
        .resource<{ metadata: object; data?: Record<string, string> }>(configMaps, 'kube-system')
        .get(name);
      return data[key] ?? '';
    } catch (error) {
      // A cluster that was made by an earlier version, or by somebody else.
      if (isNotFound(error) || isForbidden(error)) return '';
      throw error;
    }
  };
  try {
    const [cluster, proxy, policy] = await Promise.all([
      entry('kubeadm-config', 'ClusterConfiguration'),
      entry('kube-proxy', 'config.conf'),
      entry('sagong-config', 'networkPolicy'),
    ]);
    const configuration = (parseYaml(cluster).value ?? {}) as Configuration;
    const { clusterName = 'kubernetes', networking, controlPlaneEndpoint, etcd } = configuration;
    const { mode } = (parseYaml(proxy).value ?? {}) as { mode?: string };
    return {
      cluster: clusterName,
      args: argsOf(configuration),
      podCidr: networking?.podSubnet ?? clusterNetworks.podCidr,
      proxyMode: mode === 'nftables' ? 'nftables' : 'iptables',
      networkPolicy: policy === 'none' ? 'none' : 'nftables',
      ...(controlPlaneEndpoint !== undefined && etcd?.local && { controlPlaneEndpoint }),
    };
  } finally {
    client.close();
  }
}
