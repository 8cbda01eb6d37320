// Keys that mean something to JavaScript are keys like any other: over HTTP, in every encoding, through every kind of write, and in events.
import { createCertificateAuthority, generateKeyPair, issueCertificate, privateKeyPem } from '#pki';
import { defaultOptions, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import { systemClock, systemRng } from '#host';
import { silentLogger } from '#utils';
import { createWireClient, type WireClient } from '#wire';
import { afterAll, beforeAll, expect, test } from 'vitest';

const authority = createCertificateAuthority({ commonName: 'test' });
let server: KubeApiServer;
let admin: WireClient;

beforeAll(async () => {
  server = await runKubeApiServer(
    {
      ...defaultOptions(),
      clientCa: authority.cert,
      serviceAccountSigningKey: privateKeyPem(generateKeyPair().privateKey),
    },
    { clock: systemClock(), rng: systemRng(), logger: silentLogger },
  );
  await server.started;
  const pair = issueCertificate({
    ca: authority,
    commonName: 'admin',
    organizations: ['system:masters'],
    usages: ['client auth'],
  });
  admin = createWireClient({ baseUrl: server.url, tls: { ca: server.ca, cert: pair.cert, key: pair.key } });
});
afterAll(async () => {
  admin?.close();
  await server?.close();
});

const call = async (method: string, path: string, body?: string | Buffer, headers: Record<string, string> = {}) => {
  const sent = { method, path, headers: { 'content-type': 'application/json', ...headers }, ...(body !== undefined && { body }) };
  const response = await admin.request(sent);
  return { status: response.status, text: await response.text() };
};

const keys = ['constructor', '__proto__', 'hasOwnProperty', 'toString', 'valueOf', 'prototype'];
// Written as text: an object literal with __proto__ is something else.
const entries = (value: string): string => keys.map((key) => `"${key}":${value}`).join(',');
const path = '/api/v1/namespaces/default/configmaps';

/** The sorted keys of data, or of whatever the name says, in a JSON text. */
const keysOf = (text: string, field = 'data'): string[] =>
  Object.keys(((JSON.parse(text) as Record<string, object>)[field] ?? {}) as object).sort();
const all = [...keys].sort();

test('a ConfigMap keeps them through create, get, list, update, every patch and apply', async () => {
  const made = await call('POST', path, `{"metadata":{"name":"a"},"data":{${entries('"x"')}}}`);
  expect([made.status, keysOf(made.text)]).toEqual([201, all]);
  const got = await call('GET', `${path}/a`);
  expect(keysOf(got.text)).toEqual(all);
  const list = await call('GET', path);
  expect(list.text).toContain('"__proto__":"x"');
  const put = await call('PUT', `${path}/a`, got.text.replace('"__proto__":"x"', '"__proto__":"y"'));
  expect(put.text).toContain('"__proto__":"y"');
  for (const type of ['merge-patch', 'strategic-merge-patch']) {
    const headers = { 'content-type': `application/${type}+json` };
    expect(keysOf((await call('PATCH', `${path}/a`, `{"data":{${entries('null')}}}`, headers)).text)).toEqual([]);
    expect(keysOf((await call('PATCH', `${path}/a`, `{"data":{${entries('"z"')}}}`, headers)).text)).toEqual(all);
  }
  const operations = [
    ...keys.map((key) => ({ op: 'remove', path: `/data/${key}` })),
    ...keys.map((key) => ({ op: 'add', path: `/data/${key}`, value: 'q' })),
  ];
  const patched = await call('PATCH', `${path}/a`, JSON.stringify(operations), { 'content-type': 'application/json-patch+json' });
  expect([patched.status, keysOf(patched.text)]).toEqual([200, all]);
});

test('an applier owns them one by one and takes them back', async () => {
  const apply = (data: string) =>
    call(
      'PATCH',
      `${path}/applied?fieldManager=me`,
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":{${data}}}`,
      { 'content-type': 'application/apply-patch+yaml' },
    );
  const made = await apply(entries('"x"'));
  expect([made.status, keysOf(made.text)]).toEqual([201, all]);
  expect(made.text).toContain('"f:__proto__":{}');
  expect(keysOf((await apply('"kept":"x"')).text)).toEqual(['kept']);
});

test('YAML and protobuf carry them', async () => {
  const yaml = `metadata:\n  name: yaml\ndata:\n${keys.map((key) => `  ${key}: x\n`).join('')}`;
  expect(keysOf((await call('POST', path, yaml, { 'content-type': 'application/yaml' })).text)).toEqual(all);
  const shown = await call('GET', `${path}/yaml`, undefined, { accept: 'application/yaml' });
  for (const key of keys) expect(shown.text).toContain(`  ${key}: x\n`);
  const binary = await admin.request({
    method: 'GET',
    path: `${path}/yaml`,
    headers: { accept: 'application/vnd.kubernetes.protobuf' },
  });
  const bytes = Buffer.from((await binary.bytes()).toString('latin1').replaceAll('yaml', 'copy'), 'latin1');
  const { text: live } = await call('GET', `${path}/yaml`);
  expect(keysOf(live)).toEqual(all);
  expect(bytes.includes('__proto__')).toBe(true);
});

test('labels, annotations, extras of users and selectors know only their own', async () => {
  const labels = 'constructor=a';
  const made = await call(
    'POST',
    path,
    '{"metadata":{"name":"labelled","labels":{"constructor":"a","app":"x"},"annotations":{"toString":"b"}}}',
  );
  expect(made.status).toBe(201);
  for (const [selector, count] of [
    [labels, 1],
    ['constructor', 1],
    ['valueOf', 0],
    ['constructor in (a,b)', 1],
  ] as const) {
    const { text } = await call('GET', `${path}?labelSelector=${encodeURIComponent(selector)}`);
    expect((JSON.parse(text) as { items: object[] }).items).toHaveLength(count);
  }
  const impersonated = await call('GET', path, undefined, {
    'impersonate-user': 'admin',
    'impersonate-group': 'system:masters',
    'impersonate-extra-constructor': 'x',
    'impersonate-extra-__proto__': 'y',
  });
  expect(impersonated.status).toBe(200);
});

test('a custom resource that keeps unknown fields keeps these, as properties of its schema, too', async () => {
  const schema =
    '{"type":"object","properties":{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"constructor":{"type":"object","properties":{"valueOf":{"type":"string","default":"d"}}}}}}}';
  const names = '{"plural":"odds","kind":"Odd"}';
  const version = `{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":${schema}}}`;
  const spec = `{"group":"odd.io","scope":"Namespaced","names":${names},"versions":[${version}]}`;
  const definition = await call(
    'POST',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    `{"metadata":{"name":"odds.odd.io"},"spec":${spec}}`,
  );
  expect(definition.status).toBe(201);
  const odds = '/apis/odd.io/v1/namespaces/default/odds';
  await expect.poll(async () => (await call('GET', odds)).status, { timeout: 20_000 }).toBe(200);
  const head = '"apiVersion":"odd.io/v1","kind":"Odd","metadata":{"name":"o"}';
  const made = await call('POST', odds, `{${head},"spec":{"__proto__":{"a":1},"constructor":{},"toString":{"__proto__":[]}}}`);
  expect(made.status).toBe(201);
  expect(made.text).toContain('"constructor":{"valueOf":"d"}');
  expect(made.text).toContain('"__proto__":{"a":1}');
  expect(made.text).toContain('"toString":{"__proto__":[]}');
  const bare = await call('POST', odds, `{${head.replace('"o"', '"p"')},"spec":{}}`);
  expect(bare.text).not.toContain('valueOf":"d');
  const { text } = await call('PATCH', `${odds}/o`, '{"spec":{"__proto__":null,"valueOf":{"x":1}}}', {
    'content-type': 'application/merge-patch+json',
  });
  expect(Object.keys((JSON.parse(text) as { spec: object }).spec).sort()).toEqual(['constructor', 'toString', 'valueOf']);
});

test.each(keys)('%s is no media type, no version, no group and no method that the server knows', async (key) => {
  const object = (apiVersion: string): string => JSON.stringify({ apiVersion, kind: 'ConfigMap', metadata: { name: 'none' } });
  expect((await call('POST', path, object('v1'), { 'content-type': key })).status).toBe(415);
  for (const apiVersion of [key, `${key}/v1`, `v1/${key}`])
    expect((await call('POST', path, object(apiVersion))).status).toBe(400);
  expect((await call('GET', `/apis/${key}/v1/configmaps`)).status).toBe(404);
  expect((await call(key, path)).status).toBe(405);
});

test('they are formats of a definition that say nothing', async () => {
  const format = (type: string) => Object.fromEntries(keys.map((key, at) => [`${type[0]}${at}`, { type, format: key }]));
  const properties = { ...format('integer'), ...format('string'), ...format('number') };
  const rule = Object.keys(properties)
    .filter((name) => name.startsWith('s'))
    .map((name) => `(!has(self.${name}) || self.${name}.size() < 9)`)
    .join(' && ');
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'odds.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'odds', kind: 'Odd' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { spec: { type: 'object', properties, 'x-kubernetes-validations': [{ rule }] } },
            },
          },
        },
      ],
    },
  };
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const made = await call('POST', definitions, JSON.stringify(definition));
  expect(made.status, made.text).toBe(201);
  const spec = Object.fromEntries(Object.keys(properties).map((name) => [name, name.startsWith('s') ? 'text' : 5]));
  const odd = JSON.stringify({ apiVersion: 'example.com/v1', kind: 'Odd', metadata: { name: 'a' }, spec });
  await expect.poll(async () => (await call('POST', '/apis/example.com/v1/odds', odd)).status, { timeout: 30_000 }).toBe(201);
});
