import { PassThrough, Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, test } from 'vitest';
import { gathered, gathering, pipeGathered } from './gather.ts';

const crumbs = 10_000;
/** What a parser makes of one read from a socket: many pieces in one turn. */
function crumbling(): Readable {
  const stream = new Readable({ read() {} });
  setImmediate(() => {
    for (let at = 0; at < crumbs; at++) stream.push(Buffer.from([at & 127]));
    stream.push(null);
  });
  return stream;
}
const expected = Buffer.from(Array.from({ length: crumbs }, (_, at) => at & 127));

function collector(highWaterMark = 16_384) {
  const pieces: Buffer[] = [];
  const writable = new Writable({
    highWaterMark,
    write(piece: Buffer, _encoding, done) {
      pieces.push(piece);
      setImmediate(done);
    },
  });
  return { pieces, writable };
}

test.each([
  ['as a step of a pipeline', (from: Readable, to: Writable) => pipeline(from, gathered, to)],
  ['as one of a list', (from: Readable, to: Writable) => pipeline([from, gathering, to])],
  [
    'as a pipe',
    (from: Readable, to: Writable) =>
      new Promise<void>((done) => {
        to.once('finish', done);
        pipeGathered(from, to);
      }),
  ],
])('%s, pieces that came in one turn go on as few, and nothing is lost', async (_, pass) => {
  const { pieces, writable } = collector();
  await pass(crumbling(), writable);
  expect(Buffer.concat(pieces).equals(expected)).toBe(true);
  expect(pieces.length).toBeLessThan(20);
});

test('a pipe waits for its target', async () => {
  const { pieces, writable } = collector(10);
  const from = new PassThrough({ highWaterMark: 100 });
  pipeGathered(from, writable);
  let taken = 0;
  const wrote = new Promise<void>((done) => writable.once('finish', done));
  for (let at = 0; at < 100; at++) {
    if (!from.write(Buffer.alloc(50))) await new Promise((drained) => from.once('drain', drained));
    taken += 50;
    expect(taken - Buffer.concat(pieces).length).toBeLessThan(500);
  }
  from.end();
  await wrote;
  expect(Buffer.concat(pieces).length).toBe(5_000);
});

test('a target that is gone leaves its source alone, and what comes of it may be taken by somebody else', async () => {
  const { writable } = collector();
  const from = new PassThrough();
  pipeGathered(from, writable);
  from.write('a');
  writable.destroy();
  await new Promise((closed) => writable.once('close', closed));
  from.end('b');
  const rest: Buffer[] = [];
  for await (const piece of from) rest.push(piece as Buffer);
  expect(from.destroyed && Buffer.concat(rest).toString().endsWith('b')).toBe(true);
});
