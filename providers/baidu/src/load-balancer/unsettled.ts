// What was made or deleted a moment ago. The API may do it and lose its answer, and may not show it yet: until that has passed the absence of what was
// made is no proof, and what was deleted does not count although it is shown. Beside that, what each Service had last: the token of the next request
// follows from it.
import type { Clock } from 'sagong/cloud-provider';
import { rememberedMax, unsettledMs } from '../limits.ts';

export interface Unsettled {
  /** Before something is made for a Service. */
  begin(what: string): void;
  /** It is there, or the API has refused it: what questions say counts. */
  end(what: string): void;
  has(what: string): boolean;
  deleted(id: string): void;
  isDeleted(id: string): boolean;
  /** What is gone, of what a Service had of a kind. */
  noteLast(kind: string, uid: string, id: string): void;
  last(kind: string, uid: string): string | undefined;
}

export function createUnsettled(clock: Pick<Clock, 'monotonic'>): Unsettled {
  const until = new Map<string, number>();
  const lasts = new Map<string, string>();
  const note = (key: string): void => {
    for (const [one, atMs] of until) if (atMs <= clock.monotonic()) until.delete(one);
    until.set(key, clock.monotonic() + unsettledMs);
  };
  const has = (key: string): boolean => (until.get(key) ?? Number.NEGATIVE_INFINITY) > clock.monotonic();
  return {
    begin: (what) => note(`made ${what}`),
    end: (what) => void until.delete(`made ${what}`),
    has: (what) => has(`made ${what}`),
    deleted: (id) => note(`deleted ${id}`),
    isDeleted: (id) => has(`deleted ${id}`),
    noteLast(kind, uid, id) {
      const key = `${kind} ${uid}`;
      lasts.delete(key);
      lasts.set(key, id);
      if (lasts.size > rememberedMax) lasts.delete(lasts.keys().next().value as string);
    },
    last: (kind, uid) => lasts.get(`${kind} ${uid}`),
  };
}
