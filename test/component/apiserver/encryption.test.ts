// Encryption in the store over the real apiserver: what is stored, rotation of keys, reload of the file, and KMS plugins that come and go.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { defaultOptions, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import { systemClock, systemRng } from '#host';
import { type EmbeddedStore, openMemoryStore } from '#store';
import { silentLogger } from '#utils';
import { createWireClient } from '#wire';
import { startKmsPlugin, type TestPlugin } from '../../support/kms-plugin.ts';

const secretKey = (name: string): string => `/registry/secrets/default/${name}`;
const newKey = (): string => randomBytes(32).toString('base64');
const configuration = (resources: readonly string[], ...providers: object[]): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources, providers }],
  });
const keyed = (cipher: string, name: string, secret: string): object => ({ [cipher]: { keys: [{ name, secret }] } });
const kms = (endpoint: string): object => ({ kms: { apiVersion: 'v2', name: 'plugin', endpoint, timeout: '1s' } });

let folder: string;
let path: string;
let store: EmbeddedStore;
let servers: KubeApiServer[] = [];
let plugins: TestPlugin[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'encryption-'));
  path = join(folder, 'encryption.yaml');
  store = openMemoryStore();
});
afterEach(async () => {
  for (const server of servers) await server.close();
  for (const plugin of plugins) await plugin.stop();
  [servers, plugins] = [[], []];
  await store.close();
  await rm(folder, { recursive: true });
});

async function serve(text: string, reload = false) {
  await writeFile(path, text);
  const server = await runKubeApiServer(
    { ...defaultOptions(), encryption: { path, reload } },
    { clock: systemClock(), rng: systemRng(), logger: silentLogger, store },
  );
  servers.push(server);
  await server.started;
  const client = createWireClient({ baseUrl: server.url, tls: { ca: server.ca ?? '' } });
  const send = async (method: string, at: string, body?: object) => {
    const answer = await client.request({
      method,
      path: at,
      headers: { authorization: `Bearer ${server.loopbackToken}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, text, value: (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, never> };
  };
  const stop = async (): Promise<void> => {
    servers = servers.filter((other) => other !== server);
    client.close();
    await server.close();
  };
  return { send, stop, server };
}
type Served = Awaited<ReturnType<typeof serve>>;

const secrets = '/api/v1/namespaces/default/secrets';
const create = async ({ send }: Served, name: string): Promise<void> =>
  expect((await send('POST', secrets, { metadata: { name }, stringData: { word: 'swordfish' } })).status).toBe(201);
const rewrite = async ({ send }: Served, name: string): Promise<void> => {
  const { text } = await send('GET', `${secrets}/${name}`);
  expect((await send('PUT', `${secrets}/${name}`, JSON.parse(text) as object)).status).toBe(200);
};
const raw = (key: string): Buffer => Buffer.from(store.rangeSync({ key }).kvs[0]?.value ?? []);
const word = Buffer.from('swordfish').toString('base64');

describe.each([
  ['aescbc', newKey()],
  ['aesgcm', newKey()],
  ['secretbox', newKey()],
])('with %s', (cipher, secret) => {
  it('nothing of a Secret can be read in the store, and everything over the API', async () => {
    const served = await serve(configuration(['secrets'], keyed(cipher, 'first', secret), { identity: {} }));
    await create(served, 'one');
    const stored = raw(secretKey('one'));
    expect(stored.toString('latin1')).toMatch(new RegExp(`^k8s:enc:${cipher}:v1:first:`));
    expect(stored.includes(word)).toBe(false);
    expect(stored.includes('Opaque')).toBe(false);
    expect((await served.send('GET', `${secrets}/one`)).value).toMatchObject({ data: { word } });
    await served.stop();

    const again = await serve(configuration(['secrets'], keyed(cipher, 'first', secret)));
    expect((await again.send('GET', secrets)).text).toContain(word);
  });
});

it('leaves other resources as they are', async () => {
  const served = await serve(configuration(['secrets'], keyed('secretbox', 'a', newKey())));
  await served.send('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'plain' }, data: { a: 'b' } });
  expect(JSON.parse(raw('/registry/configmaps/default/plain').toString())).toMatchObject({ data: { a: 'b' } });
});

it('takes wildcards: of the core group, of a group, and everything with custom resources', async () => {
  const all = keyed('secretbox', 'a', newKey());
  const served = await serve(
    JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'EncryptionConfiguration',
      resources: [
        { resources: ['events', 'leases.coordination.k8s.io'], providers: [{ identity: {} }] },
        { resources: ['*.'], providers: [keyed('aesgcm', 'core', newKey())] },
        { resources: ['*.*'], providers: [all] },
      ],
    }),
  );
  const group = 'things.example.org';
  await served.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: `things.${group}` },
    spec: {
      group,
      names: { plural: 'things', kind: 'Thing' },
      scope: 'Cluster',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  });
  await vi.waitFor(
    async () =>
      expect(
        (
          await served.send('POST', `/apis/${group}/v1/things`, {
            apiVersion: `${group}/v1`,
            kind: 'Thing',
            metadata: { name: 't' },
          })
        ).status,
      ).toBe(201),
    { timeout: 10_000, interval: 50 },
  );
  const head = (key: string): string => raw(key).subarray(0, 24).toString('latin1');
  expect(head(`/registry/${group}/things/t`)).toContain('k8s:enc:secretbox:v1:a:');
  expect(head(`/registry/apiextensions.k8s.io/customresourcedefinitions/things.${group}`)).toContain('k8s:enc:secretbox');
  expect(head('/registry/namespaces/default')).toContain('k8s:enc:aesgcm:v1:core:');
  expect(head('/registry/services/specs/default/kubernetes')).toContain('k8s:enc:aesgcm:v1:core:');
  expect((await served.send('GET', '/api/v1/namespaces/default')).status).toBe(200);
});

it('a value that another key was meant for is refused: it is bound to its place', async () => {
  const served = await serve(configuration(['secrets'], keyed('aesgcm', 'a', newKey())));
  await create(served, 'mine');
  await store.txn({ compare: [], success: [{ op: 'put', key: secretKey('stolen'), value: raw(secretKey('mine')) }] });
  const { status, value } = await served.send('GET', `${secrets}/stolen`);
  expect(status).toBe(500);
  expect(value).toMatchObject({
    reason: 'InternalError',
    message: expect.stringContaining('cipher: message authentication failed'),
  });
  expect((await served.send('GET', secrets)).status).toBe(500);
  expect((await served.send('GET', `${secrets}/mine`)).status).toBe(200);
});

it('rotates: a new key writes, old ones read, and an update without a change is written again', async () => {
  const [old, next] = [newKey(), newKey()];
  const first = await serve(configuration(['secrets'], { identity: {} }));
  await create(first, 'plain');
  await first.stop();
  const second = await serve(configuration(['secrets'], keyed('aescbc', 'old', old), { identity: {} }));
  await create(second, 'older');
  await rewrite(second, 'plain');
  expect(raw(secretKey('plain')).toString('latin1')).toContain('k8s:enc:aescbc:v1:old:');
  const revision = store.revision();
  await rewrite(second, 'plain');
  expect(store.revision()).toBe(revision);
  await second.stop();
  const third = await serve(configuration(['secrets'], keyed('aescbc', 'new', next), keyed('aescbc', 'old', old)));
  await rewrite(third, 'older');
  expect(raw(secretKey('older')).toString('latin1')).toContain('k8s:enc:aescbc:v1:new:');
  expect((await third.send('GET', `${secrets}/plain`)).value).toMatchObject({ data: { word } });
});

it('says what is stored and cannot be read, and never leaves it out', async () => {
  const first = await serve(configuration(['secrets'], keyed('secretbox', 'lost', newKey())));
  await create(first, 'gone');
  await first.stop();
  const second = await serve(configuration(['secrets'], { identity: {} }));
  const { status, value } = await second.send('GET', secrets);
  expect(status).toBe(500);
  expect(value).toMatchObject({
    message: 'Internal error occurred: unable to transform key "/registry/secrets/default/gone": no matching prefix found',
  });
  expect((await second.send('POST', secrets, { metadata: { name: 'gone' } })).status).toBe(409);
});

it('follows its file, and keeps what it has where the new content is wrong', async () => {
  const [old, next] = [keyed('aesgcm', 'old', newKey()), keyed('secretbox', 'new', newKey())];
  const served = await serve(configuration(['secrets'], old), true);
  expect((await served.send('GET', '/healthz/kms-providers')).status).toBe(200);
  await create(served, 'one');
  await writeFile(path, configuration(['secrets'], keyed('aesgcm', 'short', 'AAAA')));
  const reloads = (status: string) => `automatic_reloads_total{status="${status}",apiserver_id_hash=""} 1`;
  const told = (text: string) =>
    vi.waitFor(async () => expect((await served.send('GET', '/metrics')).text).toContain(text), {
      timeout: 20_000,
      interval: 100,
    });
  await told(reloads('failure'));
  await create(served, 'two');
  expect(raw(secretKey('two')).toString('latin1')).toContain('k8s:enc:aesgcm:v1:old:');
  await writeFile(path, configuration(['secrets'], next, old));
  await told(reloads('success'));
  await rewrite(served, 'two');
  expect(raw(secretKey('two')).toString('latin1')).toContain('k8s:enc:secretbox:v1:new:');
  expect((await served.send('GET', `${secrets}/one`)).value).toMatchObject({ data: { word } });
});

describe('with a KMS plugin', () => {
  const start = async (name: string, keyId?: string): Promise<TestPlugin> => {
    const plugin = await startKmsPlugin(join(folder, name), keyId);
    plugins.push(plugin);
    return plugin;
  };

  it('asks it once for many objects, and writes with its new key when it names one', async () => {
    const plugin = await start('kms.sock');
    const text = configuration(['secrets'], kms(`unix://${folder}/kms.sock`), { identity: {} });
    const served = await serve(text);
    for (const name of ['a', 'b', 'c']) await create(served, name);
    expect(raw(secretKey('a')).toString('latin1')).toContain('k8s:enc:kms:v2:plugin:');
    expect(raw(secretKey('a')).includes(word)).toBe(false);
    expect(plugin.calls.encrypt).toBe(1);
    await served.stop();
    plugin.keyId = 'key-2';
    const again = await serve(text);
    expect((await again.send('GET', secrets)).text.split(word)).toHaveLength(4);
    expect(plugin.calls.decrypt).toBe(1);
    await rewrite(again, 'a');
    expect(raw(secretKey('a')).includes('key-2')).toBe(true);
    expect((await again.send('GET', '/readyz/kms-providers')).status).toBe(200);
    expect((await again.send('GET', '/livez/kms-providers')).status).toBe(404);
  });

  it('is not ready while it is away, answers 500 for its objects only, and reads them when it is back', async () => {
    const text = configuration(['secrets'], kms(`unix://${folder}/kms.sock`));
    const plugin = await start('kms.sock');
    const before = await serve(text);
    await create(before, 'kept');
    await before.stop();
    await plugin.stop();
    const served = await serve(text);
    expect((await served.send('GET', '/readyz')).status).toBe(500);
    expect((await served.send('GET', `${secrets}/kept`)).status).toBe(500);
    expect((await served.send('POST', secrets, { metadata: { name: 'no' } })).status).toBe(500);
    expect((await served.send('GET', '/api/v1/namespaces/default')).status).toBe(200);
    await rm(join(folder, 'kms.sock'), { force: true });
    await start('kms.sock');
    await vi.waitFor(
      async () => {
        await served.send('GET', '/readyz');
        expect((await served.send('GET', `${secrets}/kept`)).value).toMatchObject({ data: { word } });
      },
      { timeout: 30_000, interval: 200 },
    );
    await create(served, 'yes');
  });

  it('that is unwell is told by name, and a seed of it is used as long as it may', async () => {
    const plugin = await start('kms.sock');
    plugin.healthz = 'tired';
    const served = await serve(configuration(['secrets'], kms(`unix://${folder}/kms.sock`)));
    expect((await served.send('GET', '/readyz/kms-providers')).status).toBe(500);
    await create(served, 'still');
  });
});
