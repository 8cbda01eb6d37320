// A command between a client and a backend that speaks SPDY: whole, or a failure.
import type { Duplex } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { createWireClient } from '../client/client.ts';
import type { WireClient } from '../client/options.ts';
import type { WireUpgrade } from '../http/types.ts';
import { dialRemoteCommand } from '../remotecommand/client.ts';
import { acceptRemoteCommand } from '../remotecommand/server.ts';
import type { WireServer } from '../server/options.ts';
import { serve } from '../server/serve.ts';
import { translateRemoteCommand } from './upgrade.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
async function start(
  onUpgrade: (upgrade: WireUpgrade) => void | Promise<void>,
): Promise<{ server: WireServer; client: WireClient }> {
  const server = await serve({ onRequest: (_request, response) => response.send(404, {}, 'no'), onUpgrade });
  const client = createWireClient({ baseUrl: `http://127.0.0.1:${server.port}` });
  cleanups.push(
    () => server.close({ graceMs: 0 }),
    () => client.close(),
  );
  return { server, client };
}
const options = { stdin: true, stdout: true, stderr: false, tty: false };

/** A front that translates what is asked of it for `onUpgrade`. */
async function between(onUpgrade: (upgrade: WireUpgrade) => Promise<void>) {
  const backend = await start(onUpgrade);
  const front = await start((upgrade) => translateRemoteCommand(upgrade, { client: backend.client, path: '/exec', options }));
  return { client: front.client, connections: () => [front.server.connections, backend.server.connections] };
}
async function text(stream: AsyncIterable<unknown> | undefined): Promise<string> {
  let all = '';
  for await (const chunk of stream ?? []) all += String(chunk);
  return all;
}

test.each(['spdy', 'websocket'] as const)('a client that speaks %s has its input, output and outcome', async (transport) => {
  const { client, connections } = await between(async (upgrade) => {
    const command = await acceptRemoteCommand(upgrade, options);
    command?.stdout?.write(await text(command.stdin));
    await command?.finish({ exitCode: 7 });
  });
  const session = await dialRemoteCommand(client, { path: '/', ...options, transport });
  session.stdin?.end('x'.repeat(500_000));
  const [out, outcome] = await Promise.all([text(session.stdout), session.outcome()]);
  expect([out.length, outcome]).toMatchObject([500_000, { exitCode: 7 }]);
  await session.closed;
  await expect.poll(connections).toEqual([0, 0]);
});

test.each([
  ['spdy', 'v4.channel.k8s.io'],
  ['spdy', 'v3.channel.k8s.io'],
  ['websocket', 'v5.channel.k8s.io'],
  ['websocket', 'channel.k8s.io'],
] as const)('a backend that is lost in the middle of a command is no success (%s %s)', async (transport, protocol) => {
  const { client } = await between(async (upgrade) => {
    const command = await acceptRemoteCommand(upgrade, options);
    command?.stdout?.write('half', () => command.close());
  });
  const session = await dialRemoteCommand(client, { path: '/', ...options, transport, protocols: [protocol] });
  const [out, told] = await Promise.all([text(session.stdout), session.told()]);
  expect([out, told]).toEqual(['half', expect.stringContaining('the connection was lost before the command had ended')]);
});

test('what a backend told is read, also when it hangs up on input that it has not read', async () => {
  const { client } = await between(async (upgrade) => {
    let socket: Duplex | undefined;
    const { accept } = upgrade;
    upgrade.accept = (headers) => (socket = accept.call(upgrade, headers));
    const command = await acceptRemoteCommand(upgrade, options);
    command?.stdout?.write('enough');
    await expect.poll(() => command?.stdin?.readableLength).toBeGreaterThan(0);
    // As a program in Go does: its kernel resets the connection.
    socket?.on('finish', () => socket?.destroy());
    await command?.finish({ exitCode: 0 });
  });
  const session = await dialRemoteCommand(client, { path: '/', ...options, transport: 'spdy' });
  session.stdin?.write(Buffer.alloc(30_000_000));
  expect(await Promise.all([text(session.stdout), session.outcome()])).toEqual(['enough', { exitCode: 0 }]);
});
