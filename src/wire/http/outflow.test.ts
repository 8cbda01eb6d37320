import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { limits } from '../limits.ts';
import { endWith } from './outflow.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** Takes one piece whenever it is told to. */
function reluctant() {
  const pieces: Buffer[] = [];
  let taken: (() => void) | undefined;
  const stream = new Writable({
    highWaterMark: 1,
    write(piece: Buffer, _encoding, done) {
      pieces.push(piece);
      taken = done;
    },
  });
  const take = async (): Promise<void> => {
    taken?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { stream, pieces, take };
}

const body = Buffer.alloc(limits.answerPieceBytes * 3 + 10, 'x');

test.each([body, body.toString()])('a large answer goes out in pieces, whole', async (last) => {
  const { stream, pieces, take } = reluctant();
  endWith(stream, last, { stallTimeoutMs: 1000, giveUp: () => expect.unreachable() });
  expect(pieces).toHaveLength(1);
  while (!stream.writableFinished) await take();
  expect(Buffer.concat(pieces).equals(body)).toBe(true);
  vi.advanceTimersByTime(10_000);
});

test('a peer that takes a little now and then is waited for', async () => {
  const { stream, take } = reluctant();
  const giveUp = vi.fn();
  endWith(stream, body, { stallTimeoutMs: 1000, giveUp });
  for (let i = 0; i < 3; i++) {
    vi.advanceTimersByTime(900);
    await take();
  }
  expect(giveUp).not.toHaveBeenCalled();
});

test.each(['', 'short', body])('a peer that takes nothing is given up after its time', (last) => {
  const { stream } = reluctant();
  const giveUp = vi.fn();
  stream.write('head');
  endWith(stream, last, { stallTimeoutMs: 1000, giveUp });
  vi.advanceTimersByTime(999);
  expect(giveUp).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(giveUp).toHaveBeenCalledOnce();
});
