// The flags of `sagong up`: one row each, with the only place of its default. Reading, help, completion, docs/flags.md, and the type of what a cluster keeps
// of them come from this table.
import type { EmulatorName } from '#cloud/emulators';
import { defaultsOf, type Flag, flag, type FlagValues } from '#component-base/flags';
import { endpointAccesses, topologies } from './endpoint-access.ts';
import { type ComponentArgFlag, componentArgFlags } from './component-args.ts';
import { clusterRows } from './cluster.ts';
import { etcdRows } from './etcd.ts';

/** Vendors that can be emulated: all of them, by name, without their code. */
const emulated = Object.keys({
  aws: true,
  azure: true,
  baidu: true,
  digitalocean: true,
  gcp: true,
  linode: true,
  oci: true,
} satisfies Record<EmulatorName, true>) as EmulatorName[];

const [shape, nodes, network, addOns, data, components, start] = [
  'Shape',
  'Node',
  'Network',
  'Add-on',
  'Data',
  'Component',
  'Start',
];

/** What a cluster keeps as it is given, by the names of `ClusterSettings`. */
const keptFlags = {
  uplink: flag.choice(['auto', 'none'] as const, {
    name: 'uplink',
    default: 'auto',
    kept: true,
    help: 'Way of nodes and pods out of this machine: auto (where possible) or none.',
    section: network,
  }),
  nodeAddresses: flag.choice(['private', 'public'] as const, {
    name: 'node-addresses',
    default: 'private',
    kept: true,
    help: 'Addresses of real nodes: private, or public (as well, so that this machine reaches their node ports).',
    section: network,
  }),
  cloudProvider: flag.choice(['local', 'external'] as const, {
    name: 'cloud-provider',
    default: 'local',
    kept: true,
    help: "local (this machine as a cloud, with the cluster's own cloud-controller-manager) or external (nodes wait for a manager that you run).",
    section: shape,
  }),
  storage: flag.choice(['local-path', 'none'] as const, {
    name: 'storage',
    default: 'local-path',
    kept: true,
    help: 'Who makes volumes for claims: local-path (the default StorageClass `standard`: directories of the nodes) or none, which is the default of several machines.',
    section: addOns,
  }),
  metrics: flag.choice(['kubelets', 'none'] as const, {
    name: 'metrics',
    default: 'kubelets',
    kept: true,
    help: 'Who serves metrics.k8s.io: kubelets (kubectl top, autoscaling) or none (for a metrics-server of your own).',
    section: addOns,
  }),
  cni: flag.choice(['bridge', 'none'] as const, {
    name: 'cni',
    default: 'bridge',
    kept: true,
    help: 'Who makes the network of pods on real nodes: bridge (every node itself) or none (an add-on that you install; nodes are NotReady before it).',
    section: network,
  }),
  networkPolicy: flag.choice(['nftables', 'none'] as const, {
    name: 'network-policy',
    default: 'nftables',
    kept: true,
    help: 'Who enforces network policies on real nodes: nftables (every node by its packet filter) or none.',
    section: network,
  }),
  proxyMode: flag.choice(['iptables', 'nftables'] as const, {
    name: 'proxy-mode',
    default: 'iptables',
    kept: true,
    help: 'How kube-proxy works on real nodes: iptables or nftables.',
    section: network,
  }),
  layout: flag.choice(['processes', 'pods'] as const, {
    name: 'layout',
    default: 'processes',
    kept: true,
    help: 'Of the control plane: processes, or pods (static pods of a machine that is a node, with kube-proxy and DNS as pods, as kubeadm has it; on more machines with --control-planes).',
    section: shape,
  }),
  topology: flag.choice(topologies, {
    name: 'topology',
    default: 'self-managed',
    kept: true,
    help: "self-managed (control plane among the nodes) or managed (in a network of the provider's, as Amazon EKS does).",
    section: shape,
  }),
  endpointAccess: flag.choice(endpointAccesses, {
    name: 'endpoint-access',
    default: 'public-and-private',
    kept: true,
    help: 'Access to a managed control plane: public, public-and-private or private.',
    section: shape,
  }),
};

/** `--apiserver-arg` and its like. */
const componentArgRows = Object.fromEntries(
  Object.entries(componentArgFlags).map(([name, { key, component, example }]) => [
    key,
    flag.stringArray({
      name,
      default: [],
      kept: true,
      help: `A flag of ${component} as name=value, e.g. ${example}; repeatable.`,
      section: components,
    }),
  ]),
) as Record<ComponentArgFlag['key'], Flag<string[]>>;

const registry = flag.whole({
  name: 'registry',
  default: 0,
  max: 65_535,
  kept: true,
  usual: 'none; 5000 when no port is named',
  help: 'Port of a registry on 127.0.0.1 that nodes know by the same name, localhost:<port>; needs docker-registry.',
  section: addOns,
});

export const upFlags = {
  ...clusterRows,
  nodes: flag.whole({
    name: 'nodes',
    default: 1,
    max: 5000,
    kept: true,
    help: 'Number of nodes; 0 starts a control plane alone.',
    section: shape,
  }),
  controlPlanes: flag.whole({
    name: 'control-planes',
    default: 0,
    max: 5,
    kept: true,
    usual: 'none: all is one process',
    help: 'Machines of the control plane, 1, 3 or 5, each with etcd, kube-apiserver and managers as processes of their own, behind a load balancer; with --advertise-address 1, this machine, and others join; with --topology managed 3 or 5, in the network of the provider.',
    section: shape,
  }),
  runtime: flag.choice(['auto', 'containerd', 'simulated'] as const, {
    name: 'runtime',
    default: 'auto',
    help: 'auto, containerd (real containers) or simulated (pods are not real processes).',
    section: nodes,
  }),
  port: flag.whole({
    name: 'port',
    default: 0,
    max: 65_535,
    kept: true,
    usual: 'a free one',
    help: 'Port of the apiserver on 127.0.0.1.',
    section: shape,
  }),
  advertiseAddress: flag.string({
    name: 'advertise-address',
    default: '',
    kept: true,
    usual: 'none',
    help: 'Where other machines reach this one: it becomes the first node, and others may join.',
    section: shape,
  }),
  controlPlaneEndpoint: flag.string({
    name: 'control-plane-endpoint',
    default: '',
    kept: true,
    usual: 'the advertise address',
    help: 'With --advertise-address: host:port of a name or load balancer under which all control planes are found.',
    section: shape,
  }),
  cloudProviderEmulator: flag.choice<EmulatorName | ''>(['', ...emulated], {
    name: 'cloud-provider-emulator',
    default: '',
    kept: true,
    usual: 'none',
    help: `Put a vendor's API (${emulated.join(', ')}) in front of the local cloud, and the vendor's provider in the place of the local one.`,
    section: shape,
  }),
  ...keptFlags,
  dnsUpstreams: flag.strings({
    name: 'dns-upstream',
    default: [],
    kept: true,
    usual: "the machine's",
    help: 'Name servers for names outside the cluster, address[:port].',
    section: network,
  }),
  registryMirrors: flag.stringArray({
    name: 'registry-mirror',
    default: [],
    kept: true,
    help: 'Where nodes pull images from, [registry=]url, for all registries or one; repeatable.',
    section: nodes,
  }),
  registryPort: { ...registry, type: { ...registry.type, bareValue: '5000', mayTake: /^[0-9]+$/ } },
  quotaBytes: flag.whole({
    name: 'quota-backend-bytes',
    default: 0,
    max: Number.MAX_SAFE_INTEGER,
    usual: '8 GiB',
    help: 'Size that the data may grow to before writes are refused, in this run.',
    section: data,
  }),
  ...etcdRows({ kept: true, section: data }),
  encryptSecrets: flag.bool({
    name: 'encrypt-secrets',
    default: false,
    kept: true,
    help: "Encrypt Secrets in the store, with a key beside the cluster's other keys; once on, it stays.",
    section: data,
  }),
  auditPolicyFile: flag.string({
    name: 'audit-policy-file',
    default: '',
    help: 'Policy of the audit log of this run; with --audit-log-path.',
    section: data,
  }),
  auditLogPath: flag.string({
    name: 'audit-log-path',
    default: '',
    help: "File of the audit log, or '-' for standard output. With --control-planes each machine has one of that name in its logs.",
    section: data,
  }),
  ...componentArgRows,
  config: flag.string({
    name: 'config',
    default: '',
    help: 'A file with the cluster in the words of kind (kind.x-k8s.io/v1alpha4) or kubeadm (InitConfiguration, ClusterConfiguration); flags win over it.',
    section: start,
  }),
  detach: flag.bool({
    name: 'detach',
    default: false,
    help: 'Return when the cluster is ready and leave it running.',
    section: start,
  }),
  demo: flag.bool({
    name: 'demo',
    default: false,
    help: 'Also run the demo: a web server spread over the nodes, with an image made on this machine.',
    section: start,
  }),
  keepKubeconfig: flag.bool({
    name: 'no-kubeconfig',
    default: false,
    help: "Leave the user's kubeconfig alone.",
    section: start,
  }),
};

/** What was given of the flags; of those that are absent the cluster has what it had before, or the default. */
export type UpFlags = Partial<FlagValues<typeof upFlags>>;
/** What a cluster keeps as it is given. */
export type KeptFlags = FlagValues<typeof keptFlags>;

export const upDefaults = defaultsOf(upFlags);

/** What was given now, else before, else the default. */
export const keptOf = (given: UpFlags, before: Partial<KeptFlags> = {}): KeptFlags => ({
  ...defaultsOf(keptFlags),
  ...Object.fromEntries(
    Object.keys(keptFlags).flatMap((key) => {
      const value = given[key as keyof KeptFlags] ?? before[key as keyof KeptFlags];
      return value === undefined ? [] : [[key, value]];
    }),
  ),
});
