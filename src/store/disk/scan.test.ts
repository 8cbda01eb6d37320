import { expect, it } from 'vitest';
import type { Change } from '../mvcc/log.ts';
import { segmentHeadBytes } from './format.ts';
import { encodeFrames, encodeMark, sealFrames } from './frames.ts';
import { scanFrames } from './scan.ts';

const seed = 7;
const count = 20;

/** A segment of small frames, each known to be on the disk by the one behind it, and a mark. */
function segment(): Buffer {
  const frames = Array.from({ length: count }, (_, at) => {
    const kv = {
      key: `/${at}`,
      value: Buffer.alloc(at * 9, 121),
      createRevision: at + 2,
      modRevision: at + 2,
      version: 1,
      lease: 0,
    };
    const change: Change = { kv, sub: 0, deleted: false };
    const encoded = encodeFrames([[{ type: 'change', change, last: true, moved: false }]], seed);
    sealFrames(encoded, at + 1, at, seed);
    return encoded.bytes;
  });
  return Buffer.concat([Buffer.alloc(segmentHeadBytes), ...frames, encodeMark(count + 1, seed)], 16 * 1024);
}

it('a segment that grew or shrank somewhere is damaged, never an older one', () => {
  const whole = segment();
  const { end } = scanFrames('log', whole, seed, undefined);
  for (const by of [1, 3, 8, 13, 24, -1, -5, -8])
    for (let at = segmentHeadBytes; at < end - 40; at += 7) {
      const [before, after] = [whole.subarray(0, at), whole.subarray(by > 0 ? at : at - by)];
      const bytes = Buffer.concat([before, Buffer.alloc(Math.max(by, 0), 0x5a), after]);
      const { damages, frames } = scanFrames('log', bytes, seed, undefined);
      if (damages.length === 0) expect([by, at, frames.length]).toEqual([by, at, count + 1]);
    }
});

it('what a crash left of the newest frame is none', () => {
  const whole = segment();
  const { end, frames } = scanFrames('log', whole, seed, undefined);
  expect(frames).toHaveLength(count + 1);
  const cut = Buffer.from(whole);
  // A disk writes whole sectors.
  cut.fill(0, end - 60 - ((end - 60) % 512));
  expect(scanFrames('log', cut, seed, undefined)).toMatchObject({ damages: [] });
});
