import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { hearOut, lossOf } from './hear-out.ts';

const ca = createCertificateAuthority({ commonName: 'test' });
const tls = issueCertificate({ ca, commonName: 'server', ips: ['127.0.0.1'], usages: ['server auth'] });

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** A connection to a peer that does as told; its kernel keeps what it does not read. */
async function connected(encrypted: boolean, peer: (socket: Socket) => void): Promise<Socket> {
  const onSocket = (socket: Socket): void => {
    socket.on('error', () => {}).pause();
    peer(socket);
  };
  const server = encrypted ? createTlsServer(tls, onSocket) : createServer(onSocket);
  cleanups.push(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = encrypted ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }) : connect(port, '127.0.0.1');
  socket.on('error', () => {}).pause();
  cleanups.push(() => socket.destroy());
  await once(socket, encrypted ? 'secureConnect' : 'connect');
  return socket;
}
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Goes on writing to a peer that is gone, and reads only then. */
async function readLate(socket: Socket): Promise<number> {
  for (let i = 0; i < 5; i++) {
    socket.write('is anybody there?');
    await pause(20);
  }
  let bytes = 0;
  socket.on('data', (piece: Buffer) => (bytes += piece.length)).resume();
  await once(socket, 'end');
  return bytes;
}

const bytes = 100_000;
/** More than a socket reads ahead. */
const unread = 1_000_000;
test.each([
  ['plain', false],
  ['TLS', true],
])('all that a peer said before it was gone is read, whatever was written to it since (%s)', async (_name, encrypted) => {
  const socket = await connected(encrypted, (peer) => peer.end(Buffer.alloc(bytes), () => peer.destroy()));
  hearOut(socket, 60_000);
  expect(await readLate(socket)).toBe(bytes);
  expect(lossOf(socket)).toBeUndefined();
});

test.each([
  ['plain', false],
  ['TLS', true],
])('who hangs up on what it has not read may have had more to say (%s)', async (_name, encrypted) => {
  const socket = await connected(encrypted, (peer) => {
    // What is unread has its kernel reset the connection when it is closed.
    setTimeout(() => peer.write(Buffer.alloc(bytes), () => peer.destroy()), 50);
  });
  hearOut(socket, 60_000);
  socket.write(Buffer.alloc(unread));
  await pause(100);
  expect(await readLate(socket)).toBe(bytes);
  expect(lossOf(socket)).toMatchObject({ code: 'ECONNRESET' });
});

test('who does not read what a lost peer has said loses it in time', async () => {
  const socket = await connected(false, (peer) => {
    setTimeout(() => peer.write(Buffer.alloc(bytes), () => peer.destroy()), 20);
  });
  hearOut(socket, 100);
  socket.write(Buffer.alloc(unread));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const asking = setInterval(() => socket.write('is anybody there?'), 10);
  cleanups.push(() => clearInterval(asking));
  await closed;
  expect(socket.destroyed).toBe(true);
});
