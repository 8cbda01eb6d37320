import { expect, test } from 'vitest';
import { systemClock } from '#host';
import type { WireResponse } from '#wire';
import { watchPieceBytesMax } from '../limits.ts';
import type { WatchSink, WatchStart } from '../registry/generic/watch.ts';
import type { CacheEvent } from '../storage/event.ts';
import type { FrameMaker } from './watch-frames.ts';
import { WatchStream } from './watch-stream.ts';

/** A watch whose events are the frames themselves, and a client that takes `room` writes before it has to be waited for. */
async function watching(room: number) {
  const written: Buffer[] = [];
  let sink: WatchSink | undefined;
  let goOn = (): void => {};
  const client = {
    destroyed: false,
    head() {},
    flushHead() {},
    write: (piece: Buffer) => written.push(piece) < room,
    drain: () =>
      new Promise<void>((resolve) => {
        goOn = resolve;
      }),
    end() {},
    destroy() {},
  };
  const start = {
    initial: [],
    missed: [],
    endMark: false,
    revision: 1,
    subscribe(to: WatchSink) {
      sink = to;
      return () => {};
    },
  } satisfies WatchStart;
  const stream = new WatchStream({
    response: client as unknown as WireResponse,
    headers: {},
    start,
    frames: { change: (event: unknown) => event, error: () => Buffer.from('failed') } as unknown as FrameMaker,
    bookmarks: false,
    timeoutMs: 60_000,
    revision: () => 1,
    clock: systemClock(),
    rest: () => undefined,
    onEvent() {},
    onEnd() {},
  });
  await stream.run();
  const tell = (...frames: Buffer[]): void => {
    for (const frame of frames) sink?.onEvent(frame as unknown as CacheEvent, 'MODIFIED');
  };
  return {
    stream,
    written,
    tell,
    fail: () => sink?.onEnd(),
    drained: (more: number) => ((room = written.length + more), goOn()),
  };
}

const small = (text: string): Buffer => Buffer.from(text);
const large = (): Buffer => Buffer.alloc(watchPieceBytesMax + 1, 'x');

test('small events go out together, and of large ones no copy is made', async () => {
  const { stream, written, tell } = await watching(Infinity);
  const [first, second] = [large(), large()];
  tell(small('a'), small('b'), first, second, small('c'), small('d'));
  await expect.poll(() => written.length).toBe(4);
  expect(written.map((piece) => (piece.length > 9 ? 'large' : piece.toString()))).toEqual(['ab', 'large', 'large', 'cd']);
  expect(written[1]).toBe(first);
  expect(written[2]).toBe(second);
  stream.stop();
});

test('what a client does not take waits for it, in order', async () => {
  const { stream, written, tell, drained } = await watching(1);
  tell(large(), large(), small('a'));
  await expect.poll(() => written.length).toBe(1);
  tell(small('b'));
  drained(1);
  await expect.poll(() => written.length).toBe(2);
  drained(Infinity);
  await expect.poll(() => written.length).toBe(3);
  expect(written[2]?.toString()).toBe('ab');
  stream.stop();
});

test('a stream that ends says why behind all that waits', async () => {
  const { written, tell, fail } = await watching(1);
  tell(large(), large(), small('a'));
  fail();
  expect(written.map((piece) => (piece.length > 9 ? 'large' : piece.toString()))).toEqual(['large', 'large', 'afailed']);
});
