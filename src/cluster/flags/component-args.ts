// Flags of components, given to `sagong up` (`--apiserver-arg audit-log-maxage=3`): which components have them, and which of their flags are not a
// user's because the assembly decides them. Pure.

/** Components by the flag of `up`; `key` is the name of its value. */
export const componentArgFlags = {
  'apiserver-arg': { key: 'apiserverArg', component: 'kube-apiserver', example: 'event-ttl=2h' },
  'controller-manager-arg': {
    key: 'controllerManagerArg',
    component: 'kube-controller-manager',
    example: 'concurrent-job-syncs=10',
  },
  'scheduler-arg': { key: 'schedulerArg', component: 'kube-scheduler', example: 'kube-api-qps=100' },
  'cloud-controller-manager-arg': {
    key: 'cloudControllerManagerArg',
    component: 'cloud-controller-manager',
    example: 'concurrent-service-syncs=3',
  },
  'kubelet-arg': { key: 'kubeletArg', component: 'kubelet', example: 'max-pods=50' },
  'kube-proxy-arg': { key: 'kubeProxyArg', component: 'kube-proxy', example: 'v=2' },
} as const;
export type ComponentArgFlag = (typeof componentArgFlags)[keyof typeof componentArgFlags];
export type ArgComponent = ComponentArgFlag['component'];

/** A user's flags of components, as words of a command line (`--flag=value`). */
export type ComponentArgs = Partial<Record<ArgComponent, readonly string[]>>;

const identity = 'the cluster makes its identities and certificates itself';
const place = 'the cluster decides where it serves';
const data = 'the cluster decides where its data is';
const logs = 'its log level is that of the process it shares';
const pods = 'the cluster decides its networks';

const ofAll: Record<string, string> = {
  kubeconfig: identity,
  master: place,
  'authentication-kubeconfig': identity,
  'authorization-kubeconfig': identity,
  'client-ca-file': identity,
  'cert-dir': identity,
  'tls-cert-file': identity,
  'tls-private-key-file': identity,
  'bind-address': place,
  'secure-port': place,
  help: 'run the component alone for its help: sagong <component> --help',
  version: 'use sagong version',
};

/** Why a flag of a component is not a user's. */
const owned: Record<ArgComponent, Record<string, string>> = {
  'kube-apiserver': {
    'advertise-address': place,
    'data-dir': data,
    'etcd-servers': data,
    'etcd-cafile': data,
    'etcd-certfile': data,
    'etcd-keyfile': data,
    'encryption-provider-config': 'use --encrypt-secrets',
    'quota-backend-bytes': 'use --quota-backend-bytes',
    'service-cluster-ip-range': pods,
    'service-account-issuer': identity,
    'service-account-key-file': identity,
    'service-account-signing-key-file': identity,
    'kubelet-client-certificate': identity,
    'kubelet-client-key': identity,
    'kubelet-certificate-authority': identity,
    'proxy-client-cert-file': identity,
    'proxy-client-key-file': identity,
  },
  'kube-controller-manager': {
    'allocate-node-cidrs': pods,
    'cluster-cidr': pods,
    'service-cluster-ip-range': pods,
    ...Object.fromEntries(
      ['', 'kubelet-serving-', 'kubelet-client-', 'kube-apiserver-client-', 'legacy-unknown-'].flatMap((signer) =>
        ['cert', 'key'].map((half) => [`cluster-signing-${signer}${half}-file`, identity]),
      ),
    ),
    'root-ca-file': identity,
    'service-account-private-key-file': identity,
    'use-service-account-credentials': identity,
  },
  'kube-scheduler': { 'write-config-to': 'run sagong kube-scheduler --write-config-to alone' },
  'cloud-controller-manager': {
    'cloud-config': 'the cluster decides its cloud',
    'cloud-provider': 'use --cloud-provider',
    'cluster-cidr': pods,
    'cluster-name': 'use --name',
    'configure-cloud-routes': pods,
  },
  kubelet: {
    'bootstrap-kubeconfig': identity,
    'cloud-provider': 'use --cloud-provider',
    'cluster-dns': pods,
    'cluster-domain': pods,
    config: 'give its settings as flags',
    'container-runtime-endpoint': 'every node has its own containerd',
    'hostname-override': 'the cluster names its nodes',
    'node-ip': place,
    'root-dir': data,
    'rotate-certificates': 'the cluster renews the certificates of its nodes',
    'rotate-server-certificates': 'the cluster renews the certificates of its nodes',
  },
  'kube-proxy': {
    cleanup: 'nodes clean up when they go',
    'cluster-cidr': pods,
    config: 'give its settings as flags',
    'hostname-override': 'the cluster names its nodes',
    'proxy-mode': 'use --proxy-mode',
    'write-config-to': 'run sagong kube-proxy --write-config-to alone',
  },
};
/** Flags that components of one process cannot have each for itself, with what to use instead or why they have no meaning. */
const shared: Record<string, string> = {
  v: logs,
  vmodule: logs,
  'logging-format': logs,
  'leader-elect': 'nobody else can lead',
  'use-service-account-credentials': 'every loop has an identity of its own already',
};

export const nameOf = (word: string): string => /^--([^=]+)/.exec(word)?.[1]?.replaceAll('_', '-') ?? '';

/** Why the flag of a component is not a user's; undefined: it is. `alone`: the component is a process of its own. */
export function ownedBy(component: ArgComponent, flag: string, alone: boolean): string | undefined {
  return owned[component][flag] ?? ofAll[flag] ?? (alone ? undefined : shared[flag]);
}

const portless = new Set<ArgComponent>(['kube-controller-manager', 'kube-scheduler', 'cloud-controller-manager']);
const ofServing =
  /^(tls-|requestheader-|authentication-|authorization-|permit-|webhook|(disable-http2-serving|http2-max-streams-per-connection|profiling)$)/;
const ofLeading = /^(leader-elect-|enable-leader-migration$|leader-migration-config$)/;

/** Why a flag changes nothing where its component shares a process; undefined: it counts. */
export function idleInSharedProcess(component: ArgComponent, flag: string): string | undefined {
  if (!portless.has(component)) return undefined;
  if (ofServing.test(flag)) return 'the component shares a process and has no port of its own';
  return ofLeading.test(flag) ? 'the component shares a process, and nobody else can lead' : undefined;
}

/** `k=v`, `--k=v` and `k` are `--k=v` and `--k`. Throws a sentence for anything else. */
export function wordOf(option: string, text: string): string {
  const bare = text.replace(/^--/, '');
  if (!/^[a-z][a-z0-9_-]*(=[^]*)?$/.test(bare))
    throw new Error(`--${option} must be a flag of the component as name=value, not ${JSON.stringify(text)}`);
  return `--${bare}`;
}

/** Collects the flags of components out of those of `sagong up`. */
export const componentArgsOf = (flags: Partial<Record<ComponentArgFlag['key'], readonly string[]>>): ComponentArgs =>
  Object.fromEntries(
    Object.entries(componentArgFlags).flatMap(([option, { key, component }]) => {
      const given = flags[key];
      return given === undefined ? [] : [[component, given.map((text) => wordOf(option, text))]];
    }),
  );
