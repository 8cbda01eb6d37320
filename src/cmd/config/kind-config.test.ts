import { expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { fromKindConfig } from './kind-config.ts';

const networks = { podCidr: '10.244.0.0/16', serviceCidr: '10.96.0.0/16' };
const head = 'kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\n';
const read = (text: string): ReturnType<typeof fromKindConfig> => fromKindConfig(parse(head + text), networks);

it('reads what has a counterpart', () => {
  expect(read('')).toEqual({ nodes: 1, labels: [{}] });
  const nodes = 'nodes:\n- role: control-plane\n- role: worker\n  labels: { tier: front }\n- role: worker\n';
  expect(
    read(`name: app\n${nodes}networking:\n  apiServerPort: 6443\n  podSubnet: 10.244.0.0/16\n  kubeProxyMode: iptables\n`),
  ).toEqual({
    name: 'app',
    nodes: 2,
    labels: [{ tier: 'front' }, {}],
    port: 6443,
  });
  expect(read('nodes:\n- role: control-plane\n  labels: { a: b }\n')).toEqual({ nodes: 1, labels: [{ a: 'b' }] });
  expect(read('featureGates: {}\nnodes: []\nnetworking: { apiServerPort: -1 }\n')).toEqual({ nodes: 1, labels: [{}] });
});

it('reads what the whole cluster is told', () => {
  const mirror = `[plugins."io.containerd.grpc.v1.cri".registry.mirrors."docker.io"]\n  endpoint = ["http://10.0.0.5:5000"]`;
  const gates = 'feature-gates=A=true,B=false';
  expect(
    read(
      `featureGates: { A: true, B: false }\nruntimeConfig: { api/alpha: "false" }\ncontainerdConfigPatches: [${JSON.stringify(mirror)}]\nnetworking: { disableDefaultCNI: true, kubeProxyMode: nftables }\n`,
    ),
  ).toEqual({
    nodes: 1,
    labels: [{}],
    cni: 'none',
    proxyMode: 'nftables',
    registryMirrors: ['docker.io=http://10.0.0.5:5000'],
    args: {
      ...{ apiserverArg: [gates, 'runtime-config=api/alpha=false'], controllerManagerArg: [gates], schedulerArg: [gates] },
      ...{ kubeletArg: [gates], kubeProxyArg: [gates] },
    },
  });
});

it.each(['grpc.v1.cri', 'cri.v1.images'])(
  'takes the patch of a recipe for a local registry (%s), and no other folder',
  (plugin) => {
    const patch = (folder: string): string =>
      `containerdConfigPatches:\n- |-\n  [plugins."io.containerd.${plugin}".registry]\n    config_path = "${folder}"\n`;
    expect(read(patch('/etc/containerd/certs.d'))).toEqual({ nodes: 1, labels: [{}] });
    expect(() => read(patch('/etc/other'))).toThrow('"config_path = \\"/etc/other\\"" has no counterpart');
  },
);

it('reads ports of this machine that lead to nodes, on loopback unless an address is named', () => {
  const mapping = (host: number, more = '') => `  extraPortMappings: [{ containerPort: 30080, hostPort: ${host}${more} }]\n`;
  const nodes = `nodes:\n- role: control-plane\n${mapping(80)}- role: worker\n- role: worker\n${mapping(81, ', listenAddress: 0.0.0.0')}`;
  expect(read(nodes).ports).toEqual([
    { node: 0, listenAddress: '127.0.0.1', hostPort: 80, containerPort: 30080 },
    { node: 1, listenAddress: '0.0.0.0', hostPort: 81, containerPort: 30080 },
  ]);
});

it('reads folders of this machine that nodes see', () => {
  const mount = (path: string, more = '') => `  extraMounts: [{ hostPath: ${path}, containerPath: /data/${more} }]\n`;
  expect(read(`nodes:\n- role: control-plane\n${mount('./here')}`).mounts).toEqual([
    { node: 0, source: './here', target: '/data', readOnly: false },
  ]);
  const worker = '- role: worker\n';
  const third = mount('/there', 'x, readOnly: true, propagation: None, selinuxRelabel: false');
  expect(read(`nodes:\n- role: control-plane\n${worker}${worker}${third}`).mounts).toEqual([
    { node: 1, source: '/there', target: '/data/x', readOnly: true },
  ]);
});

it('reads several control planes, and flags of components in the words of kubeadm', () => {
  const patch = 'apiServer:\n  extraArgs:\n    event-ttl: 2h\n';
  const listed = 'kind: JoinConfiguration\nnodeRegistration:\n  kubeletExtraArgs:\n  - { name: max-pods, value: "7" }\n';
  const planes = '- role: control-plane\n'.repeat(3);
  const worker = `- role: worker\n  kubeadmConfigPatches: [${JSON.stringify(listed)}]\n`;
  expect(read(`kubeadmConfigPatches: [${JSON.stringify(patch)}]\nnodes:\n${planes}${worker}`)).toEqual({
    nodes: 1,
    controlPlanes: 3,
    labels: [{}],
    args: { apiserverArg: ['event-ttl=2h'] },
    nodeArgs: [['max-pods=7']],
  });
});

it('gives flags of a kubelet to the node that they are written at, those of the control plane to the first, and those of the cluster to all', () => {
  const patch = (kind: string, flag: string): string =>
    `kubeadmConfigPatches: [${JSON.stringify(`kind: ${kind}\nnodeRegistration:\n  kubeletExtraArgs: { ${flag}: x }\n`)}]\n`;
  const plane = `- role: control-plane\n  ${patch('InitConfiguration', 'a')}`;
  const workers = `- role: worker\n- role: worker\n  ${patch('JoinConfiguration', 'b')}`;
  expect(read(`${patch('JoinConfiguration', 'c')}nodes:\n${plane}${workers}`)).toEqual({
    ...{ nodes: 2, labels: [{}, {}] },
    args: { kubeletArg: ['c=x'] },
    nodeArgs: [['a=x'], ['b=x']],
  });
  expect(read(`nodes:\n${plane}`)).toEqual({ nodes: 1, labels: [{}], nodeArgs: [['a=x']] });
});

test.each([
  [
    'nodes:\n- role: control-plane\n  extraMounts: [{ hostPath: /a, containerPath: /b }]\n- role: worker\n',
    'nodes[0].extraMounts has no counterpart',
  ],
  ...[
    ['{ hostPath: /a }', 'containerPath must be an absolute path below the root of the node'],
    ['{ hostPath: /a, containerPath: / }', 'containerPath must be an absolute path below the root of the node'],
    ['{ hostPath: /a, containerPath: /./ }', 'containerPath must be an absolute path below the root of the node'],
    ['{ hostPath: /a, containerPath: b }', 'containerPath must be an absolute path below the root of the node'],
    ['{ hostPath: /a, containerPath: /b/../../etc }', 'containerPath must be an absolute path below the root of the node'],
    ['{ hostPath: "", containerPath: /b }', 'hostPath must be a path of this machine'],
    ['{ hostPath: /a, containerPath: /b, readonly: true }', 'readonly is no field of a mount'],
    ['{ hostPath: /a, containerPath: /b, readOnly: 1 }', 'readOnly must be true or false'],
    ['{ hostPath: /a, containerPath: /b, selinuxRelabel: true }', 'selinuxRelabel has no counterpart'],
    ['{ hostPath: /a, containerPath: /b, propagation: Bidirectional }', 'propagation: Bidirectional has no counterpart'],
  ].map(([mount, why]) => [`nodes:\n- role: control-plane\n  extraMounts: [${mount}]\n`, `nodes[0].extraMounts[0].${why}`]),
  [
    'nodes:\n- role: control-plane\n  extraPortMappings: [{ containerPort: 80 }]\n',
    'nodes[0].extraPortMappings[0].hostPort must be a port',
  ],
  [
    'nodes:\n- role: control-plane\n  extraPortMappings: [{ containerPort: 80, hostPort: 80, protocol: UDP }]\n',
    'nodes[0].extraPortMappings[0].protocol: UDP has no counterpart',
  ],
  [
    'nodes:\n- role: control-plane\n  extraPortMappings: [{ containerPort: 80, hostport: 80 }]\n',
    'nodes[0].extraPortMappings[0].hostport is no field',
  ],
  ['nodes:\n- role: worker\n', 'with a node of the role control-plane'],
  [`nodes:\n${'- role: control-plane\n'.repeat(2)}`, 'nodes: 2 of the role control-plane has no counterpart'],
  ['nodes:\n- role: boss\n', 'nodes[0].role must be control-plane or worker'],
  ['featureGates: { X: "yes" }\n', 'featureGates must be a map of gates to true or false'],
  ['runtimeConfig: { api/all: true }\n', 'runtimeConfig must be a map of APIs to texts'],
  ['containerdConfigPatches: ["[debug]"]\n', 'containerdConfigPatches[0]: "[debug]" has no counterpart'],
  ['containerdConfigPatches: [1]\n', 'containerdConfigPatches must be a list of texts'],
  ['networking: { kubeProxyMode: ipvs }\n', 'networking.kubeProxyMode: ipvs has no counterpart'],
  ['kubeadmConfigPatches: ["kind: InitConfiguration", "a: [}"]\n', '--config: kubeadmConfigPatches[1] is not YAML: '],
  ['kubeadmConfigPatches: ["a: 1\\n---\\nb: 2"]\n', 'kubeadmConfigPatches[0] must be one document of YAML'],
  ['kubeadmConfigPatches: ["x"]\n', 'kubeadmConfigPatches[0] must be a text with an object in YAML'],
  [
    'kubeadmConfigPatches: ["kind: KubeletConfiguration"]\n',
    'kind "KubeletConfiguration" has no counterpart: use flags of the kubelet',
  ],
  ['kubeadmConfigPatches: ["apiServer: { extraVolumes: [] }"]\n', 'for audit logs use --audit-policy-file and --audit-log-path'],
  ['kubeadmConfigPatches: ["networking: { podSubnet: 10.1.0.0/16 }"]\n', 'networking has no counterpart'],
  ['kubeadmConfigPatches: ["apiServer: { certSANs: [a] }"]\n', 'apiServer.certSANs has no counterpart'],
  ['networking: { disableDefaultCNI: 1 }\n', 'networking.disableDefaultCNI must be true or false'],
  ['networking: { ipFamily: dual }\n', 'networking.ipFamily: dual has no counterpart'],
  ['networking: { podSubnet: 10.1.0.0/16 }\n', 'pods are in 10.244.0.0/16'],
  ['networking: { apiServerPort: 70000 }\n', 'networking.apiServerPort must be a port'],
  ['nodse: []\n', 'unknown field "nodse"'],
  ['nodes:\n- role: control-plane\n  lables: {}\n', 'unknown field "nodes[0].lables"'],
])('refuses by name what has none: %j', (text, why) => {
  expect(() => read(text)).toThrow(why);
});

it('refuses what is no configuration of kind', () => {
  expect(() => fromKindConfig(undefined, networks)).toThrow('holds no object');
  expect(() => fromKindConfig({ kind: 'Pod' }, networks)).toThrow('kind must be "Cluster", not "Pod"');
  expect(() => fromKindConfig({ kind: 'Cluster', apiVersion: 'v1' }, networks)).toThrow('not "v1"');
});
