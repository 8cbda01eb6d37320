// Bad input as it comes over real HTTPS, with HTTP/1.1 and HTTP/2 alike: encodings, paths, headers, query values, bodies made to hurt. Each is
// refused with a proper Status and costs only its sender; see hostile.test.ts for mutated objects.
import { connect, type ClientHttp2Session } from 'node:http2';
import { Agent, request as httpsRequest } from 'node:https';
import { once } from 'node:events';
import { connect as connectTls } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeApiServer } from '#apiserver/app';
import { type Logger, silentLogger } from '#utils';
import { startApiServer } from '../../support/api-server.ts';

let server: KubeApiServer;
let session: ClientHttp2Session;
const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
const complaints: string[] = [];
const logger: Logger = {
  ...silentLogger,
  error: (message, values) => void complaints.push(`${message} ${JSON.stringify(values)}`),
  with: () => logger,
};

beforeAll(async () => {
  server = await startApiServer(logger);
  session = openSession();
  await ask.http1({
    method: 'POST',
    path: '/api/v1/namespaces/default/serviceaccounts',
    body: '{"metadata":{"name":"default"}}',
  });
  const made = await ask.http1({ method: 'POST', path: pods, body: JSON.stringify(pod) });
  expect(made.status, made.text).toBe(201);
});
afterAll(async () => {
  session?.destroy();
  agent.destroy();
  await server?.close();
  // Whatever was sent, nothing of it was unexpected.
  expect(complaints).toEqual([]);
});

const pods = '/api/v1/namespaces/default/pods';
const pod = {
  metadata: { name: 'valid' },
  spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] },
};
interface Question {
  method?: string;
  path?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
}
interface Answer {
  status: number;
  text: string;
  warning: string;
}
const withDefaults = ({ method = 'GET', path = '/api/v1/nodes', headers = {}, body }: Question) => ({
  method,
  path,
  headers: { authorization: 'Bearer admin', ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
});

/** What ends a session is told by its streams. */
const openSession = (): ClientHttp2Session =>
  connect(server.url, { rejectUnauthorized: false, maxSendHeaderBlockLength: 1 << 20 }).on('error', () => {});

const ask: Record<'http1' | 'http2', (question: Question) => Promise<Answer>> = {
  http1: (question) =>
    new Promise((resolve, reject) => {
      const { method, path, headers: given } = withDefaults(question);
      const length = question.body === undefined ? {} : { 'content-length': Buffer.byteLength(question.body) };
      const options = { host: '127.0.0.1', port: server.wire.port, method, path, headers: { ...given, ...length }, agent };
      const request = httpsRequest(options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text: Buffer.concat(chunks).toString(),
            warning: String(response.headers['warning'] ?? ''),
          }),
        );
        response.on('error', reject);
      });
      // A refusal may come before the body was taken.
      request.on('error', reject);
      request.end(question.body);
    }),
  http2: (question) =>
    new Promise((resolve, reject) => {
      if (session.closed || session.destroyed) session = openSession();
      const { method, path, headers } = withDefaults(question);
      const stream = session.request(
        { ':method': method, ':path': path, ...headers },
        { endStream: question.body === undefined },
      );
      const chunks: Buffer[] = [];
      let status = 0;
      let warning = '';
      stream.on('response', (head) => {
        status = Number(head[':status']);
        warning = String(head['warning'] ?? '');
      });
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => resolve({ status, text: Buffer.concat(chunks).toString(), warning }));
      stream.on('error', reject);
      if (question.body !== undefined) stream.end(question.body);
    }),
};

const create = (body: string | Buffer, type = 'application/json', headers: Record<string, string> = {}): Question => ({
  method: 'POST',
  path: pods,
  body,
  headers: { 'content-type': type, ...headers },
});
const patch = (type: string, body: string, query = ''): Question => ({
  method: 'PATCH',
  path: `${pods}/valid${query}`,
  body,
  headers: { 'content-type': type },
});
const nested = (open: string, close: string, depth: number): string => open.repeat(depth) + close.repeat(depth);
const jsonPatch = 'application/json-patch+json';
const mergePatch = 'application/merge-patch+json';
const strategicPatch = 'application/strategic-merge-patch+json';
const apply = 'application/apply-patch+yaml';
const laughs = [
  'a: &a [x,x,x,x,x,x,x,x,x]',
  ...'bcdefghij'.split('').map((name, i) => `${name}: &${name} [${`*${'abcdefghij'[i]},`.repeat(9)}]`),
].join('\n');

const refused: Record<string, Question> = {
  'a compressed body': create(gzipSync(JSON.stringify(pod)), 'application/json', { 'content-encoding': 'gzip' }),
  'a body that says it is compressed': create(JSON.stringify(pod).slice(1), 'application/json', { 'content-encoding': 'br' }),
  'another character set': create(Buffer.from(JSON.stringify(pod), 'utf16le'), 'application/json; charset=utf-16'),
  'invalid UTF-8': create(Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d])),
  'a media type that is none': create('{}', '/////'),
  'a form': create('a=b', 'application/x-www-form-urlencoded'),
  'nested lists': create(nested('[', ']', 50_000)),
  'nested objects in a field': create(
    `{"metadata":{"name":"x","annotations":${nested('{"a":', '}', 9_000).replace(/}/, '1}')}}}`,
  ),
  'nested YAML': create(nested('[', ']', 20_000), 'application/yaml'),
  'YAML that grows': create(laughs, 'application/yaml'),
  'several YAML documents': create('a: 1\n---\nb: 2', 'application/yaml'),
  'a YAML tag': create('metadata: !!js/function "x"', 'application/yaml'),
  'numbers too large': create('{"metadata":{"name":"x"},"spec":{"terminationGracePeriodSeconds":1e400}}'),
  'a fraction for a whole number': create('{"metadata":{"name":"x"},"spec":{"terminationGracePeriodSeconds":1.5}}'),
  'a name of 300 letters': create(JSON.stringify({ ...pod, metadata: { name: 'x'.repeat(300) } })),
  'annotations over their limit': create(
    JSON.stringify({ ...pod, metadata: { name: 'x', annotations: { a: 'x'.repeat(300_000) } } }),
  ),
  'a list as an object': create('{"kind":"PodList","apiVersion":"v1","items":[]}'),
  'ten thousand and one operations': patch(
    jsonPatch,
    JSON.stringify(Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'Pod' }))),
  ),
  'a copy that grows': patch(
    jsonPatch,
    JSON.stringify([
      { op: 'add', path: '/metadata/annotations', value: { a: 'x'.repeat(100_000) } },
      ...Array.from({ length: 200 }, (_, i) => ({ op: 'copy', from: '/metadata/annotations', path: `/metadata/labels${i}` })),
    ]),
  ),
  'a move into itself': patch(jsonPatch, '[{"op":"move","from":"/spec","path":"/spec/containers"}]'),
  'a pointer without a slash': patch(jsonPatch, '[{"op":"add","path":"spec","value":1}]'),
  'an index that is none': patch(jsonPatch, '[{"op":"add","path":"/spec/containers/1e3","value":{}}]'),
  'the prototype': patch(jsonPatch, '[{"op":"add","path":"/__proto__/polluted","value":true}]'),
  'a nested merge patch': patch(mergePatch, `{"metadata":{"annotations":${nested('{"a":', '}', 5_000).replace(/}/, '1}')}}}`),
  'an empty merge patch body': patch(mergePatch, ''),
  'a strategic patch of a wrong type': patch(strategicPatch, '{"spec":{"containers":"x"}}'),
  'a strategic directive out of place': patch(strategicPatch, '{"spec":{"$retainKeys":"x","containers":[{"$patch":"delete"}]}}'),
  'an order that does not fit': patch(
    strategicPatch,
    '{"spec":{"$setElementOrder/containers":[{"name":"zzz"}],"containers":[{"name":"c","image":"i"}]}}',
  ),
  'an apply that grows': patch(apply, laughs, '?fieldManager=m'),
  'an apply of another object': patch(apply, 'apiVersion: v1\nkind: Pod\nmetadata: {name: other}', '?fieldManager=m'),
  'an apply with managed fields': patch(
    apply,
    'apiVersion: v1\nkind: Pod\nmetadata: {name: valid, managedFields: [{manager: x}]}',
    '?fieldManager=m',
  ),
  'an apply with unknown fields': patch(
    apply,
    'apiVersion: v1\nkind: Pod\nmetadata: {name: valid}\nspec: {nonsense: 1}',
    '?fieldManager=m',
  ),
  'a manager too long': patch(apply, 'apiVersion: v1\nkind: Pod\nmetadata: {name: valid}', `?fieldManager=${'m'.repeat(200)}`),
  'a manager that does not print': patch(apply, 'apiVersion: v1\nkind: Pod\nmetadata: {name: valid}', '?fieldManager=%07'),
  'a dry run of what': { ...create(JSON.stringify(pod)), path: `${pods}?dryRun=some` },
  'a validation of what': { ...create(JSON.stringify(pod)), path: `${pods}?fieldValidation=Perhaps` },
  'options that are none': { method: 'DELETE', path: `${pods}/valid`, body: '{"gracePeriodSeconds":"soon"}' },
  'options of another kind': { method: 'DELETE', path: `${pods}/valid`, body: '{"kind":"Pod","apiVersion":"v1"}' },
  'a policy that is none': { method: 'DELETE', path: `${pods}/valid?propagationPolicy=Sometimes` },
  'a precondition that fails': { method: 'DELETE', path: `${pods}/valid`, body: '{"preconditions":{"uid":"x"}}' },
  'a label selector without end': { path: `/api/v1/pods?labelSelector=${encodeURIComponent('a in ('.repeat(3_000))}` },
  'a label selector of odd letters': { path: '/api/v1/pods?labelSelector=%F0%9F%92%A3%3D%00' },
  'a field selector on nothing': { path: '/api/v1/pods?fieldSelector=spec.nonsense%3Dx' },
  'a field selector cut off': { path: '/api/v1/pods?fieldSelector=spec.nodeName%3D%5C' },
  'a continue token of another version': {
    path: `/api/v1/pods?limit=1&continue=${Buffer.from('{"v":"meta.k8s.io/v9","rv":1,"start":"x"}').toString('base64')}`,
  },
  'a continue token that leads out': {
    path: `/api/v1/pods?limit=1&continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"../secrets/x"}').toString('base64url')}`,
  },
  'a match without a version': { path: '/api/v1/pods?resourceVersionMatch=NotOlderThan' },
  'initial events without a match': { path: '/api/v1/pods?watch=true&sendInitialEvents=true' },
  'a timeout that is none': { path: '/api/v1/pods?timeout=soon' },
  'a version that is none': { path: '/api/v1/pods?resourceVersion=abc' },
  'a number that is none': { path: '/api/v1/pods?limit=many' },
  'a path that leads out': { path: '/api/v1/namespaces/default/pods/..%2f..%2fsecrets' },
  'a name with a zero byte': { path: `${pods}/%00` },
  'a percent sign alone': { path: `${pods}/%` },
  'half a letter': { path: `${pods}/%E0%A4` },
  'a path of slashes': { path: '/'.repeat(500) },
  'a target too long': { path: `/api/v1/pods?x=${'x'.repeat(70_000)}` },
  'a verb that is none': { method: 'LOCK', path: pods },
  'a trace': { method: 'TRACE', path: pods },
  'an impersonated nobody': { headers: { 'impersonate-group': 'system:masters' } },
  'an impersonated extra alone': { headers: { 'impersonate-extra-a%ZZ': 'x' } },
  'a token that is no UTF-8': { headers: { authorization: 'Bearer \u00ff\u00fe' } },
  'a scheme without token': { headers: { authorization: 'Bearer' } },
  'another scheme': { headers: { authorization: 'Basic YTpi' } },
  'a token with too many parts': { headers: { authorization: `Bearer ${'e30.'.repeat(500)}` } },
  'a token with a huge number': {
    headers: {
      authorization: `Bearer ${Buffer.from('{"alg":"ES256"}').toString('base64url')}.${Buffer.from('{"iss":"https://kubernetes.default.svc","exp":1e999}').toString('base64url')}.AAAA`,
    },
  },
  'nothing acceptable': { headers: { accept: 'image/png;q=x, ;;;,' } },
  'a table of no version': { path: pods, headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v9' } },
  'a request for a certificate that is none': {
    method: 'POST',
    path: '/apis/certificates.k8s.io/v1/certificatesigningrequests',
    body: JSON.stringify({
      metadata: { name: 'x' },
      spec: {
        request: Buffer.from('-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----').toString('base64'),
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['client auth'],
      },
    }),
  },
  'a request for a certificate that is no base64': {
    method: 'POST',
    path: '/apis/certificates.k8s.io/v1/certificatesigningrequests',
    body: JSON.stringify({ metadata: { name: 'x' }, spec: { request: '%%%', signerName: 'a/b', usages: ['client auth'] } }),
  },
  'a token request for what': {
    method: 'POST',
    path: '/api/v1/namespaces/default/serviceaccounts/default/token',
    body: JSON.stringify({ spec: { expirationSeconds: 1, boundObjectRef: { kind: 'Moon', name: 'x' } } }),
  },
  'a review of nothing': { method: 'POST', path: '/apis/authorization.k8s.io/v1/subjectaccessreviews', body: '{"spec":{}}' },
  'a review with both': {
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: '{"spec":{"resourceAttributes":{"verb":"get"},"nonResourceAttributes":{"path":"/"}}}',
  },
  'a binding to nothing': { method: 'POST', path: `${pods}/valid/binding`, body: '{"target":{}}' },
  'an eviction of another pod': { method: 'POST', path: `${pods}/valid/eviction`, body: '{"metadata":{"name":"other"}}' },
  'a scale of a pod': { method: 'PUT', path: `${pods}/valid/scale`, body: '{"spec":{"replicas":1}}' },
  'a definition with a schema that turns in circles': {
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    body: JSON.stringify({
      metadata: { name: 'as.x.io' },
      spec: {
        group: 'x.io',
        scope: 'Namespaced',
        names: { plural: 'as', kind: 'A' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { $ref: '#' } } }],
      },
    }),
  },
  'a definition with a pattern that never ends': {
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    body: JSON.stringify({
      metadata: { name: 'as.x.io' },
      spec: {
        group: 'x.io',
        scope: 'Namespaced',
        names: { plural: 'as', kind: 'A' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', properties: { a: { type: 'string', pattern: '(' } } } },
          },
        ],
      },
    }),
  },
  'a policy whose expression is none': {
    method: 'POST',
    path: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
    body: JSON.stringify({
      metadata: { name: 'p' },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] }],
        },
        validations: [{ expression: `${'('.repeat(2_000)}1` }],
      },
    }),
  },
};

describe.each(['http1', 'http2'] as const)('over %s', (version) => {
  it.each(Object.entries(refused))('refuses %s', async (about, question) => {
    const { status, text } = await ask[version](question);
    expect(status, `${about}: ${text.slice(0, 500)}`).toBeGreaterThanOrEqual(400);
    // A 500 that is upstream's, too, has no reason; one that nobody expected has one.
    if (status >= 500) expect(JSON.parse(text), about).not.toHaveProperty('reason');
    // Paths that no route knows are answered in plain text, as upstream does.
    if (text.startsWith('{')) expect(JSON.parse(text), about).toMatchObject({ kind: 'Status', status: 'Failure', code: status });
    else expect(text).toMatch(/^404 page not found\n$/);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('warns in any language', async () => {
    const name = `warned-${version}`;
    const body = JSON.stringify({ ...pod, metadata: { name }, 'ünknown→\u0007': 1 });
    const answer = await ask[version]({ ...create(body), path: `${pods}?fieldValidation=Warn` });
    expect(answer.status, answer.text).toBe(201);
    expect(Buffer.from(answer.warning, 'latin1').toString()).toContain('ünknown→');
  });

  it('answers the next request', async () => {
    expect((await ask[version]({ path: '/readyz' })).text).toBe('ok');
    expect((await ask[version]({ path: `${pods}/valid` })).status).toBe(200);
  });
});

it('a body cut off anywhere costs only its sender', async () => {
  const text = `POST ${pods} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"metadata":{"name":"half"}`;
  for (let length = 1; length < text.length; length += 7) {
    const socket = connectTls({ host: '127.0.0.1', port: server.wire.port, rejectUnauthorized: false });
    socket.on('error', () => {});
    await once(socket, 'secureConnect');
    socket.write(text.slice(0, length));
    socket.destroy();
  }
  expect((await ask.http1({ path: '/readyz' })).text).toBe('ok');
});
