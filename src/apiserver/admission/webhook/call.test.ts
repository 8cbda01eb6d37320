import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtinSchema } from '#api';
import type { AdmissionReview } from '#api/admission/v1';
import type { UnknownObject } from '#apimachinery/meta';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { type Clock, seededRng, silentLogger } from '#utils';
import { byClusterIp } from '../../outbound/service-resolver.ts';
import { MemoryCluster } from '../../registry/test-support/memory-cluster.ts';
import type { AdmissionRequest } from '../../registry/generic/admission.ts';
import { defaultPluginOptions } from '../plugin.ts';
import { mutatingAdmissionWebhook, validatingAdmissionWebhook } from './plugin.ts';

const ca = createCertificateAuthority({ commonName: 'webhooks' });
const other = createCertificateAuthority({ commonName: 'somebody else' });
const serving = issueCertificate({
  ca,
  commonName: 'hook',
  dnsNames: ['hook.ns.svc'],
  ips: ['127.0.0.1'],
  usages: ['server auth'],
});
const bundle = (of = ca) => Buffer.from(of.cert).toString('base64');
const asked: AdmissionReview[] = [];
const longError = `out of order ${'"'.repeat(9_000_000)}`;

/** Answers by path: /allow, /deny, /label (a patch), /hang, /broken, /error, /long-error, /json-error; by query: with other members of the response. */
const server = createServer({ cert: serving.cert, key: serving.key }, async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const review = JSON.parse(Buffer.concat(chunks).toString()) as AdmissionReview;
  asked.push(review);
  const path = request.url?.split('?')[0];
  if (path === '/hang') return;
  if (path === '/error') return void response.writeHead(503).end('out of order');
  if (path === '/long-error') return void response.writeHead(500).end(longError);
  if (path === '/json-error') return void response.writeHead(500, { 'content-type': 'application/json' }).end('{"no":"Status"}');
  if (path === '/broken') return void response.end('{');
  const patch = [{ op: 'add', path: '/metadata/labels', value: { seen: 'yes' } }];
  const answer = {
    uid: review.request?.uid,
    allowed: path !== '/deny',
    ...(path === '/deny' && { status: { message: 'not today', code: 403 } }),
    ...(path === '/label' && { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }),
    warnings: ['careful'],
    ...(JSON.parse(new URL(request.url ?? '', 'https://hook').searchParams.get('response') ?? '{}') as object),
  };
  response.end(JSON.stringify({ apiVersion: review.apiVersion, kind: review.kind, response: answer }));
});
let port = 0;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const clock: Clock = {
  now: () => 0,
  monotonic: () => 0,
  setTimer(delay, callback) {
    const timer = setTimeout(callback, delay / 10);
    return { cancel: () => clearTimeout(timer) };
  },
  sleep: async () => {},
};

async function run(type: 'mutating' | 'validating', given: object | object[], more: Partial<AdmissionRequest> = {}) {
  asked.length = 0;
  const cluster = new MemoryCluster();
  const put = (group: string, resource: string, value: object) => cluster.put(group, resource, value as UnknownObject);
  put('', 'namespaces', { metadata: { name: 'ns' } });
  put('', 'services', { metadata: { name: 'hook', namespace: 'ns' }, spec: { clusterIP: '10.0.0.9', ports: [{ port: 443 }] } });
  const rules = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }];
  const standard = { name: 'w.example.com', rules, sideEffects: 'None', failurePolicy: 'Fail', timeoutSeconds: 10 };
  const webhooks = [given].flat().map((webhook) => ({ ...standard, ...webhook }));
  put('admissionregistration.k8s.io', `${type}webhookconfigurations`, { metadata: { name: 'c' }, webhooks });
  const plugin = (type === 'mutating' ? mutatingAdmissionWebhook : validatingAdmissionWebhook)({
    cluster,
    writer: cluster,
    authorizer: { authorize: () => ({ allowed: true, reason: '' }) },
    clock,
    rng: seededRng(1),
    logger: silentLogger,
    options: defaultPluginOptions,
    webhooks: {
      resolve: byClusterIp(cluster),
      // The cluster's network: whatever the address, it is this server.
      dialService: async () => connect(port, '127.0.0.1'),
    },
  });
  const warnings: string[] = [];
  const request: AdmissionRequest = {
    operation: 'CREATE',
    user: { name: 'jane', groups: ['devs'] },
    group: '',
    version: 'v1',
    resource: 'configmaps',
    subresource: '',
    kind: 'ConfigMap',
    namespace: 'ns',
    name: 'x',
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'ns' } },
    options: {},
    dryRun: false,
    warn: (message) => void warnings.push(message),
    ...more,
  };
  await (type === 'mutating' ? plugin.admit?.(request) : plugin.validate?.(request));
  return { request, warnings };
}

// The port is known once the server listens.
const at = (path: string, of = ca) => ({
  clientConfig: {
    get url() {
      return `https://127.0.0.1:${port}${path}`;
    },
    caBundle: bundle(of),
  },
});
const asService = (path: string) => ({
  clientConfig: { service: { namespace: 'ns', name: 'hook', path }, caBundle: bundle() },
});

test.each([
  ['url', at('/label')],
  ['a url with doubled slashes', at('//label/')],
  ['service', asService('/label')],
])('a webhook by %s is asked over TLS and its patch applied', async (_, webhook) => {
  const { request, warnings } = await run('mutating', webhook);
  expect(request.object?.metadata.labels).toEqual({ seen: 'yes' });
  expect(warnings).toEqual(['careful']);
  expect(asked).toHaveLength(1);
  expect(asked[0]?.request).toMatchObject({
    operation: 'CREATE',
    name: 'x',
    namespace: 'ns',
    userInfo: { username: 'jane', groups: ['devs'] },
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    object: { apiVersion: 'v1', kind: 'ConfigMap' },
    oldObject: null,
    dryRun: false,
  });
});

test('what a webhook changed is defaulted again', async () => {
  const same = (object: UnknownObject) => object;
  const type: AdmissionRequest['type'] = {
    ...{
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      schema: builtinSchema(),
      typeName: 'io.k8s.api.core.v1.ConfigMap',
      custom: false,
    },
    ...{ setDefaults: (object) => Object.assign(object, { immutable: false }), toStorage: same, fromStorage: same },
  };
  const { request } = await run('mutating', at('/label'), { type });
  expect(request.object).toMatchObject({ metadata: { labels: { seen: 'yes' } }, immutable: false });
});

test.each([
  ['/deny', at('/deny'), 'admission webhook "w.example.com" denied the request: not today'],
  [
    'timeout',
    at('/hang'),
    /failed calling webhook "w.example.com": failed to call webhook: Post .*\/hang\?timeout=10s": context deadline exceeded/,
  ],
  ['status', at('/error'), /failed calling webhook "w.example.com": failed to call webhook: .*out of order|unable to handle/],
  ['not JSON', at('/broken'), /failed calling webhook "w.example.com"/],
  ['wrong authority', at('/allow', other), /failed calling webhook "w.example.com": failed to call webhook: Post /],
])('%s is refused', async (_, webhook, message) => {
  await expect(run('validating', webhook)).rejects.toThrow(message);
});

test('of a long error no more is told than client-go tells, and nothing of one that is no text', async () => {
  const message = async (path: string) => ((await run('validating', at(path)).catch((error: unknown) => error)) as Error).message;
  const long = await message('/long-error');
  expect(long).toContain('an error on the server ("out of order');
  expect(long.length).toBeLessThan(5_000);
  expect(await message('/json-error')).toContain('an error on the server ("unknown") has prevented the request from succeeding');
});

test('while a patch is worked on there are pauses', async () => {
  let rests = 0;
  await run('mutating', at('/label'), { rest: () => void rests++ as undefined });
  expect(rests).toBeGreaterThan(2);
});

test('failurePolicy Ignore lets unreachable webhooks be, but not their refusals', async () => {
  const ignore = { failurePolicy: 'Ignore' };
  await run('validating', { ...at('/hang'), ...ignore });
  await run('validating', { ...at('/allow', other), ...ignore });
  await expect(run('validating', { ...at('/deny'), ...ignore })).rejects.toThrow('not today');
});

const answering = (response: object) => at(`/allow?response=${encodeURIComponent(JSON.stringify(response))}`);

test.each([
  [{ allowed: 'false' }, 'json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool'],
  [{ allowed: 1 }, 'cannot unmarshal number'],
  [{ allowed: {} }, 'cannot unmarshal object'],
  [{ warnings: 5 }, 'cannot unmarshal number'],
  [{ warnings: [{}] }, 'cannot unmarshal object'],
  [{ auditAnnotations: 'abc' }, 'cannot unmarshal string'],
  [{ allowed: false, status: { code: 'abc' } }, 'cannot unmarshal string'],
  [{ patch: '%%%', patchType: 'JSONPatch' }, 'illegal base64 data'],
  [{ patch: 5, patchType: 'JSONPatch' }, 'cannot unmarshal number'],
])('an answer of %j is none: the failure policy decides', async (response, message) => {
  for (const type of ['mutating', 'validating'] as const) {
    await expect(run(type, answering(response))).rejects.toThrow(message);
    await run(type, { ...answering(response), failurePolicy: 'Ignore' });
  }
});

const patching = (operations: unknown) =>
  answering({ patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') });

test.each([
  ['that makes it another kind', [{ op: 'replace', path: '/kind', value: 'Secret' }], 'unknown conversion'],
  ['of no type of its own', [{ op: 'add', path: '/metadata/labels', value: 5 }], 'cannot unmarshal number'],
  ['without an object', [{ op: 'replace', path: '', value: [] }], 'cannot unmarshal array'],
])('a patch %s is refused', async (_, operations, message) => {
  await expect(run('mutating', patching(operations))).rejects.toThrow(message);
});

test('a patch of nothing changes nothing, one that takes the metadata away leaves an object without a name', async () => {
  expect((await run('mutating', patching(null))).request.object?.metadata).toMatchObject({ name: 'x' });
  const { request } = await run('mutating', patching([{ op: 'remove', path: '/metadata' }]));
  expect(request.object?.metadata).toEqual({});
});

test('a dry run does not reach webhooks with side effects', async () => {
  const webhook = { ...at('/allow'), sideEffects: 'Unknown' };
  await expect(run('validating', webhook, { dryRun: true })).rejects.toThrow('does not support dry run');
  expect(asked).toHaveLength(0);
});

const condition = (expression: string) => ({ matchConditions: [{ name: 'only', expression }] });

test.each(['mutating', 'validating'] as const)('a %s webhook is asked when all its conditions hold', async (type) => {
  const both = {
    matchConditions: [
      { name: 'one', expression: "request.userInfo.username == 'jane' && object.metadata.name == 'x'" },
      { name: 'two', expression: "authorizer.group('').resource('pods').check('list').allowed()" },
    ],
  };
  await run(type, { ...at('/allow'), ...both });
  expect(asked).toHaveLength(1);
  await run(type, { ...at('/deny'), ...condition('oldObject != null') });
  expect(asked).toHaveLength(0);
});

test.each(['mutating', 'validating'] as const)('a condition of a %s webhook that fails is what the policy says', async (type) => {
  const broken = { ...at('/deny'), ...condition('object.data.a == 1') };
  await expect(run(type, broken)).rejects.toThrow(
    'configmaps "x" is forbidden: expression \'object.data.a == 1\' resulted in error: no such key: data',
  );
  await run(type, { ...broken, failurePolicy: 'Ignore' });
  expect(asked).toHaveLength(0);
  const excluded = { matchConditions: [...broken.matchConditions, { name: 'no', expression: 'false' }] };
  await run(type, { ...broken, ...excluded });
  expect(asked).toHaveLength(0);
});

test('conditions see what webhooks before have changed, and no audit annotation tells of who was not asked', async () => {
  const notes: string[] = [];
  const webhooks = [
    { name: 'first.example.com', ...at('/label') },
    { name: 'second.example.com', ...at('/label'), ...condition('!has(object.metadata.labels)') },
  ];
  await run('mutating', webhooks, { annotate: (key) => void notes.push(key) });
  expect(asked).toHaveLength(1);
  expect(notes.filter((key) => key.startsWith('mutation.'))).toEqual(['mutation.webhook.admission.k8s.io/round_0_index_0']);
});

const answeringPatch = (patch: string, patchType = 'JSONPatch') =>
  answering({ patch: Buffer.from(patch).toString('base64'), patchType });

test.each([
  ['x', 'received undecodable patch in webhook response: '],
  ['{}', 'undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch.Patch'],
  ['[1]', 'undecodable patch in webhook response: json: cannot unmarshal number into Go value of type jsonpatch.Operation'],
])('the patch %j is none: the failure policy decides', async (patch, message) => {
  await expect(run('mutating', answeringPatch(patch))).rejects.toThrow(message);
  const { request } = await run('mutating', { ...answeringPatch(patch), failurePolicy: 'Ignore' });
  expect(request.object?.metadata).toEqual({ name: 'x', namespace: 'ns' });
});

test('a patch of another type is none either, and an empty one changes nothing', async () => {
  await expect(run('mutating', answeringPatch('[{"op":"test"}]', 'MergePatch'))).rejects.toThrow(
    'unsupported patch type "MergePatch"',
  );
  for (const empty of ['[]', 'null']) await run('mutating', answeringPatch(empty));
});

test('a patch that does not apply is told in full, whatever the failure policy', async () => {
  const webhook = answeringPatch('[{"op":"add","path":"/data/a","value":"b"}]');
  await expect(run('mutating', { ...webhook, failurePolicy: 'Ignore' })).rejects.toMatchObject({
    status: {
      code: 500,
      message: 'Internal error occurred: add operation does not apply: doc is missing path: "/data/a": missing value',
    },
  });
});

test('an object is shown as the wire has it, with zero values that nobody sent', async () => {
  const same = (object: UnknownObject) => object;
  const kind = { group: 'apps', version: 'v1', kind: 'Deployment' };
  const type: AdmissionRequest['type'] = {
    ...{ kind, schema: builtinSchema(), typeName: 'io.k8s.api.apps.v1.Deployment', custom: false },
    ...{ setDefaults: () => {}, toStorage: same, fromStorage: same },
  };
  const object = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'x' }, spec: { replicas: 1 } } as never;
  await run('validating', at('/allow'), { ...kind, resource: 'deployments', type, object });
  expect(asked[0]?.request?.object).toMatchObject({ status: {}, spec: { strategy: {} } });
});
