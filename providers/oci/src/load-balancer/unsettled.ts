// What was made or deleted a moment ago. The API may do it and lose its answer, and may not show it yet: until that has passed the absence of what was
// made is no proof, and what was deleted does not count although it is shown.
import type { Clock } from 'sagong/cloud-provider';
import { unsettledMs } from '../limits.ts';

export interface Unsettled {
  /** Before something is made for a Service. */
  begin(uid: string): void;
  /** It is there, or the API has refused it: what questions say counts. */
  end(uid: string): void;
  has(uid: string): boolean;
  deleted(id: string): void;
  isDeleted(id: string): boolean;
}

export function createUnsettled(clock: Pick<Clock, 'monotonic'>): Unsettled {
  const until = new Map<string, number>();
  const note = (key: string): void => {
    for (const [one, atMs] of until) if (atMs <= clock.monotonic()) until.delete(one);
    until.set(key, clock.monotonic() + unsettledMs);
  };
  const has = (key: string): boolean => (until.get(key) ?? Number.NEGATIVE_INFINITY) > clock.monotonic();
  return {
    begin: (uid) => note(`made for ${uid}`),
    end: (uid) => void until.delete(`made for ${uid}`),
    has: (uid) => has(`made for ${uid}`),
    deleted: (id) => note(`deleted ${id}`),
    isDeleted: (id) => has(`deleted ${id}`),
  };
}
