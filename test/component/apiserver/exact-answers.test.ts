// Answers whose bytes and headers are upstream's: documents of no resource, the ends of bodies, and which of several failures are told.
import { Agent, request as httpsRequest } from 'node:https';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KubeApiServer } from '#apiserver/app';
import { startApiServer } from '../../support/api-server.ts';

let server: KubeApiServer;
const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
const core = '/api/v1/namespaces/default';

beforeAll(async () => {
  server = await startApiServer();
});
afterAll(async () => {
  agent.destroy();
  await server?.close();
});

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

function ask(method: string, path: string, headers: Record<string, string> = {}, body?: unknown): Promise<Answer> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const all = {
    authorization: 'Bearer admin',
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    httpsRequest({ port: server.wire.port, method, path, agent, headers: all }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString('latin1') }),
      );
    })
      .on('error', reject)
      .end(text);
  });
}

const messageOf = ({ text }: Answer): string => (JSON.parse(text) as { message: string }).message;

it.each([
  ['/api', 'APIVersions'],
  ['/api/v1', 'APIResourceList'],
])('%s has a protobuf form without a version', async (path, kind) => {
  const { text } = await ask('GET', path, { accept: 'application/vnd.kubernetes.protobuf' });
  const named = `\n\0\x12${String.fromCharCode(kind.length)}${kind}`;
  expect(text.slice(0, named.length + 6)).toBe(`k8s\0\n${String.fromCharCode(named.length)}${named}`);
});

it('the keys of tokens are served as what they are alone', async () => {
  expect((await ask('GET', '/openid/v1/jwks', { accept: 'application/json' })).status).toBe(406);
  expect((await ask('GET', '/openid/v1/jwks/', { accept: 'application/jwk-set+json' })).status).toBe(200);
  expect((await ask('GET', '/openid/v1/jwks')).status).toBe(200);
  expect((await ask('GET', '/.well-known/openid-configuration', { accept: 'text/html' })).status).toBe(406);
});

it('who asks for a document of then is shown where that of now is', async () => {
  const old = await ask('GET', '/openapi/v3/apis/apps/v1?hash=OLD');
  expect([old.status, old.text, old.headers['content-type']]).toEqual([301, '', 'application/json']);
  const now = await ask('GET', String(old.headers['location']));
  expect([now.status, now.headers['cache-control']]).toEqual([200, 'public, immutable']);
  expect((await ask('GET', '/openapi/v3/apis/apps/v1?hash=')).headers['cache-control']).toBe('no-cache, private');
});

it('the root names the roots of discovery, also as index.html', async () => {
  const root = await ask('GET', '/');
  expect((JSON.parse(root.text) as { paths: string[] }).paths).toEqual(
    expect.arrayContaining(['/apis', '/apis/', '/openapi/v3', '/openapi/v3/']),
  );
  expect((await ask('GET', '/index.html')).text).toBe(root.text);
});

it.each([
  '/version',
  '/',
  '/api/v1/namespaces/default?pretty=1',
  '/api/v1/namespaces?pretty=1',
  '/api/v1/nodes?pretty=1',
  '/api/v1/nodes/x?pretty=1',
])('indented JSON ends without a new line: %s', async (path) => {
  expect((await ask('GET', path)).text.at(-1)).toBe('}');
});

it('a dry creation answers with the version that came with it, whatever it is', async () => {
  const create = (resourceVersion: string, query = '') =>
    ask('POST', `${core}/configmaps${query}`, {}, { metadata: { name: 'dry', resourceVersion } });
  for (const version of ['x', '0', '1', '"', '99999999999999999999']) {
    const { status, text } = await create(version, '?dryRun=All');
    const { metadata } = JSON.parse(text) as { metadata: { resourceVersion?: string } };
    expect([status, metadata.resourceVersion]).toEqual([201, version]);
  }
  expect((await create('7')).status).toBe(500);
  expect((await create('99999999999999999999')).status).toBe(201);
});

it('rules of scaling in an annotation get no policies by default', async () => {
  const behavior = '{"ScaleUp":{"StabilizationWindowSeconds":3}}';
  const answer = await ask(
    'POST',
    '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers?dryRun=All',
    {},
    {
      metadata: { name: 'h', annotations: { 'autoscaling.alpha.kubernetes.io/behavior': behavior } },
      spec: { scaleTargetRef: { kind: 'Deployment', name: 'a', apiVersion: 'apps/v1' }, maxReplicas: 3 },
    },
  );
  expect([answer.status, messageOf(answer)]).toEqual([
    422,
    expect.stringContaining('spec.behavior.scaleUp.policies: Required value: must specify at least one Policy'),
  ]);
});

it('a claim that may not have what it asks for is told all else that is wrong with it, too', async () => {
  const requests = [{ name: 'a', exactly: { deviceClassName: '', adminAccess: true } }];
  const answer = await ask(
    'POST',
    '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims',
    {},
    { metadata: { name: 'C' }, spec: { devices: { requests } } },
  );
  expect(messageOf(answer)).toMatch(
    /is invalid: \[spec\.devices\.requests\[0\]\.adminAccess: Forbidden: .*, metadata\.name: Invalid value: .*, spec\.devices\.requests\[0\]\.exactly\.deviceClassName: Required value\]$/,
  );
});

it('an owner without a set below a field owns the field', async () => {
  const entry = { manager: 'a', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': null } };
  const answer = await ask('POST', `${core}/configmaps?dryRun=All`, {}, { metadata: { name: 'm', managedFields: [entry] } });
  const { metadata } = JSON.parse(answer.text) as { metadata: { managedFields: { fieldsV1: object }[] } };
  expect(metadata.managedFields.map(({ fieldsV1 }) => fieldsV1)).toEqual([{ 'f:data': {} }]);
});

const patch = (type: string, body: object): Promise<Answer> =>
  ask('PATCH', `${core}/configmaps/patched?dryRun=All&fieldManager=me`, { 'content-type': `application/${type}` }, body);

it('a patch of a built-in kind leaves its version there', async () => {
  await ask('POST', `${core}/configmaps`, {}, { metadata: { name: 'patched' } });
  const lost = 'the name of the object (patched based on URL) was undeterminable: name must be provided';
  const merged = await patch('merge-patch+json', { apiVersion: null, data: { a: 'b' } });
  expect([merged.status, messageOf(merged)]).toEqual([400, lost]);
  const removed = await patch('json-patch+json', [{ op: 'remove', path: '/apiVersion' }]);
  expect([removed.status, messageOf(removed)]).toEqual([400, lost]);
  expect((await patch('merge-patch+json', { kind: null })).status).toBe(200);
  expect((await patch('strategic-merge-patch+json', { apiVersion: null })).status).toBe(200);
});

it('values that no field can hold are told in the words of the converter', async () => {
  const binaryData = { a: '!!' };
  const words = 'error decoding from json: illegal base64 data at input byte 0';
  const strategic = await patch('strategic-merge-patch+json', { binaryData });
  expect(messageOf(strategic)).toBe(` "" is invalid: patch: Invalid value: "map[binaryData:map[a:!!]]": ${words}`);
  const applied = await patch('apply-patch+yaml', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'patched' },
    binaryData,
  });
  expect(messageOf(applied)).toBe(
    `failed to convert new object (/patched; /v1, Kind=ConfigMap) to proper version: unable to convert unstructured object to /v1, Kind=ConfigMap: ${words}`,
  );
});
