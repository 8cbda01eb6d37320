// Requests to upgrade that get an ordinary answer: it comes as it is written, to the end of the connection.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { serve, type WireServer } from '../index.ts';
import type { WireUpgrade } from './types.ts';

let server: WireServer | undefined;
let client: Socket | undefined;
afterEach(async () => {
  client?.destroy();
  await server?.close({ graceMs: 0 });
});

async function ask(onUpgrade: (upgrade: WireUpgrade) => void, method = 'GET') {
  server = await serve({ onRequest: (_request, response) => response.send(200, {}, ''), onUpgrade });
  const socket = (client = connect({ host: '127.0.0.1', port: server.port }));
  let text = '';
  socket.on('data', (bytes: Buffer) => (text += String(bytes)));
  socket.write(`${method} / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n`);
  return { seen: () => text, ended: once(socket, 'end') };
}

test('pieces are there before the end', async () => {
  let end = (): void => {};
  const { seen, ended } = await ask((upgrade) => {
    const response = upgrade.response();
    response.head(200, { 'content-type': 'text/plain' });
    response.write('one ');
    end = () => response.end('two');
  });
  await expect.poll(seen).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*connection: close\r\n\r\none $/);
  end();
  await ended;
  expect(seen()).toMatch(/one two$/);
});

test('a client that takes nothing is waited for', async () => {
  const piece = Buffer.alloc(1 << 20);
  let response: ReturnType<WireUpgrade['response']> | undefined;
  let pieces = 0;
  await ask((upgrade) => {
    response = upgrade.response();
    client?.pause();
    while (response.write(piece) && pieces < 1_000) pieces++;
  });
  await expect.poll(() => response?.headSent).toBe(true);
  expect(pieces).toBeLessThan(1_000);
  const drained = response?.drain();
  client?.resume();
  await drained;
});

test('an answer to HEAD has no body', async () => {
  const { seen, ended } = await ask((upgrade) => upgrade.response().send(200, {}, 'body'), 'HEAD');
  await ended;
  expect(seen()).toMatch(/content-length: 4\r\n[^]*\r\n\r\n$/);
});

test('nothing is answered any more on a connection that speaks another protocol', async () => {
  let response: ReturnType<WireUpgrade['response']> | undefined;
  const { seen, ended } = await ask((upgrade) => {
    response = upgrade.response();
    const stream = upgrade.accept({ upgrade: 'x', connection: 'Upgrade' });
    response.end('late');
    stream.end('theirs');
  });
  await ended;
  expect(seen()).toMatch(/^HTTP\/1.1 101 [^]*\r\n\r\ntheirs$/);
  expect([response?.status, response?.destroyed]).toEqual([101, true]);
});
