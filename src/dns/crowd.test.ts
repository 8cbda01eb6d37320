// Clients over TCP that open much and ask little, or ask much and read nothing.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { frame } from './forward.ts';
import { tcpConnectionsMax } from './limits.ts';
import { serveDns } from './server.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A server that answers every question with the same bytes. */
async function start(answer: Buffer): Promise<number> {
  const tcp = createServer().listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  const server = serveDns({ udp: createSocket('udp4'), tcp }, () => Promise.resolve(answer));
  closers.push(() => server.close());
  return (tcp.address() as AddressInfo).port;
}
async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  closers.push(() => socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

it('closes the oldest connection when there are too many, and answers the newest', async () => {
  const port = await start(Buffer.from('answer'));
  const oldest = await open(port);
  let ended = false;
  oldest.on('end', () => (ended = true)).resume();
  for (let i = 0; i < tcpConnectionsMax; i++) await open(port);
  await expect.poll(() => ended).toBe(true);
  const newest = await open(port);
  newest.write(frame(Buffer.from('question')));
  const [answer] = (await once(newest, 'data')) as [Buffer];
  expect(answer.subarray(2).toString()).toBe('answer');
});

it('closes the connection of a client that asks on and reads no answer', async () => {
  const port = await start(Buffer.alloc(60_000));
  const socket = await open(port);
  socket.pause();
  let closed = false;
  socket.on('close', () => (closed = true)).on('error', () => (closed = true));
  const question = frame(Buffer.from('question'));
  await expect
    .poll(
      () => {
        if (!closed) socket.write(question);
        return closed;
      },
      { interval: 1 },
    )
    .toBe(true);
});
