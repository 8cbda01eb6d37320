import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { builtinSchema } from '#api';
import type { WireRequest, WireResponse } from '#wire';
import { createAuthentication } from '../authentication/index.ts';
import { decodeBody } from '../endpoints/body.ts';
import { dataOf } from '../request/request.ts';
import type { AnswerContext } from '../endpoints/answer-context.ts';
import { wireIncoming } from './wire.ts';

const schema = builtinSchema();
const clock = { now: () => 7, monotonic: () => 0 };
const context = { clock, random: { uuid: () => 'u' }, restOf: () => () => undefined, schema } as unknown as AnswerContext;
const json = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"},"data":{"a":"b"}}';

const request: WireRequest = {
  method: 'POST',
  path: '/api/v1/namespaces/n/configmaps?dryRun=All&fieldManager=me',
  headers: { authorization: 'Bearer secret', 'user-agent': 'test', 'content-type': 'application/json' },
  rawHeaders: [],
  httpVersion: '2.0',
  encrypted: true,
  peerCertificate: undefined,
  remoteAddress: '127.0.0.1',
  remotePort: 1,
  localAddress: '127.0.0.1',
  body: Readable.from([]),
  readBody: () => Promise.resolve(Buffer.from(json)),
  signal: new AbortController().signal,
  onClose() {},
  servedFor() {},
};

it('reads a request into data that another thread can authenticate and whose body it can decode', async () => {
  const here = wireIncoming(context, { request, response: {} as WireResponse });
  const there = structuredClone({ data: dataOf(here), bytes: await request.readBody() });
  expect(there.data).toMatchObject({
    via: 'wire',
    verb: 'create',
    target: { group: '', version: 'v1', resource: 'configmaps', subresource: '', namespace: 'n', name: '' },
    options: { dryRun: ['All'], fieldManager: 'me' },
    progress: 'received',
  });
  const alice = { name: 'alice', groups: [] };
  const { authenticate } = createAuthentication({
    apiAudiences: [],
    tokens: [],
    loopbackTokens: new Map([['secret', alice]]),
    anonymous: false,
  });
  expect(await authenticate(there.data)).toMatchObject({ name: 'alice' });
  const target = {
    group: '',
    version: 'v1',
    kind: 'ConfigMap',
    schema,
    typeName: 'io.k8s.api.core.v1.ConfigMap',
    protobuf: true,
  };
  const { object } = await decodeBody({ bytes: Buffer.from(there.bytes), encoding: 'json' }, target, 'Strict');
  expect(object).toMatchObject({ metadata: { name: 'c' }, data: { a: 'b' } });
});
