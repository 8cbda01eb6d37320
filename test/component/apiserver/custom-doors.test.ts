// Requests to custom resources that call themselves something else than their definition, or ask in odd ways: which refusal comes first, and what a
// door that changes the status alone makes of them. Compared with upstream's apiserver by test/interop/side-by-side.
import { Agent, request as httpsRequest } from 'node:https';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { KubeApiServer } from '#apiserver/app';
import { startApiServer } from '../../support/api-server.ts';

let server: KubeApiServer;
const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
const things = '/apis/example.com/v1/namespaces/default/things';
const json = 'application/json';
const merge = 'application/merge-patch+json';
const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' }, spec: { count: 1 } };

interface Answer {
  status: number;
  warning: unknown;
  text: string;
  body: {
    message?: string;
    kind?: string;
    metadata?: { managedFields?: unknown; resourceVersion?: string };
    status?: unknown;
    spec?: unknown;
    details?: object;
  };
}

function ask(method: string, path: string, body?: unknown, type = json): Promise<Answer> {
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const headers = { authorization: 'Bearer admin', ...(text !== undefined && { 'content-type': type }) };
  return new Promise((resolve, reject) => {
    const sent = httpsRequest({ port: server.wire.port, method, path, agent, headers }, (response) => {
      let said = '';
      response.on('data', (chunk: Buffer) => (said += chunk.toString()));
      response.on('end', () => {
        const { statusCode = 0, headers: had } = response;
        const read = (said.startsWith('{') ? JSON.parse(said) : {}) as Answer['body'];
        resolve({ status: statusCode, warning: had['warning'], text: said, body: read });
      });
    });
    sent.on('error', reject).end(text);
  });
}

beforeAll(async () => {
  server = await startApiServer();
  const text = { type: 'string' };
  const spec = { type: 'object', properties: { count: { type: 'integer' }, color: { ...text, default: 'red' } } };
  const status = { type: 'object', properties: { phase: text, count: { type: 'integer' } } };
  const version = {
    served: true,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
    subresources: { status: {}, scale: { specReplicasPath: '.spec.count', statusReplicasPath: '.status.count' } },
  };
  await ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', storage: true, ...version }],
    },
  });
  await vi.waitFor(async () => expect((await ask('GET', things)).status).toBe(200), { timeout: 30_000 });
});
afterAll(async () => {
  agent.destroy();
  await server?.close();
});
beforeEach(async () => {
  await ask('DELETE', `${things}/a`);
  await ask('POST', things, thing);
});

it('another kind is told when name and resource version were looked at, and alone', async () => {
  const other = { ...thing, kind: 'Other' };
  const refused = 'Other.example.com "a" is invalid: kind: Invalid value: "Other": must be Thing';
  const put = (metadata: object): Promise<Answer> => ask('PUT', `${things}/a`, { ...other, metadata });
  expect((await put({ name: 'b' })).body.message).toMatch(/^the name of the object \(b\) does not match/);
  expect((await put({ name: 'a' })).body.message).toMatch(/resourceVersion: Invalid value: 0: must be specified for an update$/);
  expect((await put({ name: 'a', resourceVersion: '1' })).status).toBe(409);
  const { metadata } = (await ask('GET', `${things}/a`)).body;
  const current = await put({ name: 'a', resourceVersion: metadata?.resourceVersion });
  expect([current.status, current.body.message]).toEqual([422, refused]);
  const made = await ask('POST', things, { ...other, metadata: { name: 'B B' } });
  expect(made.body.message).toBe('Other.example.com "B B" is invalid: kind: Invalid value: "Other": must be Thing');
});

it('a write of the status takes what calls itself otherwise, and forgets who owns its fields', async () => {
  for (const [names, phase] of [
    [{ kind: 'Other' }, 'b'],
    [{ kind: 'Pod', apiVersion: 'v1' }, 'c'],
    // A version that the definition does not have knows no fields.
    [{ apiVersion: 'example.com/v9' }, undefined],
  ] as const) {
    await ask('PATCH', `${things}/a?fieldManager=one`, { metadata: { labels: { phase: phase ?? 'none' } } }, merge);
    const { status, body } = await ask('PATCH', `${things}/a/status`, { ...names, status: { phase: phase ?? 'x' } }, merge);
    expect([status, body.kind, body.spec]).toEqual([200, 'Thing', { count: 1, color: 'red' }]);
    expect(body.status).toEqual(phase && { phase });
    expect(body.metadata?.managedFields).toBeUndefined();
  }
  const unversioned = await ask('PATCH', `${things}/a/status`, { apiVersion: null }, merge);
  expect([unversioned.status, unversioned.body.message]).toEqual([
    500,
    "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'",
  ]);
});

it('every method that is none of theirs is named, and a path may name what is not looked at', async () => {
  const none = (verb: string): string => `${verb} is not supported on resources of kind "things.example.com"`;
  const options = await ask('OPTIONS', things);
  expect([options.status, options.body.message, options.body.details]).toEqual([
    405,
    none(''),
    { group: 'example.com', kind: 'things' },
  ]);
  expect((await ask('POST', `${things}/a/status`, thing)).body.message).toBe(none('create'));
  expect((await ask('PUT', things, thing)).body.message).toBe('name must be provided');
  expect((await ask('PATCH', things, {}, merge)).body.message).toBe('name must be provided');
  expect((await ask('PATCH', things, {}, 'text/plain')).status).toBe(415);
  expect((await ask('POST', `${things}/a?dryRun=All`, { ...thing, metadata: { name: 'b' } })).status).toBe(201);
  const head = await ask('HEAD', `${things}/a`);
  expect([head.status, head.text]).toEqual([200, '']);
  expect((await ask('GET', `${things}/a/status/more`)).status).toBe(200);
  for (const method of ['POST', 'PUT']) {
    expect((await ask(method, '/apis/example.com/v1/things', thing)).text).toBe('404 page not found\n');
    for (const path of ['/apis/example.com/v1', '/apis/example.com', '/apis/apps'])
      expect((await ask(method, path)).status).toBe(200);
    expect((await ask(method, '/apis/apps/v1')).status).toBe(405);
  }
});

it('a Scale names version and uid as its object does', async () => {
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' }, spec: { replicas: 2 } };
  const put = (metadata: object): Promise<Answer> =>
    ask('PUT', `${things}/a/scale`, { ...scale, metadata: { name: 'a', ...metadata } });
  const text = await put({ resourceVersion: 'x' });
  expect([text.status, text.body.message]).toEqual([500, 'strconv.ParseUint: parsing "x": invalid syntax']);
  expect((await put({ resourceVersion: '0' })).body.message).toMatch(
    /resourceVersion: Invalid value: 0: must be specified for an update$/,
  );
  expect((await put({ resourceVersion: '1' })).status).toBe(409);
  expect((await put({ uid: 'x' })).body.message).toMatch(/StorageError: invalid object.*UID in precondition: x/);
  expect((await ask('PATCH', `${things}/a/scale`, { metadata: { uid: 'x' }, spec: { replicas: 3 } }, merge)).status).toBe(200);
  const unreadable = await ask('PUT', `${things}/a/scale`, '{bad');
  expect([unreadable.status, unreadable.body.message]).toEqual([
    400,
    expect.stringMatching(/^no kind is registered for the type v1.Scale/),
  ]);
});

it('a patch of a Scale of another kind is shown as it was written', async () => {
  const { body } = await ask('PATCH', `${things}/a/scale`, { kind: 'Other' }, merge);
  expect(body.message).toMatch(/"kind\\":\\"Other\\",\\"metadata\\":\{\\"name\\":\\"a\\",\\"namespace/);
});
