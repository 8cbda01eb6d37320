import { Duplex } from 'node:stream';
import { constants, createInflate } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SpdyConnection } from './connection.ts';
import { limits } from '../limits.ts';
import { dictionary, dictionaryId } from './dictionary.ts';
import { controlFrame, dataHead, frameParser, frameType, rstStreamFrame, settingsFrame, synReplyFrame, words } from './frames.ts';
import { headerDecoder, headerEncoder } from './headers.ts';
import type { SpdyStream } from './stream.ts';

/** Two ends of a byte stream in memory. */
function pair(): [Duplex, Duplex] {
  const make = (other: () => Duplex): Duplex =>
    new Duplex({
      allowHalfOpen: true,
      read() {},
      write(chunk: Buffer, _encoding, done) {
        setImmediate(() => {
          other().push(chunk);
          done();
        });
      },
      final(done) {
        other().push(null);
        done();
      },
    });
  const a: Duplex = make(() => b);
  const b: Duplex = make(() => a);
  return [a, b];
}

async function text(stream: AsyncIterable<unknown>): Promise<string> {
  let all = '';
  for await (const chunk of stream) all += String(chunk);
  return all;
}

test('the dictionary is SPDY/3’s', () => {
  let a = 1;
  let b = 0;
  for (const octet of dictionary) {
    a = (a + octet) % 65_521;
    b = (b + a) % 65_521;
  }
  expect([dictionary.length, b * 65_536 + a]).toEqual([1423, dictionaryId]);
});

test('header blocks are one zlib stream: an ordinary inflater reads all of them, and we read ours', async () => {
  const encode = headerEncoder();
  const decode = headerDecoder();
  const blocks = Array.from({ length: 300 }, (_, i) => ({
    streamtype: 'data',
    port: String(8000 + i),
    requestid: `${i}`,
    long: 'x'.repeat(i * 3),
  }));
  const inflate = createInflate({ dictionary, finishFlush: constants.Z_SYNC_FLUSH });
  const plain: Buffer[] = [];
  inflate.on('data', (chunk: Buffer) => plain.push(chunk));
  for (const headers of blocks) {
    const packed = encode(headers);
    expect(decode(packed)).toEqual(headers);
    await new Promise<void>((resolve) => void inflate.write(packed, () => resolve()));
  }
  await new Promise<void>((resolve) => inflate.flush(() => resolve()));
  const whole = Buffer.concat(plain).toString('latin1');
  expect(whole).toContain('8000');
  expect(whole).toContain('8299');
});

test('streams from both sides, half-close, headers', async () => {
  const [a, b] = pair();
  const accepted: SpdyStream[] = [];
  const server = new SpdyConnection(b, {
    role: 'server',
    onStream: (stream) => {
      accepted.push(stream);
      stream.pipe(stream);
    },
  });
  const client = new SpdyConnection(a, {
    role: 'client',
    onStream: (stream) => void stream.resume().end(`for ${stream.headers.name}`),
  });
  const up = client.createStream({ StreamType: 'data', many: ['a', 'b'] });
  up.write('one ');
  up.end('two');
  const down = server.createStream({ name: 'push' });
  expect(await Promise.all([text(up), text(down)])).toEqual(['one two', 'for push']);
  expect(accepted[0]?.headers).toEqual({ streamtype: 'data', many: 'a\u0000b' });
  await client.ping();
  down.end();
  await expect.poll(() => [client.streams, server.streams]).toEqual([0, 0]);
  client.close();
  await expect.poll(() => server.closed).toBe(true);
  expect(() => client.createStream({})).toThrow('closed');
});

test('windows hold a sender back until the reader reads', async () => {
  const [a, b] = pair();
  let incoming: SpdyStream | undefined;
  new SpdyConnection(b, { role: 'server', onStream: (stream) => (incoming = stream) });
  const client = new SpdyConnection(a, { role: 'client' });
  const stream = client.createStream({});
  await client.ping();
  let flushed = 0;
  const total = 4 * 2 ** 20;
  for (let at = 0; at < total; at += 2 ** 16) stream.write(Buffer.alloc(2 ** 16), () => (flushed += 2 ** 16));
  stream.end();
  await client.ping();
  await client.ping();
  expect(flushed).toBeLessThanOrEqual(2 ** 19);
  let received = 0;
  for await (const chunk of incoming ?? []) received += (chunk as Buffer).length;
  expect([received, flushed]).toEqual([total, total]);
});

test('a reset ends reading but keeps what had arrived; a refused stream ends at once', async () => {
  const [a, b] = pair();
  const server = new SpdyConnection(b, {
    role: 'server',
    onStream: (stream) => {
      if (stream.headers.refuse) throw new Error('no');
      stream.write('last words', () => stream.destroy());
    },
  });
  const client = new SpdyConnection(a, { role: 'client' });
  expect(await text(client.createStream({}))).toBe('last words');
  expect(await text(client.createStream({ refuse: 'yes' }))).toBe('');
  await expect.poll(() => [client.streams, server.streams]).toEqual([0, 0]);
});

test('the end of the connection ends its streams', async () => {
  const [a, b] = pair();
  const server = new SpdyConnection(b, { role: 'server', onStream: (stream) => void stream.write('x') });
  const client = new SpdyConnection(a, { role: 'client' });
  const stream = client.createStream({});
  const read = text(stream);
  await client.ping();
  server.destroy();
  a.destroy();
  expect(await read).toBe('x');
  expect(client.closed).toBe(true);
});

test.each([
  ['another version', Buffer.from([0x80, 2, 0, 1, 0, 0, 0, 0])],
  ['a huge control frame', Buffer.from([0x80, 3, 0, 1, 0, 0xff, 0xff, 0xff])],
  ['a truncated SYN_STREAM', controlFrame(frameType.synStream, 0, words(1))],
  ['headers that are no zlib stream', controlFrame(frameType.synStream, 0, Buffer.concat([words(1, 0), Buffer.alloc(40)]))],
  ['a truncated PING', controlFrame(frameType.ping, 0, Buffer.alloc(2))],
  ['more settings than there are', controlFrame(frameType.settings, 0, words(1000, 7, 1))],
])('%s closes the connection with an error', async (_name, bytes) => {
  const [a, b] = pair();
  const server = new SpdyConnection(b, { role: 'server' });
  const closed = new Promise<Error | undefined>((resolve) => server.once('close', resolve));
  a.on('error', () => {});
  a.write(bytes);
  expect((await closed)?.message).toMatch(/^spdy: /);
});

test('frames for streams that do not exist are ignored', async () => {
  const [a, b] = pair();
  const server = new SpdyConnection(b, { role: 'server', onStream: () => {} });
  const encode = headerEncoder();
  a.write(
    Buffer.concat([
      rstStreamFrame(9, 1),
      synReplyFrame(7, true, encode({})),
      controlFrame(frameType.windowUpdate, 0, words(5, 1)),
      settingsFrame(1),
    ]),
  );
  a.write(Buffer.from([0, 0, 0, 3, 1, 0, 0, 2, 0x41, 0x42]));
  a.write(controlFrame(99, 0, Buffer.from('unknown')));
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  expect(server.closed).toBe(false);
});

test('arbitrary bytes in arbitrary pieces end in a SpdyError or in nothing', async () => {
  const kinds = fc.oneof(
    fc.uint8Array({ maxLength: 64 }),
    fc
      .tuple(fc.integer({ min: 0, max: 10 }), fc.nat(255), fc.uint8Array({ maxLength: 40 }))
      .map(([type, flags, payload]) => controlFrame(type, flags, Buffer.from(payload))),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(kinds, { maxLength: 8 }), async (pieces) => {
      // What arrives is taken at once only while the turn of the event loop is young.
      await new Promise((resolve) => setImmediate(resolve));
      const [a] = pair();
      const connection = new SpdyConnection(a, { role: 'server', onStream: () => {} });
      let failure: Error | undefined;
      connection.on('close', (error) => (failure = error));
      for (const piece of pieces) a.emit('data', Buffer.from(piece));
      if (failure) expect(failure.name).toBe('SpdyError');
      connection.destroy();
    }),
  );
});

test('data frames are handed on in pieces, the end with the last', () => {
  const seen: [number, string, boolean][] = [];
  const parse = frameParser({ control: () => {}, data: (id, piece, fin) => void seen.push([id, piece.toString(), fin]) });
  const frame = Buffer.from([0, 0, 0, 3, 1, 0, 0, 4, 0x41, 0x42, 0x43, 0x44, 0, 0, 0, 5, 1, 0, 0, 0]);
  for (const octet of frame) parse(Buffer.from([octet]));
  expect(seen).toEqual([
    [3, 'A', false],
    [3, 'B', false],
    [3, 'C', false],
    [3, 'D', true],
    [5, '', true],
  ]);
});

test('a stream that ends as it fills its reader’s buffer does not hold back the others of a peer without flow control', async () => {
  const [ours, theirs] = pair();
  theirs.resume();
  const client = new SpdyConnection(ours, { role: 'client' });
  const [output, status] = [client.createStream({ streamtype: 'stdout' }), client.createStream({ streamtype: 'error' })];
  const length = limits.spdyStreamBufferBytes;
  // The end comes in the same piece as the last octets.
  theirs.write(Buffer.concat([dataHead(output.id, false, length), Buffer.alloc(length, 'x'), dataHead(output.id, true, 0)]));
  theirs.write(Buffer.concat([dataHead(status.id, false, 4), Buffer.from('done'), dataHead(status.id, true, 0)]));
  await new Promise((resolve) => setTimeout(resolve, 20));
  // Read late, and as a pipe reads, which leaves the writing side of the stream open.
  let bytes = 0;
  output.on('data', (chunk: Buffer) => (bytes += chunk.length));
  expect(await text(status)).toBe('done');
  expect(bytes).toBe(length);
});
