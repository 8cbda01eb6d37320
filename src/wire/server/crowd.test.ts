// Too many connections: those that are idle make room, those in use do not, and one address cannot take all of it.
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { type Logger, silentLogger } from '#utils';
import type { WireServer } from '../index.ts';
import type { ServerLimits } from './options.ts';
import { serve } from './serve.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const told: string[] = [];
const logger: Logger = { ...silentLogger, warn: (message) => void told.push(message), with: () => logger };

async function start(limits: Partial<ServerLimits>): Promise<WireServer> {
  told.length = 0;
  const server = await serve({
    limits,
    logger,
    onRequest({ path }, response) {
      if (path === '/stay') return response.flushHead();
      response.send(200, {}, 'ok');
    },
    onUpgrade: (upgrade) => {
      const socket = upgrade.accept({ connection: 'Upgrade', upgrade: 'x' });
      if (upgrade.path === '/said-good-bye') socket.end('bye');
    },
  });
  cleanups.push(() => server.close({ graceMs: 0 }));
  return server;
}

/** A connection from an address of this machine; what has come, or that it is closed. */
async function open(server: WireServer, path?: string, localAddress = '127.0.0.1', headers = ''): Promise<() => string> {
  const socket: Socket = connect({ port: server.port, host: '127.0.0.1', localAddress, allowHalfOpen: headers !== '' });
  cleanups.push(() => socket.destroy());
  let seen = '';
  socket.on('error', () => {}).on('data', (chunk: Buffer) => (seen += chunk.toString()));
  socket.on('close', () => (seen += ' closed'));
  await once(socket, 'connect');
  if (path !== undefined) {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);
    await expect.poll(() => seen).not.toBe('');
  } else await expect.poll(() => server.connections).toBeGreaterThan(0);
  return () => seen;
}
const answered = expect.stringMatching(/^HTTP\/1\.1 200 OK[^]*ok$/);

test('the longest idle connection makes room for a new one', async () => {
  const server = await start({ connectionsMax: 3 });
  const used = await open(server, '/');
  const silent = await open(server);
  await open(server, '/stay');
  expect(await open(server, '/').then((text) => text())).toEqual(answered);
  await expect.poll(used).toContain('closed');
  expect(silent()).toBe('');
  expect(await open(server, '/').then((text) => text())).toEqual(answered);
  await expect.poll(silent).toContain('closed');
  expect(server.connections).toBe(3);
  expect(told).toEqual([expect.stringContaining('Too many connections')]);
});

test('connections in use are not closed: a new one is', async () => {
  const server = await start({ connectionsMax: 2 });
  const staying = [await open(server, '/stay'), await open(server, '/stay')];
  const refused = await open(server);
  await expect.poll(refused).toContain('closed');
  for (const text of staying) expect(text()).not.toContain('closed');
});

test('the address with the most connections makes room for others', async () => {
  const server = await start({ connectionsMax: 4 });
  const first = await open(server, '/', '127.0.0.2');
  const crowd = [await open(server), await open(server), await open(server)];
  expect(await open(server, '/', '127.0.0.3').then((text) => text())).toEqual(answered);
  await expect.poll(crowd[0] as () => string).toContain('closed');
  expect(first()).toEqual(answered);
});

test('one address has no more than its share', async () => {
  const server = await start({ connectionsPerAddressMax: 2 });
  await open(server, '/stay');
  await open(server, '/stay');
  await expect.poll(await open(server)).toContain('closed');
  expect(await open(server, '/', '127.0.0.2').then((text) => text())).toEqual(answered);
});

test('a client that was told good-bye, and has not ended its side, makes room; one whose upgraded connection is in use does not', async () => {
  const server = await start({ connectionsMax: 2 });
  const upgrade = 'Connection: Upgrade\r\nUpgrade: x\r\n';
  const used = await open(server, '/', '127.0.0.1', upgrade);
  const told = await open(server, '/said-good-bye', '127.0.0.1', upgrade);
  await expect.poll(told).toContain('bye');
  expect(await open(server, '/').then((text) => text())).toEqual(answered);
  expect([server.connections, used()]).toEqual([2, expect.not.stringContaining('closed')]);
});
