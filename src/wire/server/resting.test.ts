// A client whose reader rests, and that pings meanwhile: whoever closes a socket before all of it is read has the kernel answer the ping with a reset.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { createWireClient } from '../client/client.ts';
import type { WireUpgrade } from '../http/types.ts';
import { limits } from '../limits.ts';
import { proxyUpgrade } from '../proxy/upgrade.ts';
import { acceptWebSocket } from '../websocket/handshake.ts';
import { serve } from './serve.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

// More than the kernel of a client takes that reads nothing, and less than those of both sides.
const bytes = 3_000_000;
const answer = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';

async function relayed(upgrade: WireUpgrade): Promise<void> {
  const backend = createServer((socket) =>
    socket.once('data', () => socket.write(answer, () => socket.end(Buffer.alloc(bytes)))),
  );
  await once(backend.listen(0, '127.0.0.1'), 'listening');
  cleanups.push(() => backend.close());
  const client = createWireClient({ baseUrl: `http://127.0.0.1:${(backend.address() as AddressInfo).port}` });
  await proxyUpgrade(upgrade, { client, path: '/' });
}
function spoken(upgrade: WireUpgrade): void {
  const connection = acceptWebSocket(upgrade, () => '');
  connection?.send(Buffer.alloc(bytes));
  connection?.close();
}

test.each([
  ['a relay', relayed],
  ['a server', spoken],
])('%s loses nothing of what a client reads late that goes on talking', async (_name, onUpgrade) => {
  const finished = vi.fn();
  const server = await serve({
    onRequest: (_request, response) => response.send(404, {}, 'no'),
    onUpgrade(upgrade) {
      const { accept } = upgrade;
      upgrade.accept = (headers) => accept.call(upgrade, headers).once('finish', finished);
      return onUpgrade(upgrade);
    },
  });
  cleanups.push(() => server.close({ graceMs: 0 }));
  const client = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
  client.on('error', () => {}).pause();
  await once(client, 'connect');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  client.write(
    'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  // A relay says all of it first; a WebSocket waits for the client's own good-bye.
  const isRelay = onUpgrade === relayed;
  for (let i = 0; i < 5_000 && !(isRelay ? finished.mock.calls.length > 0 : i > 1_000); i++) await turn();
  vi.advanceTimersByTime(limits.stallTimeoutMs * 2);
  for (let i = 0; i < 100; i++) await turn();
  // A ping of WebSocket.
  client.write(Buffer.from([0x89, 0x80, 0, 0, 0, 0]));
  for (let i = 0; i < 100; i++) await turn();
  vi.useRealTimers();
  let taken = 0;
  client.on('data', (piece: Buffer) => (taken += piece.length)).resume();
  await expect.poll(() => taken).toBeGreaterThan(bytes);
});
