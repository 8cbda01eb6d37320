// Remembers what was made or deleted a moment ago, because an eventually consistent API may not show it yet. For a while after a thing was made, an
// answer without it does not prove that it is missing. For a while after a thing was deleted, an answer with it does not prove that it still exists.
import type { Clock } from '#utils';

export interface Unsettled {
  /** Before something is made. `what`: any words that tell it from all else, as the UID of its Service. */
  begin(what: string): void;
  /** It is there, or the API has refused it: what questions say counts. */
  end(what: string): void;
  has(what: string): boolean;
  /** `id`: of the thing; IDs of several kinds need the kind with them. */
  deleted(id: string): void;
  isDeleted(id: string): boolean;
}

/** `forMs`: how long the vendor takes at most to show a change. */
export function createUnsettled(clock: Pick<Clock, 'monotonic'>, forMs: number): Unsettled {
  const until = new Map<string, number>();
  const note = (key: string): void => {
    for (const [one, atMs] of until) if (atMs <= clock.monotonic()) until.delete(one);
    until.set(key, clock.monotonic() + forMs);
  };
  const has = (key: string): boolean => (until.get(key) ?? Number.NEGATIVE_INFINITY) > clock.monotonic();
  return {
    begin: (what) => note(`made ${what}`),
    end: (what) => void until.delete(`made ${what}`),
    has: (what) => has(`made ${what}`),
    deleted: (id) => note(`deleted ${id}`),
    isDeleted: (id) => has(`deleted ${id}`),
  };
}
