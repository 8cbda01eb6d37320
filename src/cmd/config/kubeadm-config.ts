// Configuration files in kubeadm's words (https://kubernetes.io/docs/reference/config-api/kubeadm-config.v1beta4/): InitConfiguration and
// ClusterConfiguration for `sagong up --config`, JoinConfiguration for `sagong join --config`. What has a counterpart becomes flags; everything else is
// refused by its name, never ignored. Pure.
import { parseAllDocuments } from 'yaml';
import type { Networks } from './kind-config.ts';
import { type PatchedArgs, wordsOf } from './kubeadm-patches.ts';

type Fields = Record<string, unknown>;
const versions = ['kubeadm.k8s.io/v1beta4', 'kubeadm.k8s.io/v1beta3'];
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

const wrong = (path: string, what: string): never => {
  throw new Error(`--config: ${path} ${what}`);
};

/** The documents of a file. Throws a sentence for one that is not YAML. */
export const documentsIn = (text: string): unknown[] =>
  parseAllDocuments(text).map((document) => {
    const [error] = document.errors;
    if (error) throw new Error(`--config: the file is not YAML: ${error.message}`);
    return document.toJS() as unknown;
  });

/** An object of the file, of which every field must be read. */
class Section {
  readonly #fields: Fields;
  readonly #path: string;
  readonly #read = new Set<string>();

  constructor(value: unknown, path: string) {
    if (!isEmpty(value) && !isObject(value)) wrong(path, 'must be an object');
    this.#fields = (value ?? {}) as Fields;
    this.#path = path;
  }
  at(name: string): string {
    return `${this.#path}.${name}`;
  }
  raw(name: string): unknown {
    this.#read.add(name);
    return this.#fields[name];
  }
  /** The text of a field; undefined where it is empty. */
  text(name: string): string | undefined {
    const value = this.raw(name);
    if (isEmpty(value)) return undefined;
    return typeof value === 'string' ? value : wrong(this.at(name), 'must be a text');
  }
  port(name: string): number | undefined {
    const value = this.raw(name);
    if (value === undefined || value === null) return undefined;
    const isPort = typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65_536;
    return isPort ? value : wrong(this.at(name), 'must be a port');
  }
  flag(name: string): boolean {
    const value = this.raw(name) ?? false;
    return typeof value === 'boolean' ? value : wrong(this.at(name), 'must be true or false');
  }
  texts(name: string): string[] {
    const value = this.raw(name) ?? [];
    if (!Array.isArray(value) || value.some((one) => typeof one !== 'string'))
      return wrong(this.at(name), 'must be a list of texts');
    return value as string[];
  }
  section(name: string): Section {
    return new Section(this.raw(name), this.at(name));
  }
  /** Flags of a component. */
  words(name: string): string[] {
    return wordsOf(this.raw(name), this.at(name));
  }
  has(name: string): boolean {
    return !isEmpty(this.#fields[name]);
  }
  /** Refuses a field that has another value than the one that holds anyway. */
  only(name: string, is: unknown, why: string): void {
    const value = this.raw(name);
    if (!isEmpty(value) && value !== is) wrong(`${this.at(name)}: ${String(value)}`, `has no counterpart: ${why}`);
  }
  /** Throws for the first field that nobody has read. */
  end(): void {
    const left = Object.keys(this.#fields).find((name) => !this.#read.has(name) && !isEmpty(this.#fields[name]));
    if (left !== undefined) wrong(this.at(left), 'has no counterpart');
  }
}

/** The documents of a file, by their kinds. */
function documentsOf(documents: readonly unknown[], kinds: Record<string, readonly string[]>): Map<string, Section> {
  const found = new Map<string, Section>();
  for (const document of documents.filter((one) => !isEmpty(one))) {
    if (!isObject(document)) throw new Error('--config: the file holds a document that is no object');
    const { kind, apiVersion } = document;
    if (typeof kind !== 'string' || !Object.hasOwn(kinds, kind))
      throw new Error(`--config: kind ${JSON.stringify(kind)} has no counterpart: there are ${Object.keys(kinds).join(', ')}`);
    if (!kinds[kind]?.includes(apiVersion as string))
      throw new Error(`--config: apiVersion of ${kind} must be ${kinds[kind]?.join(' or ')}, not ${JSON.stringify(apiVersion)}`);
    if (found.has(kind)) throw new Error(`--config: there are two documents of the kind ${kind}`);
    const section = new Section(document, kind);
    for (const name of ['kind', 'apiVersion']) section.raw(name);
    found.set(kind, section);
  }
  return found;
}

export interface FromKubeadm {
  name?: string;
  port?: number;
  advertiseAddress?: string;
  controlPlanes?: number;
  controlPlaneEndpoint?: string;
  proxyMode?: 'iptables' | 'nftables';
  etcdServers?: string[];
  etcdCafile?: string;
  etcdCertfile?: string;
  etcdKeyfile?: string;
  /** Flags of components, by option of `sagong up`. */
  args: PatchedArgs;
}

function fromInit(init: Section): Partial<FromKubeadm> {
  const local = init.section('localAPIEndpoint');
  const registration = init.section('nodeRegistration');
  const advertiseAddress = local.text('advertiseAddress');
  const port = local.port('bindPort');
  for (const section of [local, registration, init]) section.end();
  return { ...(advertiseAddress !== undefined && { advertiseAddress }), ...(port !== undefined && { port }) };
}

function etcdOf(etcd: Section): Partial<FromKubeadm> {
  const [local, external] = [etcd.has('local'), etcd.has('external')];
  if (local && external) wrong(etcd.at('external'), 'and local exclude each other');
  const inner = etcd.section('local');
  inner.only('dataDir', '/var/lib/etcd', 'data is in the data directory of the cluster (--data-dir)');
  inner.end();
  const outer = etcd.section('external');
  const etcdServers = outer.texts('endpoints');
  const [etcdCafile, etcdCertfile, etcdKeyfile] = ['caFile', 'certFile', 'keyFile'].map((name) => outer.text(name));
  for (const section of [outer, etcd]) section.end();
  if (local) return { controlPlanes: 1 };
  return {
    ...(etcdServers.length > 0 && { etcdServers }),
    ...(etcdCafile !== undefined && { etcdCafile }),
    ...(etcdCertfile !== undefined && { etcdCertfile }),
    ...(etcdKeyfile !== undefined && { etcdKeyfile }),
  };
}

/** Flags of the control plane's components. */
function argsOf(cluster: Section): PatchedArgs {
  const args: PatchedArgs = {};
  for (const [name, option] of [
    ['apiServer', 'apiserverArg'],
    ['controllerManager', 'controllerManagerArg'],
    ['scheduler', 'schedulerArg'],
  ] as const) {
    const component = cluster.section(name);
    const words = component.words('extraArgs');
    if (words.length > 0) args[option] = words;
    component.end();
  }
  return args;
}

function fromCluster(cluster: Section, { podCidr, serviceCidr, domain, version }: UpFacts): FromKubeadm {
  const name = cluster.text('clusterName');
  const controlPlaneEndpoint = cluster.text('controlPlaneEndpoint');
  const wanted = cluster.text('kubernetesVersion');
  if (wanted !== undefined && !`${version}.`.startsWith(`${wanted.replace(/^v?/, 'v')}.`) && !/^(stable|latest)/.test(wanted))
    wrong(`${cluster.at('kubernetesVersion')}: ${wanted}`, `has no counterpart: this is ${version}`);
  const networking = cluster.section('networking');
  networking.only('podSubnet', podCidr, `pods are in ${podCidr}`);
  networking.only('serviceSubnet', serviceCidr, `Services are in ${serviceCidr}`);
  networking.only('dnsDomain', domain, `names end in ${domain}`);
  networking.end();
  const etcd = etcdOf(cluster.section('etcd'));
  const args = argsOf(cluster);
  cluster.end();
  return {
    ...(name !== undefined && { name }),
    ...(controlPlaneEndpoint !== undefined && { controlPlaneEndpoint }),
    ...etcd,
    args,
  };
}

function fromProxy(proxy: Section): Partial<FromKubeadm> {
  const mode = proxy.text('mode');
  proxy.end();
  if (mode === undefined) return {};
  if (mode !== 'iptables' && mode !== 'nftables') return wrong(`${proxy.at('mode')}: ${mode}`, 'must be iptables or nftables');
  return { proxyMode: mode };
}

export interface UpFacts extends Networks {
  domain: string;
  /** `v1.36.2`. */
  version: string;
}

export const isKubeadm = (document: unknown): boolean =>
  isObject(document) && /^kube(adm|proxy\.config)\./.test(String(document['apiVersion']));

/** Reads documents of kubeadm for `sagong up`. Throws a sentence that names what is wrong, or what has no counterpart here. */
export function fromKubeadmConfig(documents: readonly unknown[], facts: UpFacts): FromKubeadm {
  const found = documentsOf(documents, {
    InitConfiguration: versions,
    ClusterConfiguration: versions,
    KubeProxyConfiguration: ['kubeproxy.config.k8s.io/v1alpha1'],
  });
  const part = (kind: string): Section => found.get(kind) ?? new Section({}, kind);
  return {
    ...fromInit(part('InitConfiguration')),
    ...fromProxy(part('KubeProxyConfiguration')),
    ...fromCluster(part('ClusterConfiguration'), facts),
  };
}

export interface FromJoin {
  endpoint?: string;
  token?: string;
  discoveryTokenCaCertHash?: string[];
  discoveryTokenUnsafeSkipCaVerification?: boolean;
  nodeName?: string;
  nodeIp?: string;
  controlPlane?: boolean;
  certificateKey?: string;
  /** Flags of the kubelet, as name=value. */
  kubeletArgs: string[];
}

const taintText = (value: unknown, path: string): string => {
  const taint = new Section(value, path);
  const [key = '', text, effect = ''] = ['key', 'value', 'effect'].map((name) => taint.text(name));
  taint.end();
  if (key === '' || !['NoSchedule', 'PreferNoSchedule', 'NoExecute'].includes(effect))
    return wrong(path, 'must have a key, and the effect NoSchedule, PreferNoSchedule or NoExecute');
  return `${key}${text === undefined ? '' : `=${text}`}:${effect}`;
};

function registrationOf(registration: Section): Pick<FromJoin, 'nodeName' | 'nodeIp' | 'kubeletArgs'> {
  const nodeName = registration.text('name');
  const words = registration.words('kubeletExtraArgs');
  const taints = registration.raw('taints') ?? [];
  if (!Array.isArray(taints)) return wrong(registration.at('taints'), 'must be a list');
  registration.end();
  const texts = taints.map((taint, index) => taintText(taint, `${registration.at('taints')}[${index}]`));
  const ip = words.find((word) => word.startsWith('node-ip='));
  return {
    ...(nodeName !== undefined && { nodeName }),
    ...(ip !== undefined && { nodeIp: ip.slice('node-ip='.length) }),
    kubeletArgs: [
      ...words.filter((word) => word !== ip),
      ...(texts.length > 0 ? [`register-with-taints=${texts.join(',')}`] : []),
    ],
  };
}

function planeOf(join: Section): Pick<FromJoin, 'controlPlane' | 'certificateKey' | 'nodeIp'> {
  // An empty object is a wish, too.
  const isWanted = isObject(join.raw('controlPlane'));
  const plane = join.section('controlPlane');
  const certificateKey = plane.text('certificateKey');
  const local = plane.section('localAPIEndpoint');
  const nodeIp = local.text('advertiseAddress');
  local.only('bindPort', 6443, 'apiservers of joined machines are at port 6443');
  for (const section of [local, plane]) section.end();
  return {
    ...(isWanted && { controlPlane: true }),
    ...(certificateKey !== undefined && { certificateKey }),
    ...(nodeIp !== undefined && { nodeIp }),
  };
}

/** Reads documents of kubeadm for `sagong join`. Throws a sentence that names what is wrong, or what has no counterpart here. */
export function fromJoinConfig(documents: readonly unknown[]): FromJoin {
  const join = documentsOf(documents, { JoinConfiguration: versions }).get('JoinConfiguration');
  if (!join) throw new Error('--config: the file holds no JoinConfiguration');
  const discovery = join.section('discovery');
  const bootstrap = discovery.section('bootstrapToken');
  const token = bootstrap.text('token') ?? discovery.text('tlsBootstrapToken');
  discovery.only('tlsBootstrapToken', token, 'one token is for discovery and TLS bootstrap');
  const endpoint = bootstrap.text('apiServerEndpoint');
  const discoveryTokenCaCertHash = bootstrap.texts('caCertHashes');
  const isBelieved = bootstrap.flag('unsafeSkipCAVerification');
  for (const section of [bootstrap, discovery]) section.end();
  const plane = planeOf(join);
  const registration = registrationOf(join.section('nodeRegistration'));
  join.end();
  return {
    ...(endpoint !== undefined && { endpoint }),
    ...(token !== undefined && { token }),
    ...(discoveryTokenCaCertHash.length > 0 && { discoveryTokenCaCertHash }),
    ...(isBelieved && { discoveryTokenUnsafeSkipCaVerification: true }),
    ...registration,
    ...plane,
  };
}
