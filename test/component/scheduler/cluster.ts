// An apiserver in memory with a scheduler on it, for tests of the scheduler's shell.
import { defaultOptions, runKubeApiServer } from '#apiserver/app';
import type { Node, Pod } from '#api/core/v1';
import { createClient, type KubeClient } from '#client';
import { systemClock } from '#host';
import { runKubeScheduler, type KubeScheduler, type KubeSchedulerOptions } from '#scheduler';
import { type Clock, seededRng, silentLogger } from '#utils';

const admin = { name: 'system:admin', groups: ['system:masters', 'system:authenticated'] };
const core = (resource: string) => ({ group: '', version: 'v1', resource });
export const pods = core('pods');
export const nodes = core('nodes');

export interface TestCluster {
  client: KubeClient;
  clock: Clock;
  scheduler: KubeScheduler;
  /** Resolves with the pod once `done` holds. */
  pod(name: string, done: (pod: Pod) => boolean): Promise<Pod>;
  close(): Promise<void>;
}

export const nodeOf = (name: string, extra: Partial<Node> & { allocatable?: Record<string, string> } = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'kubernetes.io/hostname': name }, ...extra.metadata },
  ...(extra.spec && { spec: extra.spec }),
  status: { allocatable: { cpu: '4', memory: '8Gi', pods: '110', ...extra.allocatable } },
});

export const podOf = (name: string, spec: Partial<Pod['spec']> = {}, metadata: Pod['metadata'] = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', ...metadata },
  spec: { containers: [{ name: 'c', image: 'x' }], ...spec },
});

export const cpu = (amount: string) => ({ containers: [{ name: 'c', image: 'x', resources: { requests: { cpu: amount } } }] });

/** What `start` makes; when it throws, what is there already is closed. */
async function startOr<T>(start: () => T, close: () => Promise<void>): Promise<T> {
  try {
    return start();
  } catch (error) {
    await close();
    throw error;
  }
}

/** `run`: another build of the scheduler. */
export async function createTestCluster(options: KubeSchedulerOptions = {}, run = runKubeScheduler): Promise<TestCluster> {
  const clock = systemClock();
  const rng = seededRng(7);
  const server = await runKubeApiServer(
    {
      ...defaultOptions(),
      store: { etcdServers: [], dataDir: '' },
      bindAddress: '127.0.0.1',
      securePort: 0,
      disableAdmissionPlugins: ['ServiceAccount', 'TaintNodesByCondition'],
    },
    { clock, rng, logger: silentLogger, deepFreeze: true },
  );
  await server.started;
  const client = createClient(server.transport(admin, 'test'));
  const as = createClient(server.transport({ ...admin, name: 'system:kube-scheduler' }, 'kube-scheduler'));
  const scheduler = await startOr(
    () => run(options, { client: as, clock, rng, logger: silentLogger }),
    server.close.bind(server),
  );
  await scheduler.started;
  return {
    client,
    clock,
    scheduler,
    async pod(name, done) {
      const stream = await client.resource<Pod>(pods, 'default').watch({ fieldSelector: `metadata.name=${name}` });
      return new Promise((resolve, reject) => {
        stream.subscribe(
          ({ object }) => {
            if (!done(object)) return;
            resolve(object);
            stream.stop();
          },
          (error) => reject(error ?? new Error(`watch of ${name} ended`)),
        );
      });
    },
    async close() {
      await scheduler.stop();
      client.close();
      await server.close();
    },
  };
}
