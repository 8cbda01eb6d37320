// What counts as the answer to a review, against a server that answers whatever a test says.
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
  await expect(ask()).rejects.toThrow('the answer to a SubjectAccessReview is something else: no kind');
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

describe('of answers that are none', () => {
  type Behave = (response: ServerResponse, time: number) => void;
  /** What is said of them, and how often the server was asked. */
  async function said(behave: Behave, timeoutMs = 20_000): Promise<[string, number]> {
    let times = 0;
    const odd = createServer((request, response) => {
      request.resume().on('end', () => behave(response, ++times));
    });
    await once(odd.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(odd.address() as AddressInfo).port}/hook`;
    const deps = { clock: systemClock(), rng: seededRng(1) };
    const asking = createReviewClient({ url, tls: {}, authorization: async () => undefined }, { timeoutMs, retryMs: 1 }, deps);
    const answer = await asking.post({ kind, apiVersion }, 'io.k8s.api.authorization.v1.SubjectAccessReview').then(
      (status) => JSON.stringify(status),
      (error: Error) => error.message.replace(url, 'URL'),
    );
    asking.close();
    odd.closeAllConnections();
    odd.close();
    return [answer, times];
  }
  const sends =
    (status: number, text: string, headers: object = { 'content-type': 'application/json' }): Behave =>
    (response) =>
      response.writeHead(status, headers as Record<string, string>).end(text);
  const allowed = JSON.stringify({ status: { allowed: true } });
  const plain = { 'content-type': 'text/plain' };
  const own = JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'my own words', code: 500 });

  test.each<[string, Behave, string, number]>([
    ['nothing', sends(200, ''), '0-length response with status code: 200 and content type: application/json', 1],
    ['half a document', sends(200, '{'), "couldn't get version/kind; json parse error: unexpected end of JSON input", 1],
    ['no document', sends(200, '[]'), 'json: cannot unmarshal array into Go value of type v1.SubjectAccessReview', 1],
    [
      'a text for a truth value',
      sends(200, '{"status":{"allowed":"true"}}'),
      'json: cannot unmarshal string into Go struct field SubjectAccessReviewStatus.status.allowed of type bool',
      1,
    ],
    ['another code', sends(207, allowed), 'the server responded with the status code 207 but did not return more information', 1],
    ['a refusal', sends(403, 'not you', plain), 'not you', 1],
    ['an unknown path', sends(404, 'x', plain), 'the server could not find the requested resource', 1],
    ['an outage', sends(503, 'x', plain), 'the server is currently unable to handle the request', 1],
    [
      'a broken gateway',
      sends(502, 'bad "day"', plain),
      'an error on the server ("bad \\"day\\"") has prevented the request from succeeding',
      5,
    ],
    ['a Status', sends(500, own), 'my own words', 5],
    ['the end before an answer', (response) => response.destroy(), 'Post "URL?timeout=20s": EOF', 1],
    [
      'the end within one',
      (response) => {
        response.writeHead(200, { 'content-length': 100 }).write('{');
        setTimeout(() => response.destroy(), 20);
      },
      'unexpected error when reading response body. Please retry. Original error: unexpected EOF',
      1,
    ],
  ])('%s', async (_, behave, words, times) => expect(await said(behave)).toEqual([words, times]));

  test('a broken connection is tried again', async () => {
    const [words, times] = await said((response) => response.socket?.resetAndDestroy());
    expect([words, times]).toEqual(['Post "URL?timeout=20s": read: connection reset by peer', 5]);
  });

  test('what asks for a pause is asked again after it, as long as the time for one try lasts', async () => {
    const again = { ...plain, 'retry-after': '0' };
    const busy: Behave = (response, time) => (time < 4 ? sends(429, 'x', again) : sends(200, allowed))(response, time);
    expect(await said(busy)).toEqual(['{"allowed":true}', 4]);
    const late = sends(503, 'x', { ...plain, 'retry-after': '60' });
    expect(await said(late, 200)).toEqual(['Post "URL?timeout=0.2s": context deadline exceeded', 1]);
  });
});
