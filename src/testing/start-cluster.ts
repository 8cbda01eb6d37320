// A whole cluster in the caller's process, for tests of controllers, operators, charts and cloud providers: the real apiserver with RBAC and
// admission, every control loop, the scheduler, nodes whose pods are simulated, and a cloud under them. Nothing touches the disk.
import { stringify } from 'yaml';
import { type KubeClient, kubeconfigFor } from '#client';
import { type ControlPlane, ephemeralPki, identities, type Identity, SimulatedNodes, startControlPlane } from '#cluster';
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

export interface StartClusterOptions {
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
  /** A virtual one goes on by itself while the cluster starts and stops, and while methods of its handle wait. */
  clock?: Clock;
  rng?: Rng;
  logger?: Logger;
}

export interface TestCluster {
  /** `https://127.0.0.1:<port>`. */
  readonly url: string;
  /** Kubeconfig (YAML) of the administrator, for kubectl, Helm and client libraries. */
  readonly kubeconfig: string;
  /** The administrator, in memory: no encoding, frozen answers. */
  readonly client: KubeClient;
  /** Somebody else, in memory: authorization holds. `groups` without `system:authenticated` is unauthenticated. */
  clientFor(identity: Identity): KubeClient;
  /** What every control loop decided last about `namespace/name` (or `name`), and why. */
  explain(key: string): DecisionRecord[];
  /** What goes wrong with its API. */
  readonly faults: ApiFaults;
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

async function assemble(options: StartClusterOptions, deps: Deps): Promise<TestCluster> {
  const { nodes: count = 1, port = 0, cloud: wanted = true, cloudProvider } = options;
  if (cloudProvider && typeof options.cloud === 'object') throw new Error('a cluster has one cloud: `cloud` or `cloudProvider`');
  const { clock } = deps;
  const undo: (() => Promise<void> | void)[] = [];
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const store = openMemoryStore({ clock });
    undo.push(() => store.close());
    const pki = ephemeralPki();
    const gate = new ApiGate(clock);
    const way: { dial?: Dial } = {};
    const dialKubelet: Dial = (target, signal) =>
      way.dial?.(target, signal) ?? Promise.reject(new Error('the nodes have not started yet'));
    const plane = await startControlPlane(
      { dataDir: '', pki, port, advertiseAddress: '127.0.0.1', dialKubelet },
      { ...deps, store, gate },
    );
    undo.push(() => {
      // What is to fail must not keep it from ending.
      gate.clear();
      return plane.stop();
    });
    await plane.apiserver.started;
    await plane.startLoops();
    const kubelets = new SimulatedNodes(plane, { ...deps, pki });
    undo.push(() => kubelets.stop());
    way.dial = kubelets.dial;
    let cloud: ClusterCloud | undefined;
    let nodes: InstanceNodes | PlainNodes;
    if (cloudProvider || wanted === false) {
      const provider = cloudProvider && (await providerOf(cloudProvider, options.cloudConfig, deps));
      nodes = new PlainNodes(
        plane,
        kubelets,
        { external: provider !== undefined, routesFromCloud: provider?.cloud.routes !== undefined },
        deps,
      );
      if (provider) undo.push(await managerStop(plane, provider, deps));
    } else {
      cloud = await startClusterCloud(wanted === true ? {} : wanted, deps);
      undo.push(() => cloud?.stop());
      await cloud.connect(plane, kubelets);
      nodes = new InstanceNodes(plane, cloud, { ...deps, pki });
    }
    const names = Array.from({ length: count }, (_, index) => `node-${index + 1}`);
    await nodes.ensure(names);
    await nodesUsable(plane, names, deps);
    return handle({ plane, nodes, cloud, gate, clock, stop: () => driven(clock, stop()) });
  } catch (error) {
    await stop();
    throw error;
  }
}

async function managerStop(...args: Parameters<typeof startManager>): Promise<() => Promise<void>> {
  const manager = await startManager(...args);
  return () => manager.stop();
}

interface Parts {
  plane: ControlPlane;
  nodes: TestNodes;
  cloud: ClusterCloud | undefined;
  gate: ApiGate;
  clock: Clock;
  stop(): Promise<void>;
}

const handle = ({ plane, nodes, cloud, gate, clock, stop }: Parts): TestCluster => ({
  url: plane.apiserver.url,
  kubeconfig: stringify(kubeconfigFor('sagong', plane.clientConfig(identities.admin))),
  client: plane.client(identities.admin, 'sagong'),
  clientFor: (identity) => plane.client(identity, identity.name),
  explain: (key) => plane.decisions.about(key),
  faults: {
    inject: (rule) => gate.inject(rule),
    clear: () => gate.clear(),
    dropWatches: (filter) => gate.dropWatches(filter),
  },
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
