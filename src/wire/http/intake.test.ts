// Peers of upgraded connections that mean harm: they make us answer and do not read, send more than anybody takes, and never end.
import { once } from 'node:events';
import { Duplex, type Readable } from 'node:stream';
import { constants, deflateSync } from 'node:zlib';
import { afterEach, expect, test, vi } from 'vitest';
import { limits } from '../limits.ts';
import { webSocketChannels } from '../remotecommand/channels.ts';
import { channel, rulesOf } from '../remotecommand/protocol.ts';
import { SpdyConnection } from '../spdy/connection.ts';
import { dictionary } from '../spdy/dictionary.ts';
import { controlFrame, dataHead, frameType, pingFrame, settingsFrame, synStreamFrame } from '../spdy/frames.ts';
import { headerEncoder } from '../spdy/headers.ts';
import type { SpdyStream } from '../spdy/stream.ts';
import { WebSocketConnection } from '../websocket/connection.ts';
import { encodeFrame, opcode } from '../websocket/frames.ts';

afterEach(() => void vi.useRealTimers());

/** A connection to a peer that takes nothing of what is written; what it sends is pushed. */
function deaf() {
  let bytes = 0;
  let release: (() => void) | undefined;
  let reads = false;
  const stream = new Duplex({
    allowHalfOpen: true,
    read() {},
    write(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (reads) done();
      else release = done;
    },
  });
  stream.on('error', () => {});
  const turns = async (count: number): Promise<void> => {
    for (; count > 0; count--) await new Promise((done) => setImmediate(done));
  };
  return {
    stream,
    /** Sends until `enough` bytes or until nothing is taken any more. Answers how much was. */
    async flood(piece: Buffer, enough: number): Promise<number> {
      for (let sent = 0; ; sent += piece.length) {
        if (sent >= enough) return sent;
        stream.push(Buffer.from(piece));
        for (let rounds = 0; stream.readableLength > 0; rounds++) {
          if (rounds > 100) return sent;
          await turns(1);
        }
      }
    },
    waiting: () => stream.writableLength + bytes,
    /** From now on it reads. */
    read() {
      reads = true;
      release?.();
    },
  };
}

const masked = (op: number, payload: string | Buffer, fin = true): Buffer =>
  Buffer.concat(encodeFrame(op, Buffer.from(payload), { masked: true, fin }));
const much = 8 * 1024 * 1024;
const many = (frame: Buffer, count: number): Buffer => Buffer.concat(Array.from({ length: count }, () => frame));

test('who does not read our answers to WebSocket pings is not listened to', async () => {
  const { stream, flood, waiting } = deaf();
  new WebSocketConnection(stream, { role: 'server', protocol: '' });
  expect(await flood(many(masked(opcode.ping, ''), 1_000), much)).toBeLessThan(much / 4);
  expect(waiting()).toBeLessThan(2 * limits.unreadAnswerBytesMax);
});

test('who does not read our answers to SPDY pings, refused streams and windows is not listened to', async () => {
  const encode = headerEncoder();
  const refused = Array.from({ length: 20_000 }, (_, at) => synStreamFrame(at * 2 + 1, false, encode({})));
  for (const frames of [many(pingFrame(1), 50_000), Buffer.concat(refused)]) {
    const { stream, flood, waiting } = deaf();
    new SpdyConnection(stream, { role: 'server' });
    expect(await flood(frames, frames.length)).toBe(0);
    // What one more piece of input, whose size is Node's choice, is answered with comes on top.
    expect(waiting()).toBeLessThan(3 * limits.unreadAnswerBytesMax);
  }
});

test('a message without an end, and one of endless empty fragments, are not kept', async () => {
  const { stream, flood } = deaf();
  const connection = new WebSocketConnection(stream, { role: 'server', protocol: '' });
  let bytes = 0;
  connection.on('part', ({ data }) => (bytes += data.length));
  stream.push(masked(opcode.binary, 'x', false));
  expect(await flood(many(masked(opcode.continuation, '', false), 10_000), 1_000_000)).toBeGreaterThanOrEqual(1_000_000);
  // The head of a frame of 2^50 octets, and what there is of it.
  stream.push(Buffer.from([0x00, 0xff, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
  expect(await flood(Buffer.alloc(65_536), much)).toBe(much);
  expect(bytes).toBe(much + 1);
  expect(connection.closed).toBe(false);
});

test('a reader that is behind holds its connection back, whatever its other channels read', async () => {
  const { stream, flood } = deaf();
  const connection = new WebSocketConnection(stream, { role: 'server', protocol: 'v5.channel.k8s.io' });
  const channels = webSocketChannels(connection, rulesOf('v5.channel.k8s.io'), false);
  const stdin: Readable = channels.readable(channel.stdin);
  channels.readable(channel.resize).resume();
  const input = masked(opcode.binary, Buffer.concat([Buffer.from([channel.stdin]), Buffer.alloc(1_000)]));
  const size = masked(opcode.binary, Buffer.from(`${String.fromCharCode(channel.resize)}{"Width":1,"Height":1}`));
  expect(await flood(many(Buffer.concat([input, size]), 50), much)).toBeLessThan(much / 4);
  expect(stdin.readableLength).toBeLessThan(much / 8);
  stdin.resume();
  await expect.poll(() => stream.readableLength).toBe(0);
});

test('what waits for the readers of all SPDY streams together is bounded', async () => {
  const { stream, flood, read } = deaf();
  const streams: SpdyStream[] = [];
  new SpdyConnection(stream, { role: 'server', onStream: (one) => streams.push(one) });
  const encode = headerEncoder();
  stream.push(settingsFrame(2 ** 30));
  const ids = Array.from({ length: 200 }, (_, at) => at * 2 + 1);
  for (const id of ids) stream.push(synStreamFrame(id, false, encode({})));
  const data = (id: number): Buffer => Buffer.concat([dataHead(id, false, 32_768), Buffer.alloc(32_768)]);
  let sent = 0;
  for (let at = 0, taken = 1; taken > 0; at++) sent += taken = await flood(data(ids[at % ids.length] as number), 1);
  const unread = streams.reduce((sum, one) => sum + one.readableLength, 0);
  expect(unread).toBeLessThan(limits.spdyUnreadBytesMax + ids.length * limits.spdyStreamBufferBytes * 2);
  expect(sent).toBeGreaterThan(limits.spdyUnreadBytesMax);
  for (const one of streams) one.resume();
  read();
  await expect.poll(() => stream.readableLength).toBe(0);
});

test.each(['ends its side', 'says good-bye'])('a peer that %s and reads nothing loses its connection in time', async (how) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  for (const speak of ['WebSocket', 'SPDY']) {
    const { stream } = deaf();
    if (speak === 'WebSocket') {
      const connection = new WebSocketConnection(stream, { role: 'server', protocol: '' });
      connection.send(Buffer.alloc(10_000));
      stream.push(masked(opcode.close, Buffer.from([0x03, 0xe8])));
      await once(connection, 'close');
    } else {
      const connection = new SpdyConnection(stream, { role: 'server' });
      if (how === 'ends its side') stream.emit('end');
      else connection.close();
    }
    // Where the good-bye is ours, the peer may still be reading.
    const isOurs = speak === 'SPDY' && how === 'says good-bye';
    vi.advanceTimersByTime((isOurs ? limits.unreadEndTimeoutMs : limits.stallTimeoutMs) + 1);
    expect(stream.destroyed).toBe(true);
  }
});

test('thousands of headers in one compressed block are refused', async () => {
  const { stream } = deaf();
  const connection = new SpdyConnection(stream, { role: 'server', onStream: () => {} });
  const closed = new Promise<Error | undefined>((done) => connection.once('close', done));
  const block = deflateSync(Buffer.alloc(2 * limits.spdyHeaderBytesMax), { dictionary, finishFlush: constants.Z_SYNC_FLUSH });
  expect(block.length).toBeLessThan(1_000);
  stream.push(controlFrame(frameType.synStream, 0, Buffer.concat([Buffer.from([0, 0, 0, 1, 0, 0, 0, 0, 0, 0]), block])));
  expect((await closed)?.message).toBe('spdy: malformed header compression');
});
