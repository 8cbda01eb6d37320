// A long text put together in one buffer that is filled again and again. A buffer of its own for each piece would be garbage beside V8's heap, and V8
// collects the whole heap, with every stored object, after some megabytes of that: it was most of what a large LIST cost on Node 24.
import { listChunkBytes } from '../limits.ts';

/**
 * Hands the parts on as pieces of one length. `take` resolves when it wants the next one: `taken`, the piece is not looked at any more; `kept`, it may
 * be; `over`, nobody wants more.
 */
export async function inPieces(
  parts: Iterable<Buffer>,
  bytes: number,
  take: (piece: Uint8Array) => Promise<'taken' | 'kept' | 'over'>,
): Promise<void> {
  let piece = Buffer.allocUnsafeSlow(Math.min(listChunkBytes, bytes));
  let filled = 0;
  for (const part of parts) {
    let at = 0;
    while (at < part.length) {
      const copied = part.copy(piece, filled, at);
      at += copied;
      filled += copied;
      if (filled < piece.length) continue;
      const fate = await take(piece);
      if (fate === 'over') return;
      if (fate === 'kept') piece = Buffer.allocUnsafeSlow(piece.length);
      filled = 0;
    }
  }
  if (filled > 0) await take(piece.subarray(0, filled));
}
