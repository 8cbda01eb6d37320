import { Duplex } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { WireUpgrade } from '../http/types.ts';
import { WebSocketConnection } from './connection.ts';
import { encodeFrame, frameParser, opcode } from './frames.ts';
import { acceptWebSocket } from './handshake.ts';

/** What arrives is taken at once only while the turn of the event loop is young. */
const newTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A transport that keeps what is written and can be fed. */
function transport(): { stream: Duplex; written: Buffer[] } {
  const written: Buffer[] = [];
  const stream = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      written.push(chunk);
      done();
    },
  });
  return { stream, written };
}

const masked = (op: number, payload: string | Buffer, fin = true): Buffer =>
  Buffer.concat(encodeFrame(op, Buffer.from(payload), { masked: true, fin }));

function server() {
  const { stream, written } = transport();
  const connection = new WebSocketConnection(stream, { role: 'server', protocol: '' });
  const messages: string[] = [];
  const closes: number[] = [];
  let text = '';
  connection.on('part', ({ data, binary, begins, ends }) => {
    text = begins ? `${binary ? 'b' : 't'}:${data}` : text + data.toString();
    if (ends) messages.push(text);
  });
  connection.on('close', (code) => closes.push(code));
  return {
    stream,
    written,
    messages,
    closes,
    feed: async (bytes: Buffer) => {
      await newTurn();
      stream.emit('data', bytes);
    },
  };
}

const sizes = [0, 1, 125, 126, 65_535, 65_536, 200_000];
test.each(sizes)('a frame of %i octets survives any split, whole or in pieces', (size) => {
  for (const isMasked of [true, false]) {
    const payload = Buffer.alloc(size, 'abc');
    const bytes = Buffer.concat(encodeFrame(opcode.binary, payload, { masked: isMasked }));
    for (const cut of [1, 2, 3, 9, 13, 14, 15, bytes.length - 1].filter((at) => at > 0 && at < bytes.length)) {
      for (const wholeBytesMax of [10 ** 6, 100]) {
        const frames: { op: number; fin: boolean; payload: Buffer }[] = [];
        const parse = frameParser({ expectMasked: isMasked, wholeBytesMax }, (frame) =>
          frames.push({ ...frame, payload: Buffer.from(frame.payload) }),
        );
        parse(Buffer.from(bytes.subarray(0, cut)));
        parse(Buffer.from(bytes.subarray(cut)));
        if (wholeBytesMax >= size) expect(frames).toHaveLength(1);
        expect(frames.map(({ op }) => op)).toEqual([opcode.binary, ...frames.slice(1).map(() => opcode.continuation)]);
        expect(frames.map(({ fin }) => fin)).toEqual([...frames.slice(1).map(() => false), true]);
        expect(Buffer.concat(frames.map(({ payload: piece }) => piece)).equals(payload)).toBe(true);
      }
    }
  }
});

test('messages, fragments with a ping between them, and the close handshake', async () => {
  const { feed, messages, closes, written } = server();
  await feed(
    Buffer.concat([
      masked(opcode.text, 'one'),
      masked(opcode.binary, 'tw', false),
      masked(opcode.ping, 'hi'),
      masked(opcode.continuation, 'o'),
    ]),
  );
  expect(messages).toEqual(['t:one', 'b:two']);
  expect(Buffer.concat(written)).toEqual(Buffer.from([0x8a, 2, 0x68, 0x69]));
  written.length = 0;
  await feed(masked(opcode.close, Buffer.from([0x03, 0xe9])));
  expect(closes).toEqual([1001]);
  expect(Buffer.concat(written)).toEqual(Buffer.from([0x88, 2, 0x03, 0xe9]));
});

test.each([
  ['an unmasked frame', Buffer.concat(encodeFrame(opcode.text, Buffer.from('x'), { masked: false })), 1002],
  ['reserved bits', Buffer.from([0xc1, 0x80, 0, 0, 0, 0]), 1002],
  ['an unknown opcode', Buffer.from([0x83, 0x80, 0, 0, 0, 0]), 1002],
  ['a fragmented ping', masked(opcode.ping, '', false), 1002],
  ['a long ping', Buffer.from([0x89, 0xfe, 0, 126]), 1002],
  ['a continuation of nothing', masked(opcode.continuation, 'x'), 1002],
  ['a new message inside a fragmented one', Buffer.concat([masked(opcode.text, 'a', false), masked(opcode.text, 'b')]), 1002],
  ['a frame of more octets than there are numbers', Buffer.from([0x82, 0xff, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]), 1009],
])('%s closes the connection', async (_name, bytes, code) => {
  const { feed, closes, written, messages } = server();
  await feed(bytes);
  await feed(masked(opcode.text, 'too late'));
  expect(closes).toEqual([code]);
  expect(messages).toEqual([]);
  expect(Buffer.concat(written).readUInt16BE(2)).toBe(code);
});

test('arbitrary bytes never throw', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 }), async (pieces) => {
      const { feed, closes } = server();
      for (const piece of pieces) await feed(Buffer.from(piece));
      expect(closes.length).toBeLessThanOrEqual(1);
    }),
  );
});

const goodHeaders = {
  connection: 'keep-alive, Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol': 'v9, v5.channel.k8s.io',
};
const choose = (offered: readonly string[]): string | undefined => offered.find((name) => name.startsWith('v5'));

function handshake(headers: Record<string, string>, method = 'GET') {
  const seen: unknown[] = [];
  const upgrade = {
    method,
    headers,
    accept: (answer: unknown) => {
      seen.push(answer);
      return transport().stream;
    },
    reject: (status: number) => void seen.push(status),
  } as unknown as WireUpgrade;
  const connection = acceptWebSocket(upgrade, choose);
  return { seen, protocol: connection?.protocol };
}

test('the handshake of RFC 6455’s example', () => {
  const { seen, protocol } = handshake(goodHeaders);
  expect(protocol).toBe('v5.channel.k8s.io');
  expect(seen).toEqual([
    {
      upgrade: 'websocket',
      connection: 'Upgrade',
      'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
      'sec-websocket-protocol': 'v5.channel.k8s.io',
    },
  ]);
});

test.each([
  [{ 'sec-websocket-key': 'short' }, 'GET', 400],
  [{ 'sec-websocket-version': '8' }, 'GET', 400],
  [{ upgrade: 'spdy/3.1' }, 'GET', 400],
  [{ connection: 'close' }, 'GET', 400],
  [{}, 'POST', 400],
  [{ 'sec-websocket-protocol': 'v9' }, 'GET', 403],
])('a bad handshake: %j %s', (change, method, status) => {
  expect(handshake({ ...goodHeaders, ...change }, method)).toEqual({ seen: [status], protocol: undefined });
});
