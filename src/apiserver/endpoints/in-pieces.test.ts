import { expect, it } from 'vitest';
import { listChunkBytes } from '../limits.ts';
import { inPieces } from './in-pieces.ts';

const sizes = [3, 0, listChunkBytes * 0.7, listChunkBytes, 1, listChunkBytes * 3.2].map(Math.round);
const parts = sizes.map((size, at) => Buffer.alloc(size, 65 + at));
const whole = Buffer.concat(parts);

/** What whoever takes the pieces has in the end. `fates`: what it says of each; it copies only what it says is taken. */
async function gathered(fates: readonly ('taken' | 'kept')[]): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  await inPieces(parts, whole.length, async (piece) => {
    const fate = fates[pieces.length % fates.length] ?? 'taken';
    pieces.push(fate === 'taken' ? Buffer.from(piece) : piece);
    return fate;
  });
  return Buffer.concat(pieces);
}

it('gives all of it, and does not touch a piece that is kept', async () => {
  for (const fates of [['taken'], ['kept'], ['kept', 'taken']] as const) expect((await gathered(fates)).equals(whole)).toBe(true);
});

it('ends when nobody wants more', async () => {
  let pieces = 0;
  await inPieces(parts, whole.length, async () => (++pieces === 2 ? 'over' : 'taken'));
  expect(pieces).toBe(2);
});
