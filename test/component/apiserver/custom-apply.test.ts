// Server-side apply to custom resources: what their schema makes of fields, keys and nulls.
// Found by test/interop/side-by-side/odd-custom.mjs, which asks upstream's apiserver and ours.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { UnknownObject } from '#apimachinery/meta';
import type { Transport } from '#apimachinery/transport';
import { type ApiServer, createApiServer } from '#apiserver';
import { systemClock, systemRng } from '#host';
import { type EmbeddedStore, openMemoryStore } from '#store';

const things = { group: 'example.com', version: 'v1', resource: 'things', namespace: 'default' };
let store: EmbeddedStore;
let server: ApiServer;
let client: Transport;

const text = { type: 'string' };
const spec = {
  type: 'object',
  properties: {
    when: { type: 'string', format: 'date-time' },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    list: { type: 'array', items: text },
    port: { 'x-kubernetes-int-or-string': true },
    ports: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name', 'port'],
      items: { type: 'object', required: ['name'], properties: { name: text, port: { type: 'integer', default: 80 } } },
    },
  },
};
const definition = {
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } },
    ],
  },
};

beforeAll(async () => {
  store = openMemoryStore();
  server = await createApiServer({ store, clock: systemClock(), rng: systemRng(), deepFreeze: true });
  client = server.transport({ name: 'tester', groups: ['system:masters'] }, 'tester');
  const definitions = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' };
  await client.call({ ...definitions, verb: 'create', object: definition });
  await vi.waitFor(() => client.call({ ...things, verb: 'list' }), { timeout: 30_000 });
});
afterAll(async () => {
  client.close();
  await server.close();
  await store.close();
});

const apply = (fields: object, name = 'a'): Promise<UnknownObject> =>
  client.call<UnknownObject>({
    ...things,
    verb: 'patch',
    name,
    patch: {
      type: 'application/apply-patch+yaml',
      body: { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name }, spec: fields },
    },
    options: { fieldManager: 'me' },
  });

it.each([
  ['a null that is not allowed', { list: null }, 'spec.list in body must be of type array: "null"'],
  ['a list where a text of a format belongs', { when: [] }, '.spec.when: expected any scalar, got &{[]}'],
  ['a number where an object of any fields belongs', { free: 1 }, '.spec.free: expected map, got &{1}'],
  [
    'an unknown field of the metadata inside',
    { embedded: { apiVersion: 'v1', kind: 'Pod', metadata: { unknown: 1 } } },
    '.spec.embedded.metadata.unknown: field not declared in schema',
  ],
  [
    'two items that are one once their keys have defaults',
    { ports: [{ name: 'a' }, { name: 'a', port: 80 }] },
    '.spec.ports: duplicate entries for key [name="a",port=80]',
  ],
])('%s is refused', async (_, fields, message) => {
  await expect(apply(fields)).rejects.toThrow(message);
});

it('an item is owned by its keys with their defaults', async () => {
  const { metadata } = await apply({ ports: [{ name: 'a' }] }, 'keyed');
  const [owner] = metadata.managedFields ?? [];
  expect(owner?.fieldsV1).toMatchObject({ 'f:spec': { 'f:ports': { 'k:{"name":"a","port":80}': { '.': {}, 'f:name': {} } } } });
});

it('an empty list is a change of the spec', async () => {
  const made = await apply({}, 'changed');
  expect((await apply({ list: [] }, 'changed')).metadata.generation).toBe((made.metadata.generation ?? 0) + 1);
});

it('a value that is an integer or a text is judged by its schema', async () => {
  await expect(apply({ port: [] }, 'port')).rejects.toThrow('must be of type integer,string: "array"');
});

it('metadata inside that are null are empty', async () => {
  const { spec: made } = await apply({ embedded: { apiVersion: 'v1', kind: 'Pod', metadata: null } }, 'embedded');
  expect(made).toEqual({ embedded: { apiVersion: 'v1', kind: 'Pod', metadata: {} } });
});
