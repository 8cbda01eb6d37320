import { connect, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket as OtherWebSocket } from 'ws';
import {
  acceptPortForward,
  createWireClient,
  dialPortForward,
  type PortForwardOptions,
  pipeDuplex,
  serve,
  type WireClient,
  type WireServer,
  type WireUpgrade,
} from '../index.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
async function start(
  onUpgrade: (upgrade: WireUpgrade) => void | Promise<void>,
): Promise<{ server: WireServer; client: WireClient; url: string }> {
  const server = await serve({ onRequest: (_request, response) => response.send(404, {}, 'no'), onUpgrade });
  const url = `http://127.0.0.1:${server.port}`;
  const client = createWireClient({ baseUrl: url });
  cleanups.push(
    () => server.close({ graceMs: 0 }),
    () => client.close(),
  );
  return { server, client, url };
}
async function text(stream: AsyncIterable<unknown> | undefined): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream ?? []) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
/** A TCP server that answers each byte string with its upper case, after the client's end. */
async function upper(): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, async (socket) => {
    const all: Buffer[] = [];
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) all.push(chunk as Buffer);
    socket.end(Buffer.concat(all).toString().toUpperCase());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => server.close());
  return (server.address() as { port: number }).port;
}
const forward: PortForwardOptions['onConnection'] = ({ port, data, error }) => {
  const socket: Socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.once('error', (cause: Error) => {
    error.end(`failed to connect: ${cause.message}`);
    data.end();
  });
  socket.once('connect', () => void pipeDuplex(data as Duplex, socket).then(() => error.end()));
};

describe('port-forward', () => {
  test.each(['spdy', 'websocket'] as const)('%s: several connections at once, half-close, failures', async (transport) => {
    const port = await upper();
    const { client } = await start((upgrade) => void acceptPortForward(upgrade, { onConnection: forward }));
    const session = await dialPortForward(client, { path: '/portforward', transport });
    const connections = ['a', 'b'.repeat(300_000), 'c'].map((payload) => {
      const { data, error } = session.connect(port);
      data.end(payload);
      return Promise.all([text(data), error]);
    });
    expect(await Promise.all(connections)).toEqual([
      ['A', ''],
      ['B'.repeat(300_000), ''],
      ['C', ''],
    ]);
    const failing = session.connect(1);
    expect(await failing.error).toMatch(/^failed to connect: /);
    session.close();
    await session.closed;
    expect(() => session.connect(port)).toThrow();
  });

  test('websocket channels with ports from the query', async () => {
    const port = await upper();
    const { url } = await start((upgrade) => void acceptPortForward(upgrade, { onConnection: forward, ports: [port] }));
    const socket = new OtherWebSocket(url.replace('http', 'ws'), ['v4.channel.k8s.io']);
    const messages: Buffer[] = [];
    socket.on('message', (data) => messages.push(data as Buffer));
    await expect.poll(() => messages.length).toBe(2);
    expect(messages.map((message) => [message[0], message.readUInt16LE(1)])).toEqual([
      [0, port],
      [1, port],
    ]);
    socket.terminate();
  });
});
