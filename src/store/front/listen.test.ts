// Connections to the front that say nothing, too little, or never end: each is let go of by the front itself.
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Server } from '@grpc/grpc-js';
import { afterEach, expect, test } from 'vitest';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { type Listener, listenForBoth } from './listen.ts';

const ca = createCertificateAuthority({ commonName: 'test' });
const tls = issueCertificate({ ca, commonName: 'server', ips: ['127.0.0.1'], usages: ['server auth'] });

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function listen(secure: boolean, patience: { greetingMs?: number; probeMs?: number }): Promise<Listener> {
  const target = { server: new Server(), host: '127.0.0.1', port: 0, ...(secure && { tls }), ...patience };
  const listener = await listenForBoth(target, async () => undefined);
  cleanups.push(() => listener.close());
  return listener;
}

/** A client that never ends its side. */
async function plain({ port }: Listener): Promise<Socket> {
  const socket = connectTcp({ port, host: '127.0.0.1', allowHalfOpen: true });
  cleanups.push(() => socket.destroy());
  await once(socket, 'connect');
  return socket.on('error', () => {});
}

async function secured(listener: Listener): Promise<Socket> {
  const socket = connectTls({ socket: await plain(listener), rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
  await once(socket, 'secureConnect');
  return socket.on('error', () => {});
}

/** What came from the front until it let go. */
async function heardUntilTheEnd(socket: Socket): Promise<string> {
  let heard = '';
  socket.on('data', (chunk: Buffer) => {
    heard += chunk.toString();
  });
  await new Promise((done) => socket.once('end', done).once('close', done));
  return heard;
}

test.each([
  ['says nothing before TLS', true, ''],
  ['stops in the middle of its greeting', true, '\x16\x03\x01\x02\x00\x01'],
  ['says nothing where TLS is not spoken', false, ''],
])('a client that %s is let go of', async (_what, secure, said) => {
  const socket = await plain(await listen(secure, { greetingMs: 50 }));
  if (said !== '') socket.write(Buffer.from(said, 'latin1'));
  expect(await heardUntilTheEnd(socket)).toBe('');
});

test.each([
  ['nothing', ''],
  ['half a head', 'GET /health HTTP/1.1\r\nHo'],
  ['half a body', 'GET /health HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n1'],
])('a probe that says %s over TLS is let go of', async (_what, said) => {
  const socket = await secured(await listen(true, { probeMs: 50 }));
  socket.write(said);
  await heardUntilTheEnd(socket);
});

test('a probe that is silent after half a head is let go of where TLS is not spoken', async () => {
  const socket = await plain(await listen(false, { probeMs: 50 }));
  socket.write('GET /health HTTP/1.1\r\nHo');
  await heardUntilTheEnd(socket);
});

test.each([true, false])('a probe has its answer, and its connection ends with it (TLS: %s)', async (secure) => {
  const listener = await listen(secure, {});
  const socket = await (secure ? secured(listener) : plain(listener));
  socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(await heardUntilTheEnd(socket)).toContain('{"health":"true","reason":""}');
});
