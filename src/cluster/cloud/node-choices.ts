// How nodes carry and judge packets, written to the disks of those that exist: their agents read it when they start next.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { kubeconfigFor, writeKubeconfig } from '#client';
import { deepEqual } from '#utils';
import { type ClusterPki, clientConfigFor } from '../certificates/certificates.ts';
import type { ComponentArgs } from '../flags/component-args.ts';
import { networkPolicyRights } from '#network-policy';
import type { Grant } from '../objects/grant.ts';
import { identities } from '../certificates/identities.ts';
import { type KeptFlags, upDefaults } from '../flags/index.ts';
import { readOnDisk, writeOnDisk } from '../nodes/disk.ts';
import type { NodeAgentConfig } from '../nodes/node-agent-config.ts';
import { agentConfigName } from '../state/paths.ts';

type About = Pick<NodeAgentConfig, 'nodeName' | 'nodeDir' | 'apiserver'>;

/** What who enforces network policies may read. */
export const networkPolicyGrant = (enforced: KeptFlags['networkPolicy'] = upDefaults.networkPolicy): Grant => ({
  role: 'system:kube-network-policy',
  serviceAccount: 'kube-network-policy',
  // Every machine has a certificate for enforcing policies. Where nobody enforces them, it gives no rights.
  rules: enforced === 'none' ? [] : networkPolicyRights,
});

/** Writes the identity of what enforces policies on a node; gives its path. */
export async function writePolicyIdentity({ nodeName, nodeDir, apiserver }: About, pki: ClusterPki): Promise<string> {
  const path = join(nodeDir, 'network-policy.kubeconfig');
  const config = clientConfigFor(pki, identities.networkPolicy, `https://${apiserver.host}:${apiserver.port}`);
  await writeKubeconfig(path, kubeconfigFor(nodeName, config));
  return path;
}

/** What a later start of the cluster may choose anew. */
export interface NodeChoices {
  /** Whether nodes enforce network policies. */
  networkPolicy: boolean;
  proxyMode: KeptFlags['proxyMode'] | undefined;
  cni: KeptFlags['cni'] | undefined;
  /** A user's flags of kubelet and kube-proxy. */
  componentArgs: ComponentArgs;
  /** Further ones of a node's kubelet, by the node's name. */
  nodeArgs: NodeArgs;
}

export type NodeArgs = Readonly<Record<string, readonly string[]>>;

/** The flags of a node's programs: those of all nodes, then its own. */
export function argsOf(
  name: string,
  { kubelet = [], 'kube-proxy': kubeProxy = [] }: ComponentArgs = {},
  nodeArgs: NodeArgs = {},
): Pick<NodeAgentConfig, 'kubeletArgs' | 'kubeProxyArgs'> {
  const own = Object.hasOwn(nodeArgs, name) ? (nodeArgs[name] ?? []) : [];
  const kubeletArgs = [...kubelet, ...own];
  return { ...(kubeletArgs.length > 0 && { kubeletArgs }), ...(kubeProxy.length > 0 && { kubeProxyArgs: kubeProxy }) };
}

/** What is on a node's disk. Undefined where that is no configuration: the node's agent does not start with it, and says so in the node's log. */
async function configOn(disk: string): Promise<NodeAgentConfig | undefined> {
  const text = await readOnDisk(disk, '', agentConfigName);
  if (text === undefined) return undefined;
  try {
    const config = JSON.parse(text) as Partial<NodeAgentConfig> | null;
    const isWhole = typeof config?.nodeName === 'string' && typeof config.apiserver?.host === 'string';
    return isWhole ? (config as NodeAgentConfig) : undefined;
  } catch {
    return undefined;
  }
}

/** Brings all nodes with a disk to these choices. What a disk says is for that node alone: where its files are is not read from it. */
export async function updateNodes(
  dataDir: string,
  pki: ClusterPki,
  { networkPolicy, proxyMode, cni, componentArgs, nodeArgs }: NodeChoices,
): Promise<void> {
  const names = await readdir(join(dataDir, 'nodes')).catch(() => []);
  for (const name of names) {
    const disk = join(dataDir, 'nodes', name);
    const found = await configOn(disk);
    if (found === undefined) continue;
    const { networkPolicyKubeconfig: before, proxyMode: mode, cni: network, kubeletArgs, kubeProxyArgs, ...config } = found;
    const args = argsOf(config.nodeName, componentArgs, nodeArgs);
    const sameArgs = deepEqual([kubeletArgs, kubeProxyArgs], [args.kubeletArgs, args.kubeProxyArgs]);
    const sameNetwork = mode === proxyMode && (network === 'none') === (cni === 'none');
    if ((before !== undefined) === networkPolicy && sameNetwork && sameArgs) continue;
    const about = { nodeName: config.nodeName, nodeDir: disk, apiserver: config.apiserver };
    const identity = networkPolicy ? (before ?? (await writePolicyIdentity(about, pki))) : undefined;
    const now: NodeAgentConfig = {
      ...config,
      ...args,
      ...(proxyMode && { proxyMode }),
      ...(cni === 'none' && { cni }),
      ...(identity !== undefined && { networkPolicyKubeconfig: identity }),
    };
    await writeOnDisk(disk, '', agentConfigName, JSON.stringify(now, null, 2));
  }
}
