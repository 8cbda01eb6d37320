// What `sagong up --layout pods` puts into the cluster once its apiserver answers: the add-ons, the ConfigMaps that tools of kubeadm's clusters look for,
// and the marks of the nodes that the control plane is on.
import type { ConfigMap, Node } from '#api/core/v1';
import { isNotFound } from '#apimachinery/errors';
import type { KubeClient } from '#client';
import type { Clock } from '#utils';
import { upDefaults } from '../flags/index.ts';
import { type Applied, applyObjects } from '../objects/apply.ts';
import { grantDns, publishDns } from '../add-ons/dns-addon.ts';
import { joiningObjects } from '../joining/objects.ts';
import type { ClusterSettings } from '../state/settings.ts';
import { addOns } from './add-ons.ts';
import { controlPlaneLabels } from './names.ts';

export interface SystemPodsOptions {
  settings: ClusterSettings;
  /** `https://198.18.0.5:6443`. */
  server: string;
  podCidr: string;
  /** PEM. */
  ca: string;
  /** PEM, of all authorities whose certificates kubelets serve with. */
  kubeletTrust: string;
  clock: Clock;
}

/** A user's, once they are there: what was changed in them stays. */
const isTheirs = ({ kind, metadata }: Applied): boolean => kind === 'ConfigMap' && metadata.name === 'coredns';

async function withoutTheirs(client: KubeClient, objects: readonly { resource: string; object: Applied }[]) {
  const kept: { resource: string; object: Applied }[] = [];
  for (const entry of objects) {
    const { name = '', namespace } = entry.object.metadata;
    const there = async (): Promise<boolean> => {
      try {
        await client.resource<ConfigMap>({ group: '', version: 'v1', resource: entry.resource }, namespace).get(name);
        return true;
      } catch (error) {
        if (isNotFound(error)) return false;
        throw error;
      }
    };
    if (!isTheirs(entry.object) || !(await there())) kept.push(entry);
  }
  return kept;
}

/** Applies the objects of the cluster's own programs as pods, at every start. */
export async function startSystemPods(
  client: KubeClient,
  { settings, server, podCidr, ca, kubeletTrust, clock }: SystemPodsOptions,
): Promise<void> {
  const proxyArgs = settings.componentArgs?.['kube-proxy'] ?? [];
  const { proxyMode = upDefaults.proxyMode } = settings;
  await Promise.all([grantDns(client, 'kubeadm'), publishDns(client, clock, dnsSelector)]);
  await applyObjects(client, await withoutTheirs(client, addOns({ server, podCidr, proxyMode, proxyArgs })));
  const { host: endpoint } = new URL(server);
  const { name: cluster, networkPolicy = upDefaults.networkPolicy, componentArgs: args = {} } = settings;
  const facts = { cluster, endpoint, ca, kubeletTrust, podCidr, growing: false, proxyMode, networkPolicy, args };
  await applyObjects(
    client,
    joiningObjects(facts).filter(({ object }) => !isProxyConfiguration(object)),
  );
}

/** Without the kubeconfig that the pods need. */
const isProxyConfiguration = ({ kind, metadata }: Applied): boolean => kind === 'ConfigMap' && metadata.name === 'kube-proxy';

const dnsSelector = { 'k8s-app': 'kube-dns' };

/** Once, when a node is new: what was taken off it later stays off. */
export async function markControlPlanes(
  client: KubeClient,
  { controlPlanes = [], nodes: workers }: ClusterSettings,
): Promise<void> {
  const nodes = client.resource<Node>({ group: '', version: 'v1', resource: 'nodes' });
  const [role] = Object.keys(controlPlaneLabels) as [keyof typeof controlPlaneLabels];
  // Where there are no others, it is they that load balancers lead to.
  const labels = workers.length > 0 ? controlPlaneLabels : { [role]: '' };
  for (const name of controlPlanes) {
    const { metadata } = await nodes.get(name);
    if (metadata.labels?.[role] === undefined) await nodes.patch(name, 'application/merge-patch+json', { metadata: { labels } });
  }
}
