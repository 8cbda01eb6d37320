// The configs of a NodeBalancer, one for each port, with their nodes. Only what differs is written.
import { differenceOf } from 'sagong/cloud-provider/kit';
import type { BalancerConfig, BalancerNode, ConfigRequest, NodeRequest } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import { type Backend, nodeRequests } from './backends.ts';
import { type Certificate, certificateIn } from './certificates.ts';
import type { BalancerPlan } from './plan.ts';
import type { PortPlan } from './ports.ts';

/** A port with all that goes into its config. */
export interface WantedConfig {
  config: ConfigRequest;
  /** The fingerprint of the certificate; undefined: the port has no certificate. */
  fingerprint?: string;
  nodes: NodeRequest[];
}

/** Reads the certificates that ports name. */
export async function wantedConfigs(cloud: Cloud, plan: BalancerPlan, backends: readonly Backend[]): Promise<WantedConfig[]> {
  const known = new Map<string, Certificate>();
  const certificateOf = async ({ secretName }: PortPlan): Promise<Certificate | undefined> => {
    if (secretName === undefined) return undefined;
    const certificate = known.get(secretName) ?? (await certificateIn(cloud, plan.service, secretName));
    known.set(secretName, certificate);
    return certificate;
  };
  const wanted: WantedConfig[] = [];
  for (const port of plan.ports) {
    const nodes = nodeRequests(port, backends);
    const { fingerprint, ...ssl } = (await certificateOf(port)) ?? {};
    wanted.push({ config: { ...port.config, ...ssl }, nodes, ...(fingerprint !== undefined && { fingerprint }) });
  }
  return wanted;
}

/** UDP has ports of its own. */
const keyOf = ({ port, protocol }: Pick<ConfigRequest, 'port' | 'protocol'>): string =>
  `${protocol === 'udp' ? 'UDP' : 'TCP'} ${port}`;

const plainFingerprint = (fingerprint: string | undefined): string => (fingerprint ?? '').replaceAll(':', '').toUpperCase();

/** What is not sent is the API's own choice, and certificates are not shown: their fingerprints are. */
function configDiffers(there: BalancerConfig, { config, fingerprint }: WantedConfig): boolean {
  const { ssl_cert: _cert, ssl_key: _key, ...compared } = config;
  const isOther = Object.entries(compared).some(
    ([field, value]) => (there as unknown as Record<string, unknown>)[field] !== value,
  );
  return isOther || plainFingerprint(there.ssl_fingerprint) !== plainFingerprint(fingerprint);
}

const nodeKey = ({ address }: Pick<BalancerNode, 'address'>): string => address;

/** Nodes that are there and stay keep their IDs, so that their connections do. */
function nodesWithIds(there: readonly BalancerNode[], wanted: readonly NodeRequest[]): { nodes: NodeRequest[]; differ: boolean } {
  const { missing, surplus, both } = differenceOf(there, wanted, nodeKey, nodeKey);
  const ids = new Map(both.map(({ found }) => [found.address, found.id]));
  const relabelled = both.some(({ found, wanted: one }) => found.label !== one.label || found.weight !== one.weight);
  return {
    nodes: wanted.map((node) => ({ ...node, ...(ids.has(node.address) && { id: ids.get(node.address) as number }) })),
    differ: missing.length + surplus.length > 0 || relabelled,
  };
}

async function bringInLine({ api }: Cloud, balancer: number, there: BalancerConfig, wanted: WantedConfig): Promise<void> {
  const nodes = await api.nodes(balancer, there.id);
  const { nodes: withIds, differ } = nodesWithIds(nodes, wanted.nodes);
  const isOther = configDiffers(there, wanted);
  if (wanted.nodes.length > 0) {
    // One request for the config and its nodes; the API reloads it once.
    if (isOther || differ) await api.rebuildConfig(balancer, there.id, { ...wanted.config, nodes: withIds });
    return;
  }
  // A config is not rebuilt without nodes.
  if (isOther) await api.updateConfig(balancer, there.id, wanted.config);
  for (const { id } of nodes) await api.deleteNode(balancer, there.id, id);
}

/** Ports that are gone go first, so that another protocol can take their number. */
export async function ensureConfigs(cloud: Cloud, balancer: number, wanted: readonly WantedConfig[]): Promise<void> {
  const there = await cloud.api.configs(balancer);
  const { missing, surplus, both } = differenceOf(there, wanted, keyOf, ({ config }) => keyOf(config));
  for (const { id } of surplus) await cloud.api.deleteConfig(balancer, id);
  for (const { found, wanted: one } of both) await bringInLine(cloud, balancer, found, one);
  for (const { config, nodes } of missing) await cloud.api.createConfig(balancer, { ...config, nodes });
}
