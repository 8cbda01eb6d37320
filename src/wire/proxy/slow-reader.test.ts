// What was said before a good-bye reaches a peer that reads only much later.
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import { limits } from '../limits.ts';
import { SpdyConnection } from '../spdy/connection.ts';
import { WebSocketConnection } from '../websocket/connection.ts';
import { webSocketTunnel } from '../websocket/tunnel.ts';

afterEach(() => vi.useRealTimers());

/** A connection to a peer that reads nothing before `read` is called. */
function resting() {
  let taken = 0;
  let wake: (() => void) | undefined;
  let rests = true;
  const stream = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      taken += chunk.length;
      if (rests) wake = done;
      else done();
    },
  });
  const read = (): void => {
    rests = false;
    wake?.();
  };
  return { stream, read, taken: () => taken };
}

const bytes = 10_000;
type Role = 'client' | 'server';
const speakers: [string, (stream: Duplex, role: Role) => void][] = [
  [
    'WebSocket',
    (stream, role) => {
      const connection = new WebSocketConnection(stream, { role, protocol: '' });
      connection.send(Buffer.alloc(bytes));
      connection.close();
    },
  ],
  [
    'tunnel',
    (stream, role) => {
      const tunnel = webSocketTunnel(new WebSocketConnection(stream, { role, protocol: '' }));
      tunnel.end(Buffer.alloc(bytes));
      tunnel.resume();
    },
  ],
  [
    'SPDY',
    (stream, role) => {
      const connection = new SpdyConnection(stream, { role });
      stream.on('error', () => {});
      const output = connection.createStream({});
      output.acknowledge();
      output.end(Buffer.alloc(bytes));
      setImmediate(() => connection.close());
    },
  ],
];
test.each(speakers)('%s: a reader that rests for an hour reads on to the end', async (_name, speak) => {
  const { stream, read, taken } = resting();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  speak(stream, 'server');
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  vi.advanceTimersByTime(3_600_000);
  expect(stream.destroyed).toBe(false);
  read();
  await expect.poll(taken).toBeGreaterThan(bytes);
  vi.advanceTimersByTime(limits.unreadEndTimeoutMs);
  await expect.poll(() => stream.destroyed).toBe(true);
});

// What has gone out waits in our kernel, which we cannot ask.
test.each(speakers)(
  '%s: a client that has been sent everything is waited for, a server that never says good-bye is not',
  async (_name, speak) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    for (const role of ['server', 'client'] as const) {
      const { stream, read } = resting();
      read();
      speak(stream, role);
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      expect(stream.destroyed).toBe(false);
      vi.advanceTimersByTime(limits.stallTimeoutMs);
      expect(stream.destroyed).toBe(role === 'client');
      vi.advanceTimersByTime(limits.unreadEndTimeoutMs);
      expect(stream.destroyed).toBe(true);
    }
  },
);

test('a tunnel gives all that came before its client hung up, whatever is written to it since', async () => {
  const { stream, read } = resting();
  read();
  const near = new WebSocketConnection(stream, { role: 'server', protocol: '' });
  const tunnel = webSocketTunnel(near);
  tunnel.on('error', () => {});
  const sent = 300_000;
  near.emit('part', { data: Buffer.alloc(sent), binary: true, begins: true, ends: true });
  stream.push(null);
  await once(near, 'close');
  tunnel.write('an acknowledgement');
  await new Promise((resolve) => setImmediate(resolve));
  let count = 0;
  for await (const piece of tunnel) count += (piece as Buffer).length;
  expect(count).toBe(sent);
});
