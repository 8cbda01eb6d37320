// Whichever way a request comes, what it asks is plain data: another thread or process could read it.
import { expect, it } from 'vitest';
import { builtinSchema } from '#api';
import { badRequest } from '#apimachinery/errors';
import type { Transport } from '#apimachinery/transport';
import { systemClock, systemRng } from '#host';
import type { WireRequest, WireResponse, WireUpgrade } from '#wire';
import type { Incoming } from '../chain/incoming.ts';
import type { AnswerContext } from '../endpoints/answer-context.ts';
import { dataOf } from '../request/request.ts';
import { createMemoryTransport } from './memory.ts';
import { wayOverWire } from './wire.ts';

const clock = systemClock();
const context = {
  schema: builtinSchema(),
  clock,
  random: systemRng(),
  restOf: () => () => undefined,
} as unknown as AnswerContext;
const seen: Incoming[] = [];
const serve = (request: Incoming) => {
  seen.push(request);
  const error = badRequest('enough');
  return Promise.resolve({ is: 'failed', error, cause: error } as const);
};
const head = {
  ...{ method: 'GET', path: '/api/v1/pods?limit=2', headers: { 'user-agent': 'a', accept: 'application/json' }, rawHeaders: [] },
  ...{ httpVersion: '1.1', encrypted: true, peerCertificate: { certificate: { raw: new Uint8Array([1, 2]) } } },
  ...{ remoteAddress: '127.0.0.1', remotePort: 1, localAddress: '127.0.0.1', signal: new AbortController().signal },
};
const response = { status: 0, destroyed: false, headSent: false } as WireResponse;
const unanswered = { protocols: ['websocket'], reject: () => undefined, response: () => response };
const pods = { group: '', version: 'v1', resource: 'pods', namespace: 'n' };
const user = { name: 'loop', groups: ['g'], extra: { scopes: ['a'] } };
const inMemory = (work: (transport: Transport) => Promise<unknown>) => () =>
  work(createMemoryTransport({ context, serve, turn: () => undefined }, user, 'loop/1'));
const overWire = wayOverWire({ context, serve });

it.each([
  ['a request', () => overWire.handle(head as unknown as WireRequest, response)],
  ['an upgrade', () => overWire.upgrade({ ...head, ...unanswered } as unknown as WireUpgrade, response)],
  ['a call', inMemory((transport) => transport.call({ ...pods, verb: 'list', options: { limit: 2, labelSelector: 'a=b' } }))],
  ['a write', inMemory((transport) => transport.call({ ...pods, verb: 'create', object: { metadata: { name: 'x' } } }))],
  ['a watch', inMemory((transport) => transport.watch({ ...pods, options: { resourceVersion: '1' } }))],
  ['a raw path', inMemory((transport) => Promise.race([transport.raw('GET', '/api/v1/pods'), Promise.resolve()]))],
])('%s', async (_name, ask) => {
  seen.length = 0;
  await Promise.resolve(ask()).catch((error: unknown) => expect(error).toMatchObject({ message: 'enough' }));
  const [request] = seen;
  const data = dataOf(request as Incoming);
  expect(structuredClone(data)).toEqual(data);
  expect(data).toMatchObject({
    target: { resource: 'pods' },
    user: { name: expect.stringMatching(/^(loop|system:anonymous)$/) as string },
  });
});
