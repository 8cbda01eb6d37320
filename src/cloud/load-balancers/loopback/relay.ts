// Joins two connections so that each half ends when its other end does, and nothing is kept for a side that does not read.
import type { Duplex } from 'node:stream';
import type { Clock, Timer } from '#utils';
import { cutOff, pipeDuplex } from '#wire';
import { limits } from '../limits.ts';

/** Resolves when both are over. Both must be able to end by halves (`allowHalfOpen`). */
export function relay(client: Duplex, backend: Duplex, clock: Clock): Promise<void> {
  const both = [client, backend];
  let timer: Timer | undefined;
  // One side has said all it has to say; the other may go on, but not be silent for ever.
  const watch = (): void => {
    timer?.cancel();
    timer = clock.setTimer(limits.loopbackHalfOpenMs, () => both.forEach(cutOff));
  };
  const begin = (): void => {
    if (!timer) for (const one of both) one.on('data', watch).on('drain', watch);
    watch();
  };
  for (const stream of both) stream.once('end', begin);
  return pipeDuplex(client, backend).finally(() => timer?.cancel());
}
