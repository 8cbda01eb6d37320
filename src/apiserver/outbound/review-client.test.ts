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
