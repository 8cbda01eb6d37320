import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createWireClient } from '../client/client.ts';
import type { WireUpgrade } from '../http/types.ts';
import { acceptRemoteCommand } from '../remotecommand/server.ts';
import type { WireServer } from '../server/options.ts';
import { serve } from '../server/serve.ts';
import { translateRemoteCommand } from './upgrade.ts';

const servers: WireServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close({ graceMs: 0 });
});
async function start(onUpgrade: (upgrade: WireUpgrade) => void | Promise<void>): Promise<WireServer> {
  const server = await serve({ onRequest: (_request, response) => response.send(404, {}, 'no'), onUpgrade });
  servers.push(server);
  return server;
}

/** A client that writes 300,000 bytes and hangs up, and a command that reads them, or does not, only then. */
async function hungUp(stdin: boolean) {
  const options = { stdin, stdout: true, stderr: false, tty: false };
  let command: Awaited<ReturnType<typeof acceptRemoteCommand>>;
  const backend = await start(async (upgrade) => {
    command = await acceptRemoteCommand(upgrade, options);
  });
  const client = createWireClient({ baseUrl: `http://127.0.0.1:${backend.port}` });
  const front = await start((upgrade) => translateRemoteCommand(upgrade, { client, path: '/exec', options }));
  const socket = new WebSocket(`ws://127.0.0.1:${front.port}`, ['v4.channel.k8s.io']);
  await once(socket, 'open');
  if (stdin) socket.send(Buffer.alloc(300_001));
  socket.close();
  await once(socket, 'close');
  await expect.poll(() => front.connections).toBe(0);
  if (!command) throw new Error('the command was never asked for');
  return { backend, client, command };
}

test('what a client wrote right before it hung up is read by a command that takes its time', async () => {
  const { backend, client, command } = await hungUp(true);
  let count = 0;
  for await (const data of command.stdin as Readable) count += (data as Buffer).length;
  expect([count, backend.connections]).toEqual([300_000, 1]);
  await command.finish({ exitCode: 0 });
  await expect.poll(() => backend.connections).toBe(0);
  client.close();
});

test('the connection of a command without input goes with its client', async () => {
  const { backend, client } = await hungUp(false);
  await expect.poll(() => backend.connections).toBe(0);
  client.close();
});
