// Calls of gRPC services against a server of one method, which echoes or refuses.
import { credentials, makeClientConstructor, Metadata, Server, ServerCredentials } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { callUnary, codeName, failureText, type ServiceClient } from './index.ts';

const json = {
  serialize: (value: object) => Buffer.from(JSON.stringify(value)),
  deserialize: (bytes: Buffer) => JSON.parse(bytes.toString()) as object,
};
const service = {
  Echo: {
    path: '/test.Test/Echo',
    requestStream: false as const,
    responseStream: false as const,
    requestSerialize: json.serialize,
    requestDeserialize: json.deserialize,
    responseSerialize: json.serialize,
    responseDeserialize: json.deserialize,
  },
};

let server: Server;
let client: ServiceClient;
beforeEach(async () => {
  server = new Server();
  server.addService(service, {
    Echo(
      { request, metadata }: { request: { code?: number }; metadata: Metadata },
      answer: (error: object | null, value?: object) => void,
    ) {
      if (request.code !== undefined) return answer({ code: request.code, details: 'refused' });
      answer(null, { ...request, from: metadata.get('from') });
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  client = new (makeClientConstructor(service, 'Test'))(`127.0.0.1:${port}`, credentials.createInsecure());
});
afterEach(() => {
  client.close();
  server.forceShutdown();
});

const call = (request: object, more: { method?: string; metadata?: Metadata; deadlineMs?: number } = {}) =>
  callUnary<object>({ client, method: 'Echo', request, deadlineMs: Date.now() + 60_000, ...more });

it('gives the answer, with and without metadata', async () => {
  expect(await call({ text: 'a' })).toEqual({ text: 'a', from: [] });
  const metadata = new Metadata();
  metadata.set('from', 'here');
  expect(await call({ text: 'b' }, { metadata })).toEqual({ text: 'b', from: ['here'] });
});

it.each([1e15, 9.2e21, Number.POSITIVE_INFINITY])('takes a call that may last %d ms for one without an end', async (ms) => {
  expect(await call({ text: 'a' }, { deadlineMs: Date.now() + ms })).toEqual({ text: 'a', from: [] });
});

it('rejects with the code of a refusal, which reads as in Go', async () => {
  const failure = await call({ code: 5 }).catch((error: unknown) => error as { code: number; details: string });
  expect(failure).toMatchObject({ code: 5, details: 'refused' });
  expect(failureText(failure as { code: number; details: string })).toBe('rpc error: code = NotFound desc = refused');
  expect([1, 4, 99].map(codeName)).toEqual(['Canceled', 'DeadlineExceeded', 'Code(99)']);
});

it('rejects a method that the service does not have, instead of waiting for ever', async () => {
  await expect(call({}, { method: 'Absent' })).rejects.toThrow('the service has no method Absent');
});
