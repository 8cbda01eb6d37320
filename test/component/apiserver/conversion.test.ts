// A custom resource in two versions that a webhook converts between: reads, lists, watches, writes and owners of fields in either, and what a
// webhook must not do.
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CustomResourceDefinition } from '#api/apiextensions/v1';
import type { KubeObject, UnknownObject } from '#apimachinery/meta';
import type { Transport } from '#apimachinery/transport';
import type { WatchEvent } from '#apimachinery/watch';
import { type ApiServer, createApiServer } from '#apiserver';
import { systemClock, systemRng } from '#host';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { type EmbeddedStore, openMemoryStore } from '#store';

const group = 'example.com';
const definitions = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' };
const sites = (version: string) => ({ group, version, resource: 'sites', namespace: 'default' });

interface Review {
  apiVersion: string;
  kind: string;
  request: { uid: string; desiredAPIVersion: string; objects: Site[] };
}
interface Site extends KubeObject {
  spec?: { host?: string; port?: number; address?: string };
}

const ca = createCertificateAuthority({ commonName: 'webhooks' });
const serving = issueCertificate({ ca, commonName: 'converter', ips: ['127.0.0.1'], usages: ['server auth'] });
const asked: Review['request'][] = [];
/** What a test wants done to an answer. */
let spoil: (answer: Record<string, never>) => unknown = (answer) => answer;
let converter: Server;
let url = '';

/** v1 has host and port, v2 one address. */
function converted(site: Site, apiVersion: string): Site {
  const { host = '', port = 0, address = '' } = site.spec ?? {};
  const at = address.lastIndexOf(':');
  const spec = apiVersion.endsWith('/v2')
    ? { address: `${host}:${port}` }
    : { host: address.slice(0, at), port: Number(address.slice(at + 1)) };
  return { ...site, apiVersion, spec };
}

beforeAll(async () => {
  converter = createServer({ cert: serving.cert, key: serving.key }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const review = JSON.parse(Buffer.concat(chunks).toString()) as Review;
    asked.push(review.request);
    const { uid, desiredAPIVersion, objects } = review.request;
    const convertedObjects = objects.map((site) => converted(site, desiredAPIVersion));
    const answer = { ...review, request: undefined, response: { uid, result: { status: 'Success' }, convertedObjects } };
    response.end(JSON.stringify(spoil(answer as never)));
  });
  converter.listen(0, '127.0.0.1');
  await once(converter, 'listening');
  url = `https://127.0.0.1:${(converter.address() as AddressInfo).port}/convert`;
});
afterAll(() => {
  converter.closeAllConnections();
  converter.close();
});

const schemaOf = (properties: object) => ({
  openAPIV3Schema: {
    type: 'object',
    properties: {
      spec: { type: 'object', properties },
      status: { type: 'object', properties: { ready: { type: 'boolean' }, replicas: { type: 'integer' } } },
    },
  },
});
const version = (name: string, storage: boolean, properties: object) => ({
  name,
  served: true,
  storage,
  schema: schemaOf(properties),
  subresources: { status: {} },
});
const definition = (storage = 'v1') => ({
  metadata: { name: `sites.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'sites', kind: 'Site' },
    conversion: {
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: ['v1'],
        clientConfig: { url, caBundle: Buffer.from(ca.cert).toString('base64') },
      },
    },
    versions: [
      version('v1', storage === 'v1', { host: { type: 'string' }, port: { type: 'integer' } }),
      version('v2', storage === 'v2', {
        address: { type: 'string', minLength: 3 },
        scheme: { type: 'string', default: 'https' },
      }),
    ],
  },
});

let store: EmbeddedStore;
let server: ApiServer;
let client: Transport;

beforeEach(async () => {
  store = openMemoryStore({ clock: systemClock() });
  server = await createApiServer({ store, clock: systemClock(), rng: systemRng() });
  client = server.transport({ name: 'admin', groups: ['system:masters'] }, 'tester');
  asked.length = 0;
  spoil = (answer) => answer;
  await client.call({ ...definitions, verb: 'create', object: definition() });
  const served = (v: string) =>
    client.call({ ...sites(v), verb: 'list' }).then(
      () => true,
      () => false,
    );
  await expect.poll(() => served('v2')).toBe(true);
});
afterEach(async () => {
  client.close();
  await server.close();
  await store.close();
});

const create = (name: string, v = 'v1', spec: Site['spec'] = { host: name, port: 80 }, labels?: Record<string, string>) =>
  client.call<Site>({
    ...sites(v),
    verb: 'create',
    object: { apiVersion: `${group}/${v}`, kind: 'Site', metadata: { name, ...(labels && { labels }) }, spec },
  });
const get = (name: string, v: string) => client.call<Site>({ ...sites(v), verb: 'get', name });
const list = (v: string, labelSelector?: string) =>
  client.call<{ items: Site[]; apiVersion: string }>({
    ...sites(v),
    verb: 'list',
    ...(labelSelector !== undefined && { options: { labelSelector } }),
  });
/** The version an object has in the store. */
async function storedVersion(name: string): Promise<string> {
  const key = `/registry/${group}/sites/default/${name}`;
  const { kvs } = await store.range({ key });
  return (JSON.parse(Buffer.from(kvs[0]?.value ?? '{}').toString()) as { apiVersion: string }).apiVersion;
}

describe('either version', () => {
  it('shows the same object in its own form, defaulted, and stores one form', async () => {
    await create('a');
    expect(await get('a', 'v2')).toMatchObject({ apiVersion: 'example.com/v2', spec: { address: 'a:80', scheme: 'https' } });
    await create('b', 'v2', { address: 'b:443' });
    expect((await get('b', 'v1')).spec).toEqual({ host: 'b', port: 443 });
    expect([await storedVersion('a'), await storedVersion('b')]).toEqual(['example.com/v1', 'example.com/v1']);
  });

  it('asks once for a whole list, and not again for what is known', async () => {
    for (const name of ['a', 'b', 'c']) await create(name);
    asked.length = 0;
    const first = await list('v2');
    expect(first.items.map(({ spec }) => spec?.address)).toEqual(['a:80', 'b:80', 'c:80']);
    expect(asked.map(({ objects }) => objects.length)).toEqual([3]);
    await list('v2');
    await get('b', 'v2');
    expect(asked).toHaveLength(1);
    await list('v1');
    expect(asked).toHaveLength(1);
  });

  it('is checked by its own schema, and written in the other', async () => {
    await create('a');
    const put = (spec: object) =>
      get('a', 'v2').then((site) => client.call({ ...sites('v2'), verb: 'update', name: 'a', object: { ...site, spec } }));
    await expect(put({ address: 'x' })).rejects.toThrow(/spec\.address: Invalid value/);
    await put({ address: 'new:81' });
    expect((await get('a', 'v1')).spec).toEqual({ host: 'new', port: 81 });
    const patch = { type: 'application/merge-patch+json' as const, body: { spec: { address: 'new:82' } } };
    const patched = await client.call<Site>({ ...sites('v2'), verb: 'patch', name: 'a', patch });
    expect(patched.spec?.address).toBe('new:82');
    expect((await get('a', 'v1')).spec?.port).toBe(82);
    const status = await client.call<Site & { status: object }>({
      ...sites('v2'),
      verb: 'patch',
      name: 'a',
      subresource: 'status',
      patch: { type: 'application/merge-patch+json', body: { status: { ready: true }, spec: { address: 'no:1' } } },
    });
    expect(status).toMatchObject({ spec: { address: 'new:82' }, status: { ready: true } });
  });

  it('is watched in order, with selectors on what is shown', async () => {
    await create('a', 'v1', undefined, { tier: 'one' });
    const seen: string[] = [];
    const watch = await client.watch<Site>({ ...sites('v2'), options: { labelSelector: 'tier=one' } });
    watch.subscribe(
      ({ type, object }: WatchEvent<Site>) =>
        void seen.push(`${type} ${object.metadata.name ?? ''} ${object.spec?.address ?? ''}`),
      () => {},
    );
    await create('b', 'v1', undefined, { tier: 'one' });
    await create('other', 'v1');
    const relabel = { type: 'application/merge-patch+json' as const, body: { metadata: { labels: { tier: 'two' } } } };
    await client.call({ ...sites('v1'), verb: 'patch', name: 'a', patch: relabel });
    await client.call({ ...sites('v2'), verb: 'delete', name: 'b' });
    await expect.poll(() => seen).toEqual(['ADDED a a:80', 'ADDED b b:80', 'DELETED a a:80', 'DELETED b b:80']);
    watch.stop();
  });

  it('has owners of fields in both: apply sees conflicts across versions', async () => {
    const apply = (v: string, manager: string, spec: object, force = false) =>
      client.call<Site>({
        ...sites(v),
        verb: 'patch',
        name: 'a',
        patch: {
          type: 'application/apply-patch+yaml',
          body: { apiVersion: `${group}/${v}`, kind: 'Site', metadata: { name: 'a' }, spec },
        },
        options: { fieldManager: manager, force },
      });
    await apply('v1', 'one', { host: 'a', port: 80 });
    await expect(apply('v2', 'two', { address: 'b:90' })).rejects.toThrow(/conflict/);
    const forced = await apply('v2', 'two', { address: 'b:90' }, true);
    expect(forced.spec?.address).toBe('b:90');
    const managers = forced.metadata.managedFields?.map(({ manager, apiVersion }) => `${manager ?? ''} ${apiVersion ?? ''}`);
    expect(managers).toContain('two example.com/v2');
    expect((await get('a', 'v1')).spec).toEqual({ host: 'b', port: 90 });
  });

  it('moves to another stored version when it is written, even without a change', async () => {
    await create('a');
    const crd = await client.call<CustomResourceDefinition>({ ...definitions, verb: 'get', name: `sites.${group}` });
    await client.call({
      ...definitions,
      verb: 'update',
      name: `sites.${group}`,
      object: { ...crd, spec: { ...crd.spec, versions: definition('v2').spec.versions } },
    });
    const stored = () => create('probe', 'v1').then(() => storedVersion('probe'));
    await expect
      .poll(async () => {
        await client.call({ ...sites('v1'), verb: 'delete', name: 'probe' }).catch(() => undefined);
        return stored();
      })
      .toBe('example.com/v2');
    expect(await storedVersion('a')).toBe('example.com/v1');
    expect((await get('a', 'v2')).spec?.address).toBe('a:80');
    await client.call({ ...sites('v2'), verb: 'update', name: 'a', object: (await get('a', 'v2')) as unknown as UnknownObject });
    expect(await storedVersion('a')).toBe('example.com/v2');
    const after = await client.call<CustomResourceDefinition>({ ...definitions, verb: 'get', name: `sites.${group}` });
    expect(after.status?.storedVersions).toEqual(['v1', 'v2']);
  });
});

const start = 'conversion webhook for example.com/v1, Kind=Site';
type Answer = { response: { uid: string; result: object; convertedObjects: (UnknownObject & { spec: object })[] }; kind: string };
const first = (change: (site: UnknownObject) => unknown) => (answer: Answer) => {
  answer.response.convertedObjects = answer.response.convertedObjects.map((site) => change(site) as never);
};

describe('a webhook', () => {
  it.each<[string, (answer: Answer) => void, string]>([
    ['fails', (answer) => void (answer.response.result = { status: 'Failed', message: 'no way' }), `${start} failed: no way`],
    [
      'says nothing of success',
      (answer) => void (answer.response.result = {}),
      `${start} failed: response.result.status was '', not 'Success'`,
    ],
    [
      'has a list that is none',
      (answer) => void (answer.response.convertedObjects = { length: 1, 0: answer.response.convertedObjects[0] } as never),
      `${start} failed: json: cannot unmarshal object into Go struct field`,
    ],
    [
      'has a message that is no text',
      (answer) => void (answer.response.result = { status: 'Success', message: { a: 1 } }),
      `${start} failed: json: cannot unmarshal object into Go struct field`,
    ],
    ['answers another request', (answer) => void (answer.response.uid = 'x'), `${start} failed: expected response.uid="`],
    [
      'answers something else',
      (answer) => void (answer.kind = 'Other'),
      `${start} failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got apiextensions.k8s.io/v1, Kind=Other`,
    ],
    ['forgets objects', (answer) => void (answer.response.convertedObjects = []), `${start} returned 0 objects, expected 1`],
    [
      'leaves the version',
      first((site) => ({ ...site, apiVersion: 'example.com/v1' })),
      `${start} returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)`,
    ],
    [
      'changes the kind',
      first((site) => ({ ...site, kind: 'Other' })),
      `${start} returned invalid object at index 0: invalid kind (expected Site, received Other)`,
    ],
    [
      'changes the name',
      first((site) => ({ ...site, metadata: { ...site.metadata, name: 'b' } })),
      `${start} returned invalid object: must have the same name: a != b`,
    ],
    [
      'makes bad labels',
      first((site) => ({ ...site, metadata: { ...site.metadata, labels: { x: 1 } } })),
      `${start} returned invalid metadata: metadata.labels[x] must be a string, but is int64 in converted object`,
    ],
  ])('that %s is an error of the server', async (_, change, message) => {
    await create('a');
    spoil = (answer) => {
      change(answer as unknown as Answer);
      return answer;
    };
    const error = await get('a', 'v2').catch((caught: unknown) => caught as { status?: { code?: number } } & Error);
    expect(error).toMatchObject({ status: { code: 500 } });
    expect((error as Error).message).toContain(message);
    // The stored version is there for all that.
    expect((await get('a', 'v1')).spec?.host).toBe('a');
    spoil = (answer) => answer;
    expect((await get('a', 'v2')).spec?.address).toBe('a:80');
  });

  it('may change labels and annotations, and nothing else of the metadata', async () => {
    const { metadata } = await create('a');
    spoil = (answer) => {
      first((site) => ({ ...site, metadata: { ...site.metadata, labels: { seen: 'yes' }, finalizers: ['x/y'], generation: 7 } }))(
        answer as unknown as Answer,
      );
      return answer;
    };
    const shown = await get('a', 'v2');
    expect(shown.metadata).toEqual({ ...metadata, labels: { seen: 'yes' } });
    expect((await list('v2', 'seen=yes')).items).toHaveLength(1);
    expect((await list('v1', 'seen=yes')).items).toHaveLength(0);
  });

  it('that is not there fails reads and writes of the other version', async () => {
    await create('a');
    const body = { spec: { conversion: { webhook: { clientConfig: { url: 'https://127.0.0.1:1/convert' } } } } };
    const patch = { type: 'application/merge-patch+json' as const, body };
    await client.call({ ...definitions, verb: 'patch', name: `sites.${group}`, patch });
    const failure = `${start} failed: Post "https://127.0.0.1:1/convert?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused`;
    await expect.poll(() => get('a', 'v2').then(String, (error: Error) => error.message)).toContain(failure);
    await expect(create('b', 'v2', { address: 'b:1' })).rejects.toThrow(
      'conversion webhook for example.com/v2, Kind=Site failed',
    );
  });
});
