// A world for control loops: the real apiserver over the memory store, reached directly, with the chosen loops running.
import { createClient, createEventRecorder, createInformerFactory, type KubeClient } from '#client';
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta';
import type { Pod } from '#api/core/v1';
import { createApiServer } from '#apiserver';
import { type ControllerDefinition, Decisions, startController } from '#controller-runtime';
import { pods } from '#controller-runtime/workload';
import { systemClock, systemRng } from '#host';
import { openMemoryStore } from '#store';
import type { Logger } from '#utils';

const deadlineMs = 40_000;

export interface World {
  client: KubeClient;
  decisions: Decisions;
  /** Warnings and errors the loops logged. */
  complaints: string[];
  create<T extends KubeObject>(resource: GroupVersionResource, object: T): Promise<T>;
  list<T extends KubeObject>(resource: GroupVersionResource, namespace?: string): Promise<T[]>;
  get<T extends KubeObject>(resource: GroupVersionResource, name: string): Promise<T>;
  /** Resolves with the first value that is not undefined; rejects with the loops' decisions after a while. */
  until<T>(what: string, probe: () => Promise<T | undefined>): Promise<T>;
  /** Plays the kubelet: pods without status get one with this phase, ready when running. */
  runPods(phase?: 'Running' | 'Succeeded' | 'Failed'): () => void;
  events(): Promise<string[]>;
  close(): Promise<void>;
}

export async function startWorld(definitions: readonly ControllerDefinition[], namespace = 'default'): Promise<World> {
  const clock = systemClock();
  const rng = systemRng();
  const complaints: string[] = [];
  const complain = (message: string, values?: Record<string, unknown>): void =>
    void complaints.push(`${message} ${JSON.stringify(values)}`);
  const logger: Logger = { error: complain, warn: complain, info() {}, debug() {}, with: () => logger };
  const store = await openMemoryStore({ clock });
  const server = await createApiServer({ store, clock, rng, logger, deepFreeze: true });
  const client = createClient(server.transport({ name: 'system:admin', groups: ['system:masters'] }));
  const informers = createInformerFactory({ client, clock, rng, logger });
  const decisions = new Decisions();
  const running = definitions.map((definition) =>
    startController(definition, {
      client,
      informers,
      clock,
      logger,
      decisions,
      recorder: createEventRecorder({ client, clock, logger, component: definition.eventSource ?? definition.name }),
    }),
  );
  informers.start();
  const stops: (() => void)[] = [];
  const eventResource = { group: '', version: 'v1', resource: 'events' };
  const list = async <T extends KubeObject>(resource: GroupVersionResource): Promise<T[]> =>
    (await client.resource<T>(resource, namespace).list()).items;
  return {
    client,
    decisions,
    complaints,
    create: (resource, object) => client.resource<typeof object>(resource, namespace).create(object),
    list,
    get: (resource, name) => client.resource(resource, namespace).get(name) as never,
    async until(what, probe) {
      const end = clock.monotonic() + deadlineMs;
      for (;;) {
        const value = await probe();
        if (value !== undefined) return value;
        if (clock.monotonic() > end) throw new Error(`${what} did not happen; ${complaints.slice(-5).join('; ')}`);
        await clock.sleep(5);
      }
    },
    runPods(phase = 'Running') {
      const informer = informers.informer<Pod>(pods);
      const run = (pod: Pod): void => {
        if (pod.metadata.deletionTimestamp) {
          void client
            .resource(pods, namespace)
            .delete(pod.metadata.name ?? '', { gracePeriodSeconds: 0 })
            .catch(() => {});
          return;
        }
        if (pod.status?.phase && pod.status.phase !== 'Pending') return;
        const time = new Date(clock.now()).toISOString();
        const ready = phase === 'Running' ? 'True' : 'False';
        const status = { phase, conditions: [{ type: 'Ready', status: ready, lastTransitionTime: time }] };
        void client
          .resource<Pod>(pods, namespace)
          .patch(pod.metadata.name ?? '', 'application/merge-patch+json', { status }, { subresource: 'status' })
          .catch(complain);
      };
      const stop = informer.addHandler({ onAdd: run, onUpdate: run });
      stops.push(stop);
      return stop;
    },
    events: async () =>
      (await list<KubeObject & { reason?: string; message?: string }>(eventResource)).map(
        ({ reason, message }) => `${reason}: ${message}`,
      ),
    async close() {
      for (const stop of stops) stop();
      await Promise.all(running.map((controller) => controller.stop()));
      informers.stop();
      client.close();
      await server.close();
      await store.close();
    },
  };
}
