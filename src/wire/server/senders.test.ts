// Who opens many connections has no more turns than others, once it is known who that is.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { limits } from '../limits.ts';
import { serve } from './serve.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test('requests take turns by who sends them, and not by their connections', async () => {
  const begun: string[] = [];
  const server = await serve({
    onRequest(request, response) {
      const name = request.path.slice(1);
      begun.push(name);
      response.send(200, {}, 'ok');
      request.servedFor(name);
    },
  });
  cleanups.push(() => server.close({ graceMs: 0 }));
  const open = (): Socket => {
    const socket = connect(server.port, '127.0.0.1').on('error', () => {});
    cleanups.push(() => socket.destroy());
    return socket;
  };
  const ask = async (socket: Socket, name: string): Promise<unknown> => {
    socket.write(`GET /${name} HTTP/1.1\r\nHost: x\r\n\r\n`);
    return once(socket, 'data');
  };
  const busy = Array.from({ length: limits.requestsPerTurn * 5 }, open);
  const other = open();
  await Promise.all([...busy.map((socket) => ask(socket, 'busy')), ask(other, 'other')]);
  begun.length = 0;
  await Promise.all([...busy.map((socket) => ask(socket, 'busy')), ask(other, 'other')]);
  expect(begun).toHaveLength(busy.length + 1);
  expect(begun.indexOf('other')).toBeLessThan(limits.requestsPerTurn * 2);
});
