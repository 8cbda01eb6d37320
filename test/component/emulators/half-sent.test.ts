// Requests to emulators whose bodies never come: they cost their senders their connections, and nobody else anything.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { emulatedAws } from './aws-world.ts';
import { vendorWorld } from './vendor-world.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Connections that send a head, the first byte of a body, and nothing more; and what each has been answered. */
async function halfSent(port: number, count: number): Promise<() => (string | undefined)[]> {
  const sockets: Socket[] = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => {}));
  cleanups.push(() => sockets.forEach((socket) => socket.destroy()));
  const answers = new Map<Socket, string>();
  for (const socket of sockets) socket.once('data', (bytes: Buffer) => answers.set(socket, bytes.toString().slice(9, 12)));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) socket.write('POST /v4/nodebalancers HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{');
  return () => sockets.map((socket) => answers.get(socket));
}

it('are refused by their heads where those say that nobody has sent them', async () => {
  const world = await vendorWorld('linode');
  cleanups.push(() => world.close());
  const answers = await halfSent(world.server.port, 100);
  await expect.poll(answers).toEqual(Array(100).fill('401'));
});

it('are given up after a while, and others are answered meanwhile', async () => {
  const world = await emulatedAws();
  cleanups.push(() => world.close());
  const answers = await halfSent(world.server.port, 600);
  const answer = await fetch(world.server.url, { method: 'POST', body: 'Action=DescribeInstances&Version=2016-11-15' });
  expect(answer.status).toBe(403);
  await expect.poll(answers).toEqual(Array(600).fill('408'));
}, 30_000);
