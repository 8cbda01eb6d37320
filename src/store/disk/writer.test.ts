import { expect, test } from 'vitest';
import { encodeFrames, type RecordGroup, sealFrames } from './frames.ts';

const group = (name: string, bytes: number): RecordGroup => [
  {
    type: 'change',
    change: {
      kv: { key: `/registry/${name}`, value: Buffer.alloc(bytes, name), createRevision: 2, modRevision: 2, version: 1, lease: 0 },
      deleted: false,
      sub: 0,
    },
    last: true,
    moved: false,
  },
];

test('what memory held before does not show in what is encoded in it', () => {
  const batches = [[group('a', 700_000), group('b', 3)], [group('c', 1)], [group('d', 300_001), group('e', 0), group('f', 77)]];
  const used = Buffer.alloc(2_000_000, 0xff);
  for (const batch of batches) {
    const [fresh, again] = [encodeFrames(batch, 7), encodeFrames(batch, 7, (bytes) => used.subarray(0, bytes))];
    for (const one of [fresh, again]) sealFrames(one, 5, 4, 7);
    expect(again.bytes.equals(fresh.bytes)).toBe(true);
  }
});
