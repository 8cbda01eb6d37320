import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { pipeDuplex } from './pipe.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listen(allowHalfOpen: boolean, onSocket: (socket: Socket) => void): Promise<number> {
  const server = createServer({ allowHalfOpen }, onSocket);
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

test('all that a backend said before it ended reaches a client that goes on talking and takes its time', async () => {
  const bytes = 4_000_000;
  const backend = await listen(true, (socket) => {
    socket.end(Buffer.alloc(bytes));
    socket.resume();
  });
  const joined: Promise<void>[] = [];
  const front = await listen(true, (socket) => {
    joined.push(pipeDuplex(socket, connect(backend, '127.0.0.1')));
  });
  const client = connect({ port: front, host: '127.0.0.1', allowHalfOpen: true });
  await once(client, 'connect');
  let taken = 0;
  let broken: Error | undefined;
  client.on('error', (error) => (broken = error));
  client.on('data', (piece: Buffer) => {
    taken += piece.length;
    client.write('more');
    client.pause();
    setTimeout(() => client.resume(), 1);
  });
  await once(client, 'end');
  client.end();
  await joined[0];
  expect([taken, broken]).toEqual([bytes, undefined]);
});

test('a connection that is reset resets the other one', async () => {
  const backend = await listen(true, (socket) => void socket.once('data', () => socket.resetAndDestroy()));
  const front = await listen(true, (socket) => void pipeDuplex(socket, connect(backend, '127.0.0.1')));
  const client = connect(front, '127.0.0.1');
  let broken: NodeJS.ErrnoException | undefined;
  client.on('error', (error) => (broken = error));
  client.resume();
  client.write('x');
  await new Promise((resolve) => client.once('close', resolve));
  expect(broken?.code).toBe('ECONNRESET');
});

test('a side that was gone before they were joined ends the other one', async () => {
  const backend = await listen(true, (socket) => void socket.on('error', () => {}).resume());
  const [gone, other] = [connect(backend, '127.0.0.1'), connect(backend, '127.0.0.1')];
  await Promise.all([once(gone, 'connect'), once(other, 'connect')]);
  gone.destroy();
  await once(gone, 'close');
  await pipeDuplex(gone, other);
  expect(other.destroyed).toBe(true);
});
