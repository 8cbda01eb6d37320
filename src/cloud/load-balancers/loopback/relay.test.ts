import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '#host';
import { relay } from './relay.ts';

const host = '127.0.0.1';
const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

async function listen(onSocket: (socket: Socket) => void): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => onSocket(socket.on('error', () => {})));
  cleanups.push(() => server.close());
  await once(server.listen(0, host), 'listening');
  return (server.address() as AddressInfo).port;
}

/** A client of a backend through a balancer. */
async function through(onSocket: (socket: Socket) => void): Promise<Socket> {
  const backend = await listen(onSocket);
  const front = await listen((socket) => {
    void relay(socket, connect({ port: backend, host, allowHalfOpen: true }), systemClock());
  });
  const client = connect({ port: front, host, allowHalfOpen: true });
  await once(client, 'connect');
  return client;
}

test('what is cut off is not taken for all', async () => {
  const client = await through((socket) => {
    socket.write('half');
    socket.once('data', () => socket.resetAndDestroy());
  });
  let broken: NodeJS.ErrnoException | undefined;
  client.on('error', (error) => (broken = error));
  client.once('data', () => client.write('more'));
  await new Promise((resolve) => client.once('close', resolve));
  expect(broken?.code).toBe('ECONNRESET');
});
