// Clients that open many connections at once: their handshakes are begun a few in each turn, so that others are answered in between, and none is forgotten.
import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { limits } from '../limits.ts';
import { serve } from './serve.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** How many TLS connections have been begun from now on, and how many of them at most in one turn. */
function beginnings(): { all: number; inTurn: number } {
  const seen = { all: 0, inTurn: 0 };
  let now = 0;
  const hook = createHook({
    init(_id, type) {
      if (type !== 'TLSWRAP') return;
      if (now === 0) setImmediate(() => (now = 0));
      now++;
      seen.all++;
      seen.inTurn = Math.max(seen.inTurn, now);
    },
  }).enable();
  cleanups.push(() => hook.disable());
  return seen;
}

test('connections that come together are begun a few in each turn', async () => {
  const ca = createCertificateAuthority({ commonName: 'test' });
  const tls = issueCertificate({ ca, commonName: 'server', ips: ['127.0.0.1'], usages: ['server auth'] });
  const server = await serve({ tls, onRequest: (_request, response) => response.send(200, {}, 'ok') });
  cleanups.push(() => server.close({ graceMs: 0 }));
  const count = 20 * limits.handshakesPerTurn;
  const sockets = Array.from({ length: count }, () => connect(server.port, '127.0.0.1').on('error', () => {}));
  cleanups.push(() => sockets.map((socket) => socket.destroy()));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  await expect.poll(() => server.connections).toBe(count);
  const seen = beginnings();
  for (const socket of sockets) socket.write(Buffer.from([22, 3, 1]));
  await expect.poll(() => seen.all).toBe(count);
  // Those that are begun at once and those of the next turn may meet before it is counted anew.
  expect(seen.inTurn).toBeLessThanOrEqual(2 * limits.handshakesPerTurn);

  const client = connectTls({ port: server.port, host: '127.0.0.1', ca: ca.cert });
  cleanups.push(() => client.destroy());
  await once(client, 'secureConnect');
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [answer] = (await once(client, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 OK/);
});
