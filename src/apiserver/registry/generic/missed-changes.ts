// What a watch that begins in the past has missed: all that is remembered since then is looked at, a few changes at a time, because there may be
// thousands of them.
import { expired, expiredMessages } from '#apimachinery/errors';
import type { CacheEvent, ChangeType } from '../../storage/event.ts';
import type { ResourceCache } from '../../storage/resource-cache.ts';

export interface Missed {
  event: CacheEvent;
  type: ChangeType;
}

const groupEvents = 16;

/** The event that a watcher gets for a change; undefined where it gets none. */
export type Heard = Missed | undefined;

/**
 * Throws 410 where not all is remembered any more. `rest`: waited for between groups; what changes meanwhile is looked at, too. `upTo`: the
 * revision of the last that was.
 */
export async function missedSince(
  cache: Pick<ResourceCache, 'eventsAfter' | 'oldestRevision'>,
  revision: number,
  rest: () => Promise<void> | undefined,
  hear: (event: CacheEvent) => Heard | Promise<Heard>,
): Promise<{ missed: Missed[]; upTo: number }> {
  const missed: Missed[] = [];
  let upTo = revision;
  for (;;) {
    if (upTo < cache.oldestRevision) throw expired(expiredMessages.watch(revision, cache.oldestRevision));
    const events = cache.eventsAfter(upTo);
    if (events.length === 0) return { missed, upTo };
    for (let at = 0; at < events.length; at += groupEvents) {
      const pause = at > 0 ? rest() : undefined;
      if (pause) await pause;
      const heard = await Promise.all(events.slice(at, at + groupEvents).map(async (event) => hear(event)));
      for (const one of heard) if (one) missed.push(one);
    }
    upTo = events.at(-1)?.revision ?? upTo;
  }
}
