import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DecodeError, schemaTableOf } from '../schema/index.ts';
import { decodeProtobuf, decodeWatchFrame, encodeProtobuf, encodeWatchFrame, FrameReader, supportsProtobuf } from './protobuf.ts';

const table = schemaTableOf({
  source: 'test',
  version: 'v0',
  kinds: { 'example.com/v1': { 'com.example.v1': 'Thing Row' } },
  types: {
    'com.example.v1.Thing': [
      'kind 0 string -o',
      'apiVersion 0 string -o',
      'name 1 string -o',
      'counts 2 []int64 -o',
      'sizes 3 {}quantity -o',
      'child 4 .Thing -*o',
      'lists 5 {}[]string -o',
    ],
    'com.example.v1.Row': ['cells 0 []any'],
  },
});
const thing = { kind: 'Thing', apiVersion: 'example.com/v1' };

test('an object survives', () => {
  const object = {
    ...thing,
    name: 'ä',
    counts: [1, -1, 2 ** 53],
    sizes: { a: '1', b: '2Gi' },
    child: { name: 'x' },
    lists: { k: ['a', ''] },
  };
  expect(decodeProtobuf(table, encodeProtobuf(table, object))).toEqual(object);
});

test('packed numbers are read, too', () => {
  const head = encodeProtobuf(table, thing);
  // runtime.Unknown takes the last `raw`: field 2, length 4, then field 2 of Thing packed with 1 and 2.
  const packed = Uint8Array.of(...head, 0x12, 4, 0x12, 2, 1, 2);
  expect(decodeProtobuf(table, packed)).toEqual({ ...thing, counts: [1, 2] });
});

test.each([
  [[], 'empty data'],
  [[1, 2, 3, 4, 5], 'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]'],
  [[0x6b, 0x38, 0x73, 0], 'empty body'],
  [[0x6b, 0x38, 0x73, 0, 0x0a, 0xff], 'unexpected EOF'],
])('%j: %s', (bytes, message) => {
  expect(() => decodeProtobuf(table, Uint8Array.from(bytes))).toThrow(message);
});

test('damaged bytes throw DecodeError and nothing else', () => {
  const whole = encodeProtobuf(table, {
    ...thing,
    name: 'x',
    counts: [1],
    sizes: { a: '1' },
    child: { name: 'y' },
    lists: { a: ['b'] },
  } as typeof thing);
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.nat(255), fc.nat(whole.length), (at, byte, length) => {
      const damaged = whole.slice(0, length);
      if (at < length) damaged[at] = byte;
      try {
        decodeProtobuf(table, damaged);
      } catch (error) {
        expect(error).toBeInstanceOf(DecodeError);
      }
    }),
    { numRuns: 2000 },
  );
});

test('deep nesting is an error, not a crash', () => {
  let message = Uint8Array.of();
  for (let depth = 0; depth < 3000; depth++) {
    const length = message.length;
    const size =
      length < 128
        ? [length]
        : length < 16384
          ? [(length & 127) | 128, length >> 7]
          : [(length & 127) | 128, ((length >> 7) & 127) | 128, length >> 14];
    const next = new Uint8Array(1 + size.length + length);
    next.set([0x22, ...size]);
    next.set(message, 1 + size.length);
    message = next;
  }
  const length = message.length;
  const body = Uint8Array.of(
    ...encodeProtobuf(table, thing),
    0x12,
    (length & 127) | 128,
    ((length >> 7) & 127) | 128,
    length >> 14,
    ...message,
  );
  expect(() => decodeProtobuf(table, body)).toThrow('exceeded max depth');
});

test('kinds without numbers have no protobuf form', () => {
  expect(supportsProtobuf(table, { group: 'example.com', version: 'v1', kind: 'Row' })).toBe(false);
  expect(supportsProtobuf(table, { group: 'example.com', version: 'v1', kind: 'Thing' })).toBe(true);
  expect(() => encodeProtobuf(table, { apiVersion: 'example.com/v1', kind: 'Row' })).toThrow(DecodeError);
});

test('watch frames come out of chunks of any size', () => {
  const bodies = ['a', '', 'some more bytes'].map((text) => new TextEncoder().encode(text));
  const stream = bodies.flatMap((body) => [...encodeWatchFrame('ADDED', body)]);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1 }), (sizes) => {
      const reader = new FrameReader();
      const events: { type: string; body: Uint8Array }[] = [];
      for (let at = 0, step = 0; at < stream.length; step++) {
        const size = sizes[step % sizes.length] ?? 1;
        for (const frame of reader.push(Uint8Array.from(stream.slice(at, at + size)))) events.push(decodeWatchFrame(frame));
        at += size;
      }
      expect(events.map(({ type }) => type)).toEqual(['ADDED', 'ADDED', 'ADDED']);
      expect(events.map(({ body }) => body)).toEqual(bodies);
    }),
  );
});

test('a frame that is too long is refused before it is read', () => {
  expect(() => new FrameReader().push(Uint8Array.of(0xff, 0, 0, 0))).toThrow(DecodeError);
});
