// Kinds served in several versions, and values that storage does not tell apart: what a client sees is what upstream's would see.
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KubeList, UnknownObject } from '#apimachinery/meta';
import type { Transport } from '#apimachinery/transport';
import { type ApiServer, createApiServer } from '#apiserver';
import { systemClock, systemRng } from '#host';
import { type EmbeddedStore, openMemoryStore } from '#store';

let store: EmbeddedStore;
let server: ApiServer;
let client: Transport;

beforeEach(async () => {
  store = openMemoryStore();
  server = await createApiServer({ store, clock: systemClock(), rng: systemRng(), deepFreeze: true });
  client = server.transport({ name: 'tester', groups: ['system:masters'] }, 'tester');
});
afterEach(async () => {
  client.close();
  await server.close();
  await store.close();
});

const at = (group: string, version: string, resource: string) => ({ group, version, resource, namespace: 'default' });
const create = (place: ReturnType<typeof at>, object: object): Promise<UnknownObject> =>
  client.call<UnknownObject>({ ...place, verb: 'create', object: object as never });

const newEvent = {
  metadata: { name: 'new' },
  eventTime: '2026-01-01T00:00:00.000000Z',
  reportingController: 'example.com/c',
  reportingInstance: 'i',
  action: 'Act',
  reason: 'Why',
  regarding: { kind: 'Pod', namespace: 'default', name: 'p' },
  type: 'Normal',
};

it('events of events.k8s.io obey its stricter rules and are selected by its names', async () => {
  const { eventTime: _, ...without } = newEvent;
  await expect(create(at('events.k8s.io', 'v1', 'events'), without)).rejects.toMatchObject({
    status: { code: 422, message: 'Event "new" is invalid: eventTime: Required value' },
  });
  await create(at('events.k8s.io', 'v1', 'events'), newEvent);
  await create(at('', 'v1', 'events'), { metadata: { name: 'old' }, involvedObject: { namespace: 'default', name: 'q' } });
  const select = (group: string, fieldSelector: string) =>
    client.call<KubeList<UnknownObject>>({ ...at(group, 'v1', 'events'), verb: 'list', options: { fieldSelector } });
  expect((await select('events.k8s.io', 'regarding.name=p')).items.map(({ metadata }) => metadata.name)).toEqual(['new']);
  expect((await select('', 'involvedObject.name=q')).items.map(({ metadata }) => metadata.name)).toEqual(['old']);
  await expect(select('events.k8s.io', 'involvedObject.name=p')).rejects.toMatchObject({ status: { code: 400 } });
  const shown = await client.call<UnknownObject>({ ...at('events.k8s.io', 'v1', 'events'), verb: 'get', name: 'old' });
  expect(shown).not.toHaveProperty('reportingInstance');
});

it('an older version owns what it says after defaulting', async () => {
  const made = await create(at('autoscaling', 'v1', 'horizontalpodautoscalers'), {
    metadata: { name: 'h' },
    spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } },
  });
  expect(made.metadata.managedFields?.[0]?.fieldsV1).toMatchObject({
    'f:spec': { 'f:minReplicas': {}, 'f:targetCPUUtilizationPercentage': {} },
  });
});

it('an empty list that must be written is null once stored; kinds without generations keep the one sent', async () => {
  const limits = await create(at('', 'v1', 'limitranges'), { metadata: { name: 'l' }, spec: { limits: [] } });
  expect(limits['spec']).toEqual({ limits: null });
  const changed = await client.call<UnknownObject>({
    ...at('', 'v1', 'limitranges'),
    verb: 'update',
    name: 'l',
    object: { ...limits, metadata: { ...limits.metadata, labels: { a: 'b' } } } as never,
  });
  expect(changed.metadata.labels).toEqual({ a: 'b' });
  const map = await create(at('', 'v1', 'configmaps'), { metadata: { name: 'c', generation: 4 } });
  expect(map.metadata.generation).toBe(4);
});

it('jobs say in their own words what they are not selected by', async () => {
  const select = (fieldSelector: string) =>
    client.call({ ...at('batch', 'v1', 'jobs'), verb: 'list', options: { fieldSelector } });
  await expect(select('spec.suspend=true')).rejects.toMatchObject({
    status: { code: 400, message: 'field label "spec.suspend" not supported for Job' },
  });
});
