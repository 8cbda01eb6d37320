// Servers that never come to their answer: informational ones without end, over both protocols, and to upgrades.
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from 'node:http2';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { createWireClient, type WireClient } from '../index.ts';

const early = 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n';
const words = 'too many 1xx informational responses';

let cleanups: (() => unknown)[];
beforeEach(() => {
  cleanups = [];
});
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

async function listening(server: Server | Http2SecureServer): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => new Promise((resolve) => server.close(resolve)));
  return (server.address() as AddressInfo).port;
}

function clientOf(port: number, protocol: 'http/1.1' | 'h2'): WireClient {
  const scheme = protocol === 'h2' ? 'https' : 'http';
  const client = createWireClient({ baseUrl: `${scheme}://127.0.0.1:${port}`, protocol, tls: { insecureSkipVerify: true } });
  cleanups.push(() => client.close());
  return client;
}

/** A server that says so many of them before its answer; without a number it never stops. */
async function http1Server(count?: number): Promise<number> {
  const sockets = new Set<Socket>();
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
  });
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.once('data', () => {
      if (count !== undefined) return void socket.write(`${early.repeat(count)}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok`);
      const more = (): void => {
        if (!socket.destroyed) socket.write(early.repeat(1_000), more);
      };
      more();
    });
  });
  return listening(server);
}

it('HTTP/1.1: a few are passed over, an endless row ends the request, also one for another protocol', async () => {
  const patient = clientOf(await http1Server(5), 'http/1.1');
  expect(await (await patient.request({ path: '/' })).text()).toBe('ok');
  const endless = clientOf(await http1Server(), 'http/1.1');
  await expect(endless.request({ path: '/' })).rejects.toThrow(words);
  await expect(endless.upgrade({ path: '/', headers: { connection: 'Upgrade', upgrade: 'x' } })).rejects.toThrow(words);
});

it('HTTP/2: a few are passed over, an endless row ends the connection', async () => {
  const sessions = new Set<ServerHttp2Session>();
  const ca = createCertificateAuthority({ commonName: 'test' });
  const { cert, key } = issueCertificate({ ca, commonName: 'server', ips: ['127.0.0.1'], usages: ['server auth'] });
  const server = createSecureServer({ cert, key });
  server.on('session', (session) => sessions.add(session.on('error', () => {})));
  cleanups.push(() => {
    for (const session of sessions) session.destroy();
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    const count = headers[':path'] === '/few' ? 5 : 200;
    for (let i = 0; i < count && !stream.destroyed; i++) stream.additionalHeaders({ ':status': 103 });
    if (count === 5) stream.respond({ ':status': 200 });
    if (count === 5) stream.end('ok');
  });
  const client = clientOf(await listening(server), 'h2');
  expect(await (await client.request({ path: '/few' })).text()).toBe('ok');
  await expect(client.request({ path: '/endless' })).rejects.toThrow(words);
  expect(await (await client.request({ path: '/few' })).text()).toBe('ok');
});
