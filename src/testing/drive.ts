// Lets work that waits for time come to its end, whatever clock it waits on.
import { setTimeout } from 'node:timers/promises';
import type { Clock } from '#utils';
import type { VirtualClock } from './virtual-clock.ts';

/** Virtual time that passes in one look. */
const stepMs = 5;
/** Real time between two looks: sockets and files take theirs. */
const pauseMs = 1;

const isVirtual = (clock: Clock): clock is VirtualClock => 'advance' in clock && 'settle' in clock;

/** Waits for the promise, and lets a virtual clock go on until it is settled. */
export async function driven<T>(clock: Clock, work: Promise<T>): Promise<T> {
  if (!isVirtual(clock)) return work;
  let over = false;
  const end = (): void => {
    over = true;
  };
  work.then(end, end);
  await clock.settle();
  while (!over) {
    await clock.advance(stepMs);
    if (!over) await setTimeout(pauseMs);
  }
  return work;
}
