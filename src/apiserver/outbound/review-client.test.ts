// What counts as the answer to a review, against a server that answers whatever a test says.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#host';
import { seededRng } from '#utils';
import { createReviewClient, type ReviewClient } from './review-client.ts';

let server: Server;
let client: ReviewClient;
let named: object = {};
beforeAll(async () => {
  server = createServer((_request, response) => response.end(JSON.stringify({ ...named, status: { allowed: true } })));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const deps = { clock: systemClock(), rng: seededRng(1) };
  client = createReviewClient({ url, tls: {}, authorization: async () => undefined }, {}, deps);
});
afterAll(() => {
  client.close();
  server.closeAllConnections();
  server.close();
});

const kind = 'SubjectAccessReview';
const apiVersion = 'authorization.k8s.io/v1';
const ask = () => client.post<{ allowed: boolean }>({ kind, apiVersion }, 'io.k8s.api.authorization.v1.SubjectAccessReview');

test.each([{}, { kind, apiVersion }, { kind }, { apiVersion }, { kind: '', apiVersion: '' }])(
  '%j is an answer',
  async (names) => {
    named = names;
    expect(await ask()).toEqual({ allowed: true });
  },
);

test.each([
  { kind: 'Pod', apiVersion: 'v1' },
  { kind, apiVersion: 'authorization.k8s.io/v1beta1' },
  { kind: 'LocalSubjectAccessReview', apiVersion },
  { kind: 'Status' },
])('%j is none, and no consent', async (names) => {
  named = names;
  await expect(ask()).rejects.toThrow('the answer is no review');
});

test('a server is asked so much at once, and the rest in its turn', async () => {
  const held: (() => void)[] = [];
  let most = 0;
  const slow = createServer((_request, response) => {
    most = Math.max(
      most,
      held.push(() => response.end(JSON.stringify({ status: { allowed: true } }))),
    );
    // Nobody comes any more before one of these has its answer.
    if (held.length === 1_000 || done > 0) for (const answer of held.splice(0)) answer();
  });
  let done = 0;
  await once(slow.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/`;
  const deps = { clock: systemClock(), rng: seededRng(1) };
  const patient = createReviewClient({ url, tls: {}, authorization: async () => undefined }, { timeoutMs: 60_000 }, deps);
  const one = async (): Promise<void> => {
    await patient.post({ kind, apiVersion }, 'io.k8s.api.authorization.v1.SubjectAccessReview');
    done++;
  };
  await Promise.all(Array.from({ length: 1_200 }, one));
  expect([most, done]).toEqual([1_000, 1_200]);
  patient.close();
  slow.closeAllConnections();
  slow.close();
}, 60_000);

test('who waits for a turn is told in time', async () => {
  const silent = createServer(() => {});
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
  const deps = { clock: systemClock(), rng: seededRng(1) };
  const impatient = createReviewClient({ url, tls: {}, authorization: async () => undefined }, { timeoutMs: 500 }, deps);
  const all = await Promise.allSettled(
    Array.from({ length: 1_100 }, () => impatient.post({ kind, apiVersion }, 'io.k8s.api.authorization.v1.SubjectAccessReview')),
  );
  for (const one of all) expect(String(one.status === 'rejected' && one.reason)).toContain('context deadline exceeded');
  impatient.close();
  silent.closeAllConnections();
  silent.close();
}, 60_000);
