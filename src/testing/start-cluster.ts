// A whole cluster in the caller's process, for tests of controllers, operators, charts and cloud providers: the real apiserver with RBAC and
// admission, every control loop, the scheduler, nodes whose pods are simulated, and a cloud under them. Nothing touches the disk.
import type { GroupVersionResource, KubeObject, UnknownObject } from '#apimachinery/meta';
import { formatKubeconfig, type KubeClient, kubeconfigFor, type ResourceClient } from '#client';
import type { CloudProvider } from '#cloud-provider';
import type { ComponentFailure } from '#component-base/failures';
import {
  type ClusterPki,
  type ControlPlane,
  ephemeralPki,
  identities,
  type Identity,
  keysOf,
  objectNamed,
  pkiFrom,
  podCidrFor,
  SimulatedNodes,
  startControlPlane,
  startStorage,
} from '#cluster';
import { type KeptFlags, upDefaults } from '#cluster/flags';
import type { DecisionRecord } from '#controller-runtime';
import { systemClock, systemRng } from '#host';
import { openMemoryStore } from '#store';
import { type Clock, type Logger, type Rng, silentLogger } from '#utils';
import type { Dial } from '#wire';
import { type ApiFaults, ApiGate } from './api-gate.ts';
import {
  type ClusterCloud,
  type GivenCloudProvider,
  providerOf,
  startClusterCloud,
  startManager,
  type TestCloud,
  type TestCloudOptions,
} from './cloud.ts';
import { driven } from './drive.ts';
import { InstanceNodes, nodesUsable, PlainNodes, type TestNodes } from './nodes.ts';
import { type ClusterSnapshot, type ClusterState, snapshotOf, stateOf } from './snapshot.ts';
import { catchStrays } from './strays.ts';

const kubeletPollMs = 2;
const kubeletTimeoutMs = 30_000;

export interface StartClusterOptions {
  /**
   * Goes on from a snapshot: all objects with their resource versions, certificates and keys, the cloud with all that is in it, and the nodes, on which
   * the pods are started again. A cluster with a cloud provider of your own is given it again.
   */
  from?: ClusterSnapshot | Uint8Array;
  /** Simulated nodes; default 1. Pods on them go Running without a process. */
  nodes?: number;
  /** Port of the apiserver on 127.0.0.1; default: a free one. */
  port?: number;
  /**
   * The cloud under the cluster: nodes are its instances, Services of type LoadBalancer get an address (nothing answers there). Default: there is
   * one. `false`: none; Services of type LoadBalancer stay pending.
   */
  cloud?: boolean | TestCloudOptions;
  /** A provider of your own in its place, in a cloud-controller-manager of this process. It is asked for machines named like the nodes. */
  cloudProvider?: GivenCloudProvider;
  /** What `--cloud-config` would say to `cloudProvider`. */
  cloudConfig?: unknown;
  /**
   * `local-path` (default): claims get a volume by the default StorageClass `standard`, an object without a directory, for pods are simulated. `none`:
   * there is no StorageClass, and claims stay pending unless your test makes volumes.
   */
  storage?: KeptFlags['storage'];
  /** `kubelets` (default): metrics.k8s.io, for `kubectl top` and autoscalers; what pods use is said by their annotations. `none`: nobody serves it. */
  metrics?: KeptFlags['metrics'];
  /** A virtual one goes on by itself while the cluster starts and stops, and while methods of its handle wait. */
  clock?: Clock;
  rng?: Rng;
  logger?: Logger;
}

/** Objects of a type that is not named have fields of unknown types. */
export interface TestClient extends KubeClient {
  resource<T extends KubeObject = UnknownObject>(gvr: GroupVersionResource, namespace?: string): ResourceClient<T>;
}

export interface TestCluster {
  /** `https://127.0.0.1:<port>`. */
  readonly url: string;
  /** Kubeconfig (YAML) of the administrator, for kubectl, Helm and client libraries. */
  readonly kubeconfig: string;
  /** The administrator, in memory: no encoding, frozen answers. */
  readonly client: TestClient;
  /** Somebody else, in memory: authorization holds. `groups` without `system:authenticated` is unauthenticated. */
  clientFor(identity: Identity): TestClient;
  /** What every control loop decided last about an object (`deployment/web`; plural, singular, kind or short name), and why. Default namespace: `default`. */
  explain(object: string, namespace?: string): DecisionRecord[];
  /** What goes wrong with its API. */
  readonly faults: ApiFaults;
  /**
   * What its components threw, the newest last: a component that failed was started again, and the cluster goes on. Empty, unless there is a bug in
   * Sagong, or in your provider.
   */
  readonly failures: readonly ComponentFailure[];
  /** The cluster as it is now: to be started from later, by `from`. Faults and explanations are no part of it. */
  snapshot(): ClusterSnapshot;
  /** Another cluster that goes on from here, on another port; the two know nothing of each other. It has the same clock. */
  fork(): Promise<TestCluster>;
  /** Its machines. */
  readonly nodes: TestNodes;
  /** Its cloud. Throws for a cluster without one of its own. */
  readonly cloud: TestCloud;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Deps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
}

/** Starts a cluster; resolves when its nodes are Ready and known to their cloud. Several may run in one process. */
export function startCluster(options: StartClusterOptions = {}): Promise<TestCluster> {
  const { clock = systemClock(), rng = systemRng(), logger = silentLogger } = options;
  return driven(clock, assemble(options, { clock, rng, logger }));
}

/** What of the options can be said before anything is started. Throws for options that contradict each other. */
function settle(options: StartClusterOptions, saved: ClusterState | undefined): Settled {
  const { nodes, cloud, cloudProvider, storage, metrics } = options;
  if (cloudProvider && typeof cloud === 'object') throw new Error('a cluster has one cloud: `cloud` or `cloudProvider`');
  const names = Array.from({ length: nodes ?? 1 }, (_, index) => `node-${index + 1}`);
  if (!saved)
    return {
      names,
      cloud: cloudProvider || cloud === false ? undefined : typeof cloud === 'object' ? cloud : {},
      storage: storage ?? upDefaults.storage,
      metrics: metrics ?? upDefaults.metrics,
      podCidr: podCidrFor(names.length),
    };
  if (nodes !== undefined) throw new Error('the snapshot has its nodes; more are added by `cluster.nodes.add`');
  if (cloud !== undefined) throw new Error('the snapshot says what the cloud is');
  if (storage !== undefined) throw new Error('the snapshot says what the storage is');
  if (cloudProvider && saved.cloud) throw new Error('the snapshot has a cloud of its own');
  return {
    names: [],
    cloud: saved.cloud?.options,
    storage: saved.storage,
    metrics: metrics ?? saved.metrics ?? upDefaults.metrics,
    podCidr: saved.podCidr,
  };
}

interface Settled {
  /** The names of nodes to be made. */
  names: readonly string[];
  cloud: TestCloudOptions | undefined;
  storage: KeptFlags['storage'];
  metrics: KeptFlags['metrics'];
  podCidr: string;
}

async function assemble(options: StartClusterOptions, deps: Deps): Promise<TestCluster> {
  const { port = 0, from } = options;
  const { clock } = deps;
  const saved = from && stateOf(from);
  const settled = settle(options, saved);
  const provider = options.cloudProvider && (await providerOf(options.cloudProvider, options.cloudConfig, deps));
  const undo: (() => Promise<void> | void)[] = [];
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const store = openMemoryStore({ clock, ...(saved && { snapshot: saved.store }) });
    undo.push(() => store.close());
    undo.push(catchStrays());
    const pki = saved ? pkiFrom(saved.pki) : ephemeralPki();
    const gate = new ApiGate(clock);
    const way: { dial?: Dial; kubelets?: SimulatedNodes } = {};
    const dialKubelet: Dial = (target, signal) =>
      way.dial?.(target, signal) ?? Promise.reject(new Error('the nodes have not started yet'));
    const plane = await startControlPlane(
      {
        ...{ dataDir: '', pki, port, podCidr: settled.podCidr, advertiseAddress: '127.0.0.1', dialKubelet },
        metrics: settled.metrics,
        nodeStats: (name) => way.kubelets?.stats(name),
      },
      { ...deps, store, gate, deepFreeze: true },
    );
    undo.push(() => {
      // What is to fail must not keep it from ending.
      gate.clear();
      return plane.stop();
    });
    await plane.apiserver.started;
    const sinceMs = saved ? clock.now() : 0;
    const kubelets = new SimulatedNodes(plane, { ...deps, pki });
    undo.push(() => kubelets.stop());
    Object.assign(way, { dial: kubelets.dial, kubelets });
    await plane.startLoops();
    if (settled.storage !== 'none') {
      const storage = await startStorage({ plane, dataDir: '/', simulated: true }, deps);
      undo.push(() => storage.stop());
    }
    const machines = await startMachines({ plane, kubelets, pki, settled, saved, provider, undo }, deps);
    await kubeletsRun(kubelets, machines.nodes.running(), clock);
    await nodesUsable(plane, machines.nodes.running(), deps, sinceMs);
    const snapshot = (): ClusterSnapshot =>
      snapshotOf({
        store: store.snapshot(),
        pki: keysOf(pki),
        storage: settled.storage,
        metrics: settled.metrics,
        podCidr: settled.podCidr,
        ...machines.saved(),
      });
    const fork = (): Promise<TestCluster> =>
      startCluster({ ...deps, from: snapshot(), ...(provider && { cloudProvider: provider }) });
    return handle({ ...machines, plane, gate, clock, snapshot, fork, stop: () => driven(clock, stop()) });
  } catch (error) {
    await stop();
    throw error;
  }
}

interface MachineParts {
  plane: ControlPlane;
  kubelets: SimulatedNodes;
  pki: ClusterPki;
  settled: Settled;
  saved: ClusterState | undefined;
  provider: { name: string; cloud: CloudProvider } | undefined;
  undo: (() => Promise<void> | void)[];
}
interface StartedMachines {
  nodes: TestNodes & { running(): string[] };
  cloud: ClusterCloud | undefined;
  saved(): Pick<ClusterState, 'cloud' | 'machines'>;
}

/** The nodes, and the cloud that they are part of. */
async function startMachines(parts: MachineParts, deps: Deps): Promise<StartedMachines> {
  const { plane, kubelets, pki, settled, saved, provider, undo } = parts;
  const { names, cloud: options } = settled;
  if (options) {
    const cloud = await startClusterCloud(options, deps, saved?.cloud?.world);
    undo.push(() => cloud.stop());
    await cloud.connect(plane, kubelets);
    const nodes = new InstanceNodes(plane, cloud, { ...deps, pki });
    await nodes.ensure(names);
    return { nodes, cloud, saved: () => ({ cloud: { options, world: cloud.world }, machines: [] }) };
  }
  const external = provider !== undefined;
  const nodes = new PlainNodes(plane, kubelets, { external, routesFromCloud: provider?.cloud.routes !== undefined }, deps);
  if (provider) {
    const manager = await startManager(plane, provider, deps);
    undo.push(() => manager.stop());
  }
  await (saved ? nodes.restore(saved.machines) : nodes.ensure(names));
  return { nodes, cloud: undefined, saved: () => ({ machines: nodes.saved() }) };
}

/** What Nodes say of themselves in a snapshot is of another life: their kubelets have to be there first. */
async function kubeletsRun(kubelets: SimulatedNodes, names: readonly string[], clock: Clock): Promise<void> {
  const deadlineMs = clock.monotonic() + kubeletTimeoutMs;
  for (;;) {
    const missing = names.filter((name) => !kubelets.has(name));
    if (missing.length === 0) return;
    if (clock.monotonic() > deadlineMs)
      throw new Error(`without a kubelet after ${kubeletTimeoutMs / 1000} s: ${missing.join(', ')}`);
    await clock.sleep(kubeletPollMs);
  }
}

interface Parts {
  plane: ControlPlane;
  nodes: TestNodes;
  cloud: ClusterCloud | undefined;
  gate: ApiGate;
  clock: Clock;
  snapshot(): ClusterSnapshot;
  fork(): Promise<TestCluster>;
  stop(): Promise<void>;
}

const handle = ({ plane, nodes, cloud, gate, clock, snapshot, fork, stop }: Parts): TestCluster => ({
  url: plane.apiserver.url,
  kubeconfig: formatKubeconfig(kubeconfigFor('sagong', plane.clientConfig(identities.admin))),
  client: plane.client(identities.admin, 'sagong'),
  clientFor: (identity) => plane.client(identity, identity.name),
  explain: (object, namespace = 'default') => plane.decisions.about(objectNamed(object, namespace)),
  get failures() {
    return plane.supervisor.failures;
  },
  faults: {
    inject: (rule) => gate.inject(rule),
    clear: () => gate.clear(),
    dropWatches: (filter) => gate.dropWatches(filter),
  },
  snapshot,
  fork,
  nodes: {
    names: () => nodes.names(),
    add: (...args) => driven(clock, nodes.add(...args)),
    stop: (name) => driven(clock, nodes.stop(name)),
    start: (name) => driven(clock, nodes.start(name)),
    terminate: (name) => driven(clock, nodes.terminate(name)),
  },
  get cloud() {
    if (!cloud) throw new Error('this cluster has no cloud of its own: start it without `cloud: false` and `cloudProvider`');
    return cloud;
  },
  stop,
  [Symbol.asyncDispose]: stop,
});
