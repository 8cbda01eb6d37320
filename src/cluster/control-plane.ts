// The control plane of a cluster in this process: apiserver on an embedded durable store, control loops and scheduler over direct
// transports, each with an identity of its own, so that authorization holds for them as for anybody.
import { join } from 'node:path';
import {
  defaultOptions,
  type KubeApiServer,
  type KubeApiServerOptions,
  type NodeStatsShortcut,
  type RequestGate,
  runKubeApiServer,
} from '#apiserver/app';
import { type ClientConfig, createClient, type KubeClient } from '#client';
import { type Running, type Supervised, Supervisor } from '#component-base';
import { type DecisionRecord, Decisions, type ObjectId } from '#controller-runtime';
import type { ControllersConfig } from '#controllers';
import type { CertificateAuthority } from '#pki';
import type { DecisionTold, KubeScheduler } from '#scheduler';
import type { Refusal } from '#apiserver';
import type { Store } from '#store';
import type { Clock, Logger, Rng } from '#utils';
import type { Dial, ListenTarget, WireServer } from '#wire';
import type { ArgComponent, ComponentArgs } from './flags/component-args.ts';
import { type ClusterPki, clientConfigFor, kubeletTrust, serverNames } from './certificates/certificates.ts';
import { type KeptFlags, upDefaults } from './flags/index.ts';
import { type Identity, identities } from './certificates/identities.ts';
import { grantKubeletClient, kubeletClientName } from './objects/kubelet-client.ts';
import { clusterNetworks } from './state/networks.ts';

/** Files of the audit log. All other settings of the log have the defaults of kube-apiserver's flags. */
export interface AuditFiles {
  policyFile: string;
  /** '-': standard output. */
  logPath: string;
}

export interface EtcdAccess {
  servers: readonly string[];
  tls?: { ca?: string; cert?: string; key?: string };
}

export interface ControlPlaneOptions {
  /** Absent: no audit log. */
  audit?: AuditFiles;
  /** Absent: objects are stored as they are. */
  encryption?: { path: string; reload: boolean };
  /** The folder of the store; '' keeps everything in memory. */
  dataDir: string;
  /** The cluster ran before: a store that is gone is damage. */
  storeMustExist?: boolean;
  /** What the store may grow to; absent: its default. */
  quotaBytes?: number;
  /** A real etcd in place of the store in `dataDir`. */
  etcd?: EtcdAccess;
  pki: ClusterPki;
  port: number;
  /** The range of the addresses of all pods; default: `clusterNetworks.podCidr`. */
  podCidr?: string;
  /** Where nodes and pods reach the apiserver; also in its certificate. */
  advertiseAddress: string;
  /** Default: the port served on. */
  advertisePort?: number;
  /** Further names and addresses in its certificate. */
  names?: { dnsNames: readonly string[]; ips: readonly string[] };
  /** Machines may join: bootstrap tokens sign, and end. */
  joinable?: boolean;
  /** Serve on this unix socket instead of loopback. */
  socket?: string;
  /** Opens connections to kubelets and pods. */
  dialKubelet?: Dial;
  /** Who serves metrics.k8s.io; by default the apiserver does, from what kubelets measure. */
  metrics?: KeptFlags['metrics'];
  /** What a simulated node uses; undefined for a node that is not in this process. */
  nodeStats?: NodeStatsShortcut;
  /** A user's flags of the components. */
  componentArgs?: ComponentArgs;
}

export interface ControlPlaneDeps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
  /** An open store, left open; for embedding and tests. */
  store?: Store;
  /** Lets requests fail; for tests. */
  gate?: RequestGate;
  descriptions?(): Promise<string | undefined>;
  /** Freezes objects all the way down, to find who writes to shared state: for tests. */
  deepFreeze?: boolean;
  /** The process's supervisor, under which everything beside the apiserver runs; default: a new one. */
  supervisor?: Supervisor;
  /** Nothing else runs in this process yet: what is not put into another failure domain, or into none, is the apiserver's. */
  alone?: boolean;
  /** Is told of errors of the apiserver that nobody caught. */
  onStray?(error: unknown): void;
}

export interface Told {
  decisions: DecisionRecord[];
  scheduling?: DecisionTold | undefined;
  /** Components that did not answer, each with the reason. */
  silent: string[];
}

export interface Refused {
  /** The newest first. */
  refusals: Refusal[];
  /** Apiservers that did not answer, each with the reason. */
  silent: string[];
}

/** A control plane to who works with it, wherever it runs. */
export interface PlaneAccess {
  /** Where it is reached, as a URL. */
  readonly server: string;
  readonly decisions: Decisions;
  /** Keeps everything beside the apiserver running, each on its own. */
  readonly supervisor: Supervisor;
  /** The range of the addresses of all pods. */
  readonly podCidr: string;
  /** What loops decided last about an object, and the scheduler about the pod with that uid, while it is remembered. */
  about(object: ObjectId, uid: string): Promise<Told>;
  /** The requests that its apiservers refused last. */
  refusals(): Promise<Refused>;
  /** A client of this process with that identity. */
  client(identity: Identity, userAgent: string): KubeClient;
  /** How programs connect over TLS as that identity. */
  clientConfig(identity: Identity, server?: string): ClientConfig;
}

/** A control plane in this process. */
export interface ControlPlane extends PlaneAccess {
  readonly apiserver: KubeApiServer;
  /** Serves with a new certificate from now on. */
  renewServing(): void;
  /** Also serves on another address or socket. */
  serveOn(listen: ListenTarget): Promise<WireServer>;
  /** Starts control loops and scheduler. */
  startLoops(): Promise<void>;
  stop(): Promise<void>;
}

const servingPair = ({ pki, advertiseAddress, names }: ControlPlaneOptions): { cert: string; key: string } =>
  pki.serving('kube-apiserver', serverNames(names?.dnsNames ?? [], [advertiseAddress, ...(names?.ips ?? [])]));

function apiServerOptions(given: ControlPlaneOptions): KubeApiServerOptions {
  const {
    dataDir,
    pki,
    port,
    advertiseAddress,
    advertisePort,
    audit,
    storeMustExist = false,
    quotaBytes = 0,
    etcd,
    metrics = upDefaults.metrics,
    encryption,
  } = given;
  const defaults = defaultOptions();
  const { log } = defaults.audit;
  return {
    ...defaults,
    ...(audit && {
      audit: { ...defaults.audit, policyFile: audit.policyFile, log: { ...log, path: audit.logPath } },
    }),
    store: {
      etcdServers: etcd?.servers ?? [],
      ...(etcd?.tls && { etcdTls: etcd.tls }),
      dataDir: dataDir === '' ? '' : join(dataDir, 'store'),
      mustExist: storeMustExist,
      quotaBytes,
    },
    ...(encryption && { encryption }),
    securePort: port,
    advertiseAddress,
    advertisePort: advertisePort ?? 0,
    serving: servingPair(given),
    clientCa: pki.authority.cert,
    requestHeader: {
      ca: pki.frontProxyAuthority.cert,
      allowedNames: ['front-proxy-client'],
      usernameHeaders: ['X-Remote-User'],
      uidHeaders: ['X-Remote-Uid'],
      groupHeaders: ['X-Remote-Group'],
      extraHeaderPrefixes: ['X-Remote-Extra-'],
    },
    proxyClient: pki.frontProxyClient(),
    // This process is not on the network of Services, but reaches pods.
    aggregatorRouting: true,
    anonymousAuth: true,
    bootstrapTokens: true,
    metricsApi: metrics === 'kubelets',
    serviceAccountIssuers: [`https://kubernetes.default.svc.${clusterNetworks.domain}`],
    serviceAccountKeys: [pki.serviceAccount.publicKey],
    serviceAccountSigningKey: pki.serviceAccount.privateKey,
    enableAdmissionPlugins: ['NodeRestriction'],
    allowPrivileged: true,
    serviceClusterIpRange: [clusterNetworks.serviceCidr],
    kubelet: {
      client: pki.client(kubeletClientName, []),
      ca: kubeletTrust(pki),
      addressTypes: ['InternalIP', 'Hostname', 'ExternalIP'],
    },
  };
}

export async function startControlPlane(options: ControlPlaneOptions, deps: ControlPlaneDeps): Promise<ControlPlane> {
  const { pki, podCidr = clusterNetworks.podCidr } = options;
  const { clock, rng, logger } = deps;
  const { componentArgs = {} } = options;
  const argsOf = (component: ArgComponent): readonly string[] => componentArgs[component] ?? [];
  const served = await withArgs(apiServerOptions(options), argsOf('kube-apiserver'));
  const supervisor = deps.supervisor ?? new Supervisor({ clock, logger });
  const apiserver = await runKubeApiServer(served, {
    ...deps,
    supervisor,
    flags: async () => (await import('./component-args/apply.ts')).apiserverFlagTexts(served, argsOf('kube-apiserver')),
    ...(options.dialKubelet && { dialKubelet: options.dialKubelet, dialService: options.dialKubelet }),
    ...(options.nodeStats && { nodeStats: options.nodeStats }),
    ...(options.socket !== undefined && { listen: { path: options.socket } }),
  });
  const decisions = new Decisions();
  const loops: Supervised<Running>[] = [];
  let scheduler: Supervised<KubeScheduler> | undefined;
  const client = (identity: Identity, userAgent: string): KubeClient => createClient(apiserver.transport(identity, userAgent));

  const plane: ControlPlane = {
    apiserver,
    get server() {
      return apiserver.url;
    },
    decisions,
    supervisor,
    podCidr,
    about: async (object, uid) => ({
      decisions: decisions.about(object),
      scheduling: scheduler?.current?.told(uid),
      silent: [],
    }),
    refusals: async () => ({ refusals: apiserver.refusals(), silent: [] }),
    client,
    clientConfig: (identity, server = apiserver.url) => clientConfigFor(pki, identity, server),
    serveOn: (listen) => apiserver.serveOn(listen),
    renewServing: () => apiserver.serveWith(servingPair(options)),
    async startLoops() {
      await grantKubeletClient(client(identities.admin, 'sagong'));
      const of = { clock, rng, logger, supervisor, plane, argsOf };
      const controllers = ['*', ...(options.joinable ? joiningLoops : [])];
      loops.push(await supervisor.run('kube-controller-manager', await managerOf({ pki, controllers }, of)));
      scheduler = await supervisor.run('kube-scheduler', await schedulerOf(of));
      loops.push(scheduler);
    },
    async stop() {
      await Promise.all(loops.splice(0).map((loop) => loop.stop()));
      await apiserver.close();
    },
  };
  return plane;
}

interface LoopDeps extends Pick<ControlPlaneDeps, 'clock' | 'rng' | 'logger'> {
  supervisor: Supervisor;
  plane: Pick<ControlPlane, 'client' | 'decisions' | 'podCidr'>;
  /** A user's flags. */
  argsOf(component: ArgComponent): readonly string[];
}

/** Flag tables take their time: they are loaded for who has given flags. */
async function withArgs(options: KubeApiServerOptions, given: readonly string[]): Promise<KubeApiServerOptions> {
  return given.length === 0 ? options : (await import('./component-args/apply.ts')).apiserverWith(options, given);
}

/** Off unless asked for, as upstream's. */
const joiningLoops = ['bootstrap-signer-controller', 'token-cleaner-controller'];

const signedMs = 365 * 24 * 3_600_000;
const signing = ({ authority, kubeletAuthority }: ClusterPki): Pick<ControllersConfig, 'clusterSigning' | 'clusterSigners'> => {
  const signer = ({ cert, key }: CertificateAuthority) => ({ cert, key, durationMs: signedMs });
  return {
    clusterSigning: signer(authority),
    ...(kubeletAuthority && { clusterSigners: { 'kubernetes.io/kubelet-serving': signer(kubeletAuthority) } }),
  };
};

/** What starts kube-controller-manager. It is loaded only now: the apiserver answers before. */
async function managerOf(
  { pki, controllers }: { pki: ClusterPki; controllers: string[] },
  { plane, logger, argsOf, ...deps }: LoopDeps,
): Promise<() => Running> {
  const { defaultControllerManagerLeaderElection, runKubeControllerManager } = await import('#controller-manager');
  const { defaultControllersConfig } = await import('#controllers');
  const { client, decisions, podCidr } = plane;
  const config = {
    ...defaultControllersConfig,
    clusterCidrs: [podCidr],
    allocateNodeCidrs: true,
    serviceCidrs: [clusterNetworks.serviceCidr],
    rootCa: pki.authority.cert,
    serviceAccountSigningKey: pki.serviceAccount.privateKey,
    ...signing(pki),
  };
  // One process holds the store: nobody else can lead.
  const leaderElection = { ...defaultControllerManagerLeaderElection(), leaderElect: false };
  const given = argsOf('kube-controller-manager');
  const ours = { config, controllers };
  const settings = given.length === 0 ? ours : await (await import('./component-args/apply.ts')).managerWith(ours, given);
  return () =>
    runKubeControllerManager(
      { ...settings, leaderElection, identity: 'sagong' },
      {
        ...deps,
        client: client(identities.controllerManager, 'kube-controller-manager'),
        clientFor: (name) => client(identities.controller(name), name),
        logger: logger.with({ component: 'kube-controller-manager' }),
        decisions,
      },
    );
}

/** What starts kube-scheduler. */
async function schedulerOf({ plane, clock, rng, logger, argsOf }: LoopDeps): Promise<() => KubeScheduler> {
  const { runKubeScheduler } = await import('#scheduler');
  const client = plane.client(identities.scheduler, 'kube-scheduler');
  const given = argsOf('kube-scheduler');
  const options = given.length === 0 ? {} : await (await import('./component-args/apply.ts')).schedulerWith(given);
  return () => runKubeScheduler(options, { client, clock, rng, logger: logger.with({ component: 'kube-scheduler' }) });
}
