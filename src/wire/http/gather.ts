// Bodies that are handed on from one connection to another. A peer may send a byte at a time: each piece is a call here, and would be a frame and a record on
// the other side, which cost hundreds of times the byte. What has come since the last one was taken goes on as one piece.
import type { Duplex, Readable, Writable } from 'node:stream';

/** Hands on at once all that a stream holds, between the source and the target of a `pipeline`. */
export async function* gathered<T extends string | Uint8Array>(from: AsyncIterable<T>): AsyncGenerator<T> {
  // A stream that is iterated over, and does not flow, gives all it holds at once.
  for await (const piece of from) yield piece;
}

/** What `gathered` is to a pipeline that is given as a list, whose type knows streams alone. */
export const gathering = gathered as unknown as Duplex;

/** Hands everything on as `from.pipe(to)` does: an error of one of them is none of the other's. */
export function pipeGathered(from: Readable, to: Writable): void {
  const more = (): void => {
    while (!to.writableNeedDrain) {
      const piece = from.read() as Buffer | null;
      if (piece === null) return;
      to.write(piece);
    }
  };
  const end = (): void => void to.end();
  from.on('readable', more).once('end', end);
  to.on('drain', more);
  to.once('close', () => {
    from.off('readable', more).off('end', end);
    to.off('drain', more);
  });
}
