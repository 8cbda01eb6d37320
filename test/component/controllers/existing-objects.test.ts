// Loops over all resources that start where objects exist already, as after every restart of a cluster.
import { afterEach, expect, it } from 'vitest';
import type { Pod } from '#api/core/v1';
import { createApiServer } from '#apiserver';
import { createClient, createEventRecorder, createInformerFactory } from '#client';
import { type ControllerDefinition, defineController, type ExecutorDeps, startController } from '#controller-runtime';
import { pods, replicaSets } from '#controller-runtime/workload';
import { createControllers, defaultControllersConfig } from '#controllers';
import { systemClock, systemRng } from '#host';
import { openMemoryStore } from '#store';
import type { Logger } from '#utils';

const clock = systemClock();
const rng = systemRng();
const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'main', image: 'a:1' }] } };

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** An apiserver with informers on it that are filled before any loop starts; what is complained about comes with it. */
async function start(): Promise<ExecutorDeps & { complaints: string[] }> {
  const complaints: string[] = [];
  const complain = (message: string, values?: Record<string, unknown>): void =>
    void complaints.push(`${message} ${JSON.stringify(values)}`);
  const logger: Logger = { error: complain, warn: complain, info() {}, debug() {}, with: () => logger };
  const store = openMemoryStore({ clock });
  const server = await createApiServer({ store, clock, rng, logger, deepFreeze: true });
  const client = createClient(server.transport({ name: 'system:admin', groups: ['system:masters'] }));
  const informers = createInformerFactory({ client, clock, rng, logger });
  cleanUps.push(async () => {
    informers.stop();
    client.close();
    await server.close();
    await store.close();
  });
  const owner = await client.resource(replicaSets, 'default').create({
    metadata: { name: 'owner' },
    spec: { replicas: 0, selector: { matchLabels: { app: 'a' } }, template },
  } as never);
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'owner', uid: owner.metadata.uid ?? '' }];
  await client.resource<Pod>(pods, 'default').create({ ...template, metadata: { name: 'owned', ownerReferences } } as Pod);
  for (const resource of [pods, replicaSets]) informers.informer(resource);
  informers.start();
  await informers.waitForSync();
  const recorder = createEventRecorder({ client, clock, logger, component: 'test' });
  return { client, informers, clock, logger, recorder, complaints };
}

const run = (definition: ControllerDefinition, deps: ExecutorDeps): void => {
  const running = startController(definition, deps);
  cleanUps.push(() => running.stop());
};

it('the garbage collector sees to owners and dependents that were there before it', async () => {
  const deps = await start();
  const [collector] = createControllers(defaultControllersConfig).filter(({ name }) => name === 'garbage-collector-controller');
  run(collector as ControllerDefinition, deps);
  await deps.client.resource(replicaSets, 'default').delete('owner', { propagationPolicy: 'Background' });
  const pod = deps.client.resource(pods, 'default');
  await expect.poll(async () => (await pod.list()).items.map(({ metadata }) => metadata.name), { timeout: 10_000 }).toEqual([]);
  expect(deps.complaints).toEqual([]);
});

it('a key function that throws costs its loop an event and nobody anything else', async () => {
  const deps = await start();
  const seen: string[] = [];
  const definition = defineController<string>({
    name: 'broken',
    for: pods,
    rights: [],
    watches: [
      {
        resource: pods,
        keys: ({ metadata }) => {
          if (metadata.name === 'owned') throw new Error('a bug');
          return [metadata.name ?? ''];
        },
      },
    ],
    view: (key) => key,
    reconcile(key) {
      seen.push(key);
      return { effects: [] };
    },
  });
  run(definition, deps);
  const pod = deps.client.resource<Pod>(pods, 'default');
  await pod.create({ ...template, metadata: { name: 'another' } } as Pod);
  await pod.patch('owned', 'application/merge-patch+json', { metadata: { labels: { touched: 'true' } } });
  await expect.poll(() => seen, { timeout: 10_000 }).toEqual(['another']);
  await expect.poll(() => deps.complaints.length, { timeout: 10_000 }).toBe(2);
  expect(deps.complaints[0]).toMatch(/^event not turned into keys .*a bug/);
});
