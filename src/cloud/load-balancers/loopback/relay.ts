// Joins two connections so that each half ends when its other end does, and nothing is kept for a side that does not read.
import type { Duplex } from 'node:stream';
import type { Clock, Timer } from '#utils';
import { limits } from '../limits.ts';

/** Resolves when both are over. Both must be able to end by halves (`allowHalfOpen`). */
export function relay(client: Duplex, backend: Duplex, clock: Clock): Promise<void> {
  const both = [client, backend];
  let timer: Timer | undefined;
  const end = (): void => {
    timer?.cancel();
    for (const stream of both) stream.destroy();
  };
  // One side has said all it has to say; the other may go on, but not be silent for ever.
  const watch = (): void => {
    timer?.cancel();
    timer = clock.setTimer(limits.loopbackHalfOpenMs, end);
  };
  return new Promise((resolve) => {
    let open = both.length;
    for (const [from, to] of [both, both.toReversed()]) {
      if (!from || !to) continue;
      from.once('error', end);
      from.once('end', () => {
        watch();
        to.on('data', watch);
      });
      from.once('close', () => {
        // Cut off rather than ended: the other side must know.
        if (!from.readableEnded || !from.writableFinished) end();
        if (--open > 0) return;
        timer?.cancel();
        resolve();
      });
      from.pipe(to);
      if (from.destroyed) end();
    }
  });
}
