// `sagong up --config FILE`: a cluster in the words of kind's configuration (https://kind.sigs.k8s.io/docs/user/configuration/, kind.x-k8s.io/v1alpha4).
// What has a counterpart becomes flags and labels; everything else is refused by its name, never ignored. Pure.
import { fromContainerdPatches } from './containerd-patches.ts';
import { fromKubeadmPatches, type PatchedArgs } from './kubeadm-patches.ts';
import type { NodeMount, PortMapping } from '#cluster/start';
import { extraMounts } from './extra-mounts.ts';
import { portMappings } from './port-mappings.ts';

/** The ranges of addresses that a cluster has. */
export interface Networks {
  podCidr: string;
  serviceCidr: string;
}

export interface FromKind {
  name?: string;
  nodes: number;
  port?: number;
  /** Machines of the control plane, where there are several. */
  controlPlanes?: number;
  /** Flags of components, by option of `sagong up`. */
  args?: PatchedArgs;
  /** Further flags of the kubelets, one list for each node in the nodes' order; undefined where no node has any. */
  nodeArgs?: string[][];
  /** Who makes the network of pods, and how kube-proxy works, where it is not what holds anyway. */
  cni?: 'none';
  proxyMode?: 'nftables';
  /** Where nodes pull images from. */
  registryMirrors?: string[];
  /** Ports of this machine that lead to one of a node. */
  ports?: PortMapping[];
  /** Folders of this machine that a node sees; sources as they are written. */
  mounts?: NodeMount[];
  /** The labels of each node, in order. */
  labels: Record<string, string>[];
}

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

/** Why a field cannot be had here. */
const nodeRefusals: Record<string, string> = {
  image: 'nodes here are no containers and have no image: the version is that of this program',
  kubeadmConfigPatchesJSON6902: 'use kubeadmConfigPatches',
};
const clusterRefusals: Record<string, string> = {
  kubeadmConfigPatchesJSON6902: 'use kubeadmConfigPatches',
  containerdConfigPatchesJSON6902: 'use --registry-mirror for mirrors of registries',
};

const refuse = (path: string, why: string): never => {
  throw new Error(`--config: ${path} has no counterpart: ${why}`);
};
const wrong = (path: string, what: string): never => {
  throw new Error(`--config: ${path} must be ${what}`);
};

function known(fields: Fields, path: string, names: readonly string[], refusals: Record<string, string>): void {
  for (const [name, value] of Object.entries(fields)) {
    const at = path === '' ? name : `${path}.${name}`;
    if (Object.hasOwn(refusals, name)) {
      if (!isEmpty(value)) refuse(at, refusals[name] ?? '');
    } else if (!names.includes(name)) throw new Error(`--config: unknown field ${JSON.stringify(at)}`);
  }
}

function labelsOf(value: unknown, path: string): Record<string, string> {
  if (isEmpty(value)) return {};
  if (!isObject(value) || Object.values(value).some((one) => typeof one !== 'string')) return wrong(path, 'a map of texts');
  return value as Record<string, string>;
}

/** The flags of all as one. */
const mergedArgs = (all: readonly PatchedArgs[]): PatchedArgs => {
  const merged: PatchedArgs = {};
  for (const args of all)
    for (const [option, words] of Object.entries(args)) merged[option] = [...new Set([...(merged[option] ?? []), ...words])];
  return merged;
};

/** An even number survives no more failures than one less. */
const planeCounts = [1, 3, 5];

/** Names of the fields that hold for the whole cluster, not for one node. */
const settingNames = ['featureGates', 'runtimeConfig', 'containerdConfigPatches'];
/** Options of the components that have feature gates. */
const gatedOptions = ['apiserverArg', 'controllerManagerArg', 'schedulerArg', 'kubeletArg', 'kubeProxyArg'];

/** Feature gates for every component; each component checks them by its own table. */
function gatesOf(value: unknown): PatchedArgs {
  if (isEmpty(value)) return {};
  if (!isObject(value) || Object.values(value).some((one) => typeof one !== 'boolean'))
    return wrong('featureGates', 'a map of gates to true or false');
  const words = Object.entries(value).map(([name, on]) => `${name}=${String(on)}`);
  return Object.fromEntries(gatedOptions.map((option) => [option, [`feature-gates=${words.join(',')}`]]));
}

function apisOf(value: unknown): PatchedArgs {
  if (isEmpty(value)) return {};
  if (!isObject(value) || Object.values(value).some((one) => typeof one !== 'string'))
    return wrong('runtimeConfig', 'a map of APIs to texts');
  const words = Object.entries(value as Record<string, string>).map(([name, on]) => `${name}=${on}`);
  return { apiserverArg: [`runtime-config=${words.join(',')}`] };
}

/** The control plane of a cluster here is on no node: it counts as one only where kind would run pods on it. */
function nodesOf(
  value: unknown,
): Pick<FromKind, 'nodes' | 'labels' | 'args' | 'nodeArgs' | 'controlPlanes' | 'ports' | 'mounts'> {
  if (isEmpty(value)) return { nodes: 1, labels: [{}] };
  if (!Array.isArray(value)) return wrong('nodes', 'a list');
  const all = value.map((node: unknown, index) => {
    const path = `nodes[${index}]`;
    if (!isObject(node)) return wrong(path, 'an object');
    known(node, path, ['role', 'labels', 'kubeadmConfigPatches', 'extraPortMappings', 'extraMounts'], nodeRefusals);
    const { role = 'control-plane' } = node;
    if (role !== 'control-plane' && role !== 'worker') return wrong(`${path}.role`, 'control-plane or worker');
    const { kubeletArg = [], ...patches } = fromKubeadmPatches(node['kubeadmConfigPatches'], `${path}.kubeadmConfigPatches`);
    const ports = portMappings(node['extraPortMappings'], `${path}.extraPortMappings`);
    const mounts = extraMounts(node['extraMounts'], `${path}.extraMounts`);
    return { role, labels: labelsOf(node['labels'], `${path}.labels`), patches, kubeletArg, ports, mounts };
  });
  const workers = all.filter(({ role }) => role === 'worker');
  const planes = all.filter(({ role }) => role === 'control-plane');
  if (planes.length === 0) wrong('nodes', 'a list with a node of the role control-plane');
  if (planes.length > 1 && !planeCounts.includes(planes.length))
    refuse(`nodes: ${planes.length} of the role control-plane`, `a control plane has ${planeCounts.join(', ')} machines`);
  if (workers.length > 0 && planes.some(({ labels }) => !isEmpty(labels)))
    refuse('nodes[0].labels', 'the control plane is on no node where there are workers');
  if (workers.length > 0 && planes.some(({ mounts }) => mounts.length > 0))
    refuse('nodes[0].extraMounts', 'the control plane is on no node where there are workers');
  const chosen = workers.length > 0 ? workers : planes;
  // Node ports and ports of hosts answer on the first node for all: what is mapped to a control plane leads there.
  const ports = all.flatMap(({ role, ports: mapped }) => {
    const index = role === 'worker' ? workers.findIndex(({ ports: own }) => own === mapped) : 0;
    return mapped.map((one) => ({ ...one, node: index }));
  });
  // As the ports of a control plane, so the flags of its kubelet: what is to run there runs on the first node.
  const first = planes.flatMap(({ kubeletArg }) => kubeletArg);
  const nodeArgs =
    workers.length > 0
      ? workers.map(({ kubeletArg }, index) => (index === 0 ? [...first, ...kubeletArg] : kubeletArg))
      : planes.map(({ kubeletArg }) => kubeletArg);
  return {
    nodes: chosen.length,
    ...(planes.length > 1 && { controlPlanes: planes.length }),
    args: mergedArgs(all.map(({ patches }) => patches)),
    ...(all.some(({ kubeletArg }) => kubeletArg.length > 0) && { nodeArgs }),
    labels: chosen.map(({ labels }) => labels),
    ...(ports.length > 0 && { ports }),
    ...(chosen.some(({ mounts }) => mounts.length > 0) && {
      mounts: chosen.flatMap(({ mounts }, node) => mounts.map((one) => ({ ...one, node }))),
    }),
  };
}

const networkingNames = [
  'apiServerPort',
  'apiServerAddress',
  'podSubnet',
  'serviceSubnet',
  'ipFamily',
  'disableDefaultCNI',
  'kubeProxyMode',
];

function networkingOf(value: unknown, { podCidr, serviceCidr }: Networks): Pick<FromKind, 'port' | 'cni' | 'proxyMode'> {
  if (isEmpty(value)) return {};
  if (!isObject(value)) return wrong('networking', 'an object');
  known(value, 'networking', networkingNames, { dnsSearch: 'names are looked up as the machine does' });
  const only = (name: string, has: unknown, why: string): void => {
    if (value[name] !== undefined && value[name] !== null && value[name] !== has)
      refuse(`networking.${name}: ${String(value[name])}`, why);
  };
  only('apiServerAddress', '127.0.0.1', 'the apiserver is on 127.0.0.1');
  only('podSubnet', podCidr, `pods are in ${podCidr}`);
  only('serviceSubnet', serviceCidr, `Services are in ${serviceCidr}`);
  only('ipFamily', 'ipv4', 'networks are of IPv4');
  const { disableDefaultCNI = false, kubeProxyMode: mode = 'iptables' } = value;
  if (typeof disableDefaultCNI !== 'boolean') return wrong('networking.disableDefaultCNI', 'true or false');
  if (mode !== 'iptables' && mode !== 'nftables')
    refuse(`networking.kubeProxyMode: ${String(mode)}`, 'kube-proxy works with iptables or nftables');
  const choices = {
    ...(disableDefaultCNI && { cni: 'none' as const }),
    ...(mode === 'nftables' && { proxyMode: mode as 'nftables' }),
  };
  const port = value['apiServerPort'];
  if (port === undefined || port === null || port === -1) return choices;
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 0 || port > 65_535)
    return wrong('networking.apiServerPort', 'a port');
  return { ...choices, port };
}

/** `document`: the parsed file. Throws a sentence that names what is wrong, or what there is no counterpart for. */
export function fromKindConfig(document: unknown, networks: Networks): FromKind {
  if (!isObject(document)) throw new Error('--config: the file holds no object');
  const { kind, apiVersion, name } = document;
  if (kind !== 'Cluster') throw new Error(`--config: kind must be "Cluster", not ${JSON.stringify(kind)}`);
  if (apiVersion !== 'kind.x-k8s.io/v1alpha4')
    throw new Error(`--config: apiVersion must be "kind.x-k8s.io/v1alpha4", not ${JSON.stringify(apiVersion)}`);
  known(
    document,
    '',
    ['kind', 'apiVersion', 'name', 'nodes', 'networking', 'kubeadmConfigPatches', ...settingNames],
    clusterRefusals,
  );
  if (name !== undefined && typeof name !== 'string') wrong('name', 'a text');
  const { args: ofNodes = {}, ...nodes } = nodesOf(document['nodes']);
  const patched = fromKubeadmPatches(document['kubeadmConfigPatches'], 'kubeadmConfigPatches');
  const args = mergedArgs([gatesOf(document['featureGates']), apisOf(document['runtimeConfig']), patched, ofNodes]);
  const mirrors = fromContainerdPatches(document['containerdConfigPatches']);
  return {
    ...(typeof name === 'string' && name !== '' && { name }),
    ...nodes,
    ...(Object.keys(args).length > 0 && { args }),
    ...(mirrors.length > 0 && { registryMirrors: mirrors }),
    ...networkingOf(document['networking'], networks),
  };
}
