// A whole cluster in the caller's process, for tests of controllers, operators and charts: the real apiserver with RBAC and admission,
// every control loop, the scheduler, and nodes whose pods are simulated. Nothing touches the disk.
import { stringify } from 'yaml';
import type { Node } from '#api/core/v1';
import { createInformerFactory, type KubeClient, kubeconfigFor } from '#client';
import {
  type ControlPlane,
  ephemeralPki,
  identities,
  type Identity,
  isNodeReady,
  type SimulatedNodes,
  startControlPlane,
  startSimulatedNodes,
  waitFor,
} from '#cluster';
import type { DecisionRecord } from '#controller-runtime';
import { systemClock, systemRng } from '#host';
import { openMemoryStore } from '#store';
import { type Clock, type Logger, type Rng, silentLogger } from '#utils';
import type { Dial } from '#wire';

export interface StartClusterOptions {
  /** Simulated nodes; default 1. Pods on them go Running without a process. */
  nodes?: number;
  /** Port of the apiserver on 127.0.0.1; default: a free one. */
  port?: number;
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
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const readyTimeoutMs = 30_000;

/** Starts a cluster; resolves when its nodes are Ready. Several may run in one process. */
export async function startCluster(options: StartClusterOptions = {}): Promise<TestCluster> {
  const { nodes = 1, port = 0, clock = systemClock(), rng = systemRng(), logger = silentLogger } = options;
  const deps = { clock, rng, logger };
  const store = openMemoryStore({ clock });
  const pki = ephemeralPki();
  let simulated: SimulatedNodes | undefined;
  const dialKubelet: Dial = (target, signal) =>
    simulated ? simulated.dial(target, signal) : Promise.reject(new Error('the nodes have not started yet'));
  const plane = await startControlPlane(
    { dataDir: '', pki, port, advertiseAddress: '127.0.0.1', dialKubelet },
    { ...deps, store },
  );
  const stop = async (): Promise<void> => {
    await simulated?.stop();
    await plane.stop();
    await store.close();
  };
  try {
    await plane.apiserver.started;
    await plane.startLoops();
    const names = Array.from({ length: nodes }, (_, index) => `node-${index + 1}`);
    simulated = await startSimulatedNodes(plane, names, { ...deps, pki });
    await nodesReady(plane, nodes, deps);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: plane.apiserver.url,
    kubeconfig: stringify(kubeconfigFor('sagong', plane.clientConfig(identities.admin))),
    client: plane.client(identities.admin, 'sagong'),
    clientFor: (identity) => plane.client(identity, identity.name),
    explain: (key) => plane.decisions.about(key),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function nodesReady(plane: ControlPlane, count: number, deps: { clock: Clock; rng: Rng; logger: Logger }): Promise<void> {
  if (count === 0) return;
  const informers = createInformerFactory({ ...deps, client: plane.client(identities.admin, 'sagong') });
  const nodes = informers.informer<Node>({ group: '', version: 'v1', resource: 'nodes' });
  informers.start();
  try {
    await informers.waitForSync();
    await waitFor(nodes, (all) => all.filter(isNodeReady).length >= count, {
      clock: deps.clock,
      timeoutMs: readyTimeoutMs,
      complaint: (all) => `only ${all.filter(isNodeReady).length} of ${count} nodes are Ready after ${readyTimeoutMs / 1000} s`,
    });
  } finally {
    informers.stop();
  }
}
