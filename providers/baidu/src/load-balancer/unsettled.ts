// What was made or deleted a moment ago, and what each Service had last: the token of the next request follows from it.
import type { Clock } from 'sagong/cloud-provider';
import { createUnsettled as createShared, type Unsettled as Shared } from 'sagong/cloud-provider/kit';
import { rememberedMax, unsettledMs } from '../limits.ts';

export interface Unsettled extends Shared {
  /** What is gone, of what a Service had of a kind. */
  noteLast(kind: string, uid: string, id: string): void;
  last(kind: string, uid: string): string | undefined;
}

export function createUnsettled(clock: Pick<Clock, 'monotonic'>): Unsettled {
  const lasts = new Map<string, string>();
  return {
    ...createShared(clock, unsettledMs),
    noteLast(kind, uid, id) {
      const key = `${kind} ${uid}`;
      lasts.delete(key);
      lasts.set(key, id);
      if (lasts.size > rememberedMax) lasts.delete(lasts.keys().next().value as string);
    },
    last: (kind, uid) => lasts.get(`${kind} ${uid}`),
  };
}
