// How nodes carry and judge packets, written to the disks of those that exist: their agents read it when they start next.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { kubeconfigFor, writeKubeconfig } from '#client';
import { atomicWrite, readFileIfExists } from '#host';
import { deepEqual } from '#utils';
import { type ClusterPki, clientConfigFor } from '../certificates/certificates.ts';
import type { ComponentArgs } from '../component-args/args.ts';
import { networkPolicyRights } from '#network-policy';
import type { Grant } from '../add-ons/grant.ts';
import { identities } from '../certificates/identities.ts';
import type { KeptFlags } from '../flags/index.ts';
import type { NodeAgentConfig } from '../nodes/node-agent-config.ts';

type About = Pick<NodeAgentConfig, 'nodeName' | 'nodeDir' | 'apiserver'>;

/** What who enforces network policies may read. */
export const networkPolicyGrant = (enforced: KeptFlags['networkPolicy'] = 'nftables'): Grant => ({
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
}

export const nodeArgs = (args: ComponentArgs = {}): Pick<NodeAgentConfig, 'kubeletArgs' | 'kubeProxyArgs'> => ({
  ...(args.kubelet?.length && { kubeletArgs: args.kubelet }),
  ...(args['kube-proxy']?.length && { kubeProxyArgs: args['kube-proxy'] }),
});

/** Brings all nodes with a disk to these choices. */
export async function updateNodes(
  dataDir: string,
  pki: ClusterPki,
  { networkPolicy, proxyMode, cni, componentArgs }: NodeChoices,
): Promise<void> {
  const names = await readdir(join(dataDir, 'nodes')).catch(() => []);
  for (const name of names) {
    const path = join(dataDir, 'nodes', name, 'agent.json');
    const text = (await readFileIfExists(path))?.toString('utf8');
    if (text === undefined) continue;
    const {
      networkPolicyKubeconfig: before,
      proxyMode: mode,
      cni: network,
      kubeletArgs,
      kubeProxyArgs,
      ...config
    } = JSON.parse(text) as NodeAgentConfig;
    const args = nodeArgs(componentArgs);
    const sameArgs = deepEqual([kubeletArgs, kubeProxyArgs], [args.kubeletArgs, args.kubeProxyArgs]);
    const sameNetwork = mode === proxyMode && (network === 'none') === (cni === 'none');
    if ((before !== undefined) === networkPolicy && sameNetwork && sameArgs) continue;
    const identity = networkPolicy ? (before ?? (await writePolicyIdentity(config, pki))) : undefined;
    const now: NodeAgentConfig = {
      ...config,
      ...args,
      ...(proxyMode && { proxyMode }),
      ...(cni === 'none' && { cni }),
      ...(identity !== undefined && { networkPolicyKubeconfig: identity }),
    };
    await atomicWrite(path, JSON.stringify(now, null, 2));
  }
}
