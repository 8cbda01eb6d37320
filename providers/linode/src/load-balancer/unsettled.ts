// What was made or deleted a moment ago. The API may do it and lose its answer, and may not show it yet: until that has passed the absence of what was
// made is no proof, and what was deleted does not count although it is shown.
import type { Clock } from 'sagong/cloud-provider';
import { unsettledMs } from '../limits.ts';

type DeletedKind = 'balancer' | 'firewall';

export interface Unsettled {
  /** Before something is made for a Service. */
  begin(uid: string): void;
  /** It is there, or the API has refused it: what questions say counts. */
  end(uid: string): void;
  has(uid: string): boolean;
  deleted(kind: DeletedKind, id: number): void;
  isDeleted(kind: DeletedKind, id: number): boolean;
}

export function createUnsettled(clock: Pick<Clock, 'monotonic'>): Unsettled {
  const until = new Map<string, number>();
  const note = (key: string): void => {
    for (const [one, atMs] of until) if (atMs <= clock.monotonic()) until.delete(one);
    until.set(key, clock.monotonic() + unsettledMs);
  };
  const has = (key: string): boolean => (until.get(key) ?? Number.NEGATIVE_INFINITY) > clock.monotonic();
  const made = (uid: string): string => `made for ${uid}`;
  const gone = (kind: DeletedKind, id: number): string => `deleted ${kind} ${id}`;
  return {
    begin: (uid) => note(made(uid)),
    end: (uid) => void until.delete(made(uid)),
    has: (uid) => has(made(uid)),
    deleted: (kind, id) => note(gone(kind, id)),
    isDeleted: (kind, id) => has(gone(kind, id)),
  };
}
