// What happened in a run, as one number: two runs of a seed are the same run when their traces are equal.
import { createHash } from 'node:crypto';
import type { Clock } from '#utils';

export interface Trace {
  note(...words: readonly unknown[]): void;
  /** How much was noted so far, and a hash of it. */
  summary(): { notes: number; hash: string };
}

export function createTrace(clock: Clock): Trace {
  const hash = createHash('sha256');
  let notes = 0;
  return {
    note(...words) {
      notes += 1;
      hash.update(`${clock.now()} ${words.join(' ')}\n`);
    },
    summary: () => ({ notes, hash: hash.copy().digest('hex') }),
  };
}
