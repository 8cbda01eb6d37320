// A bound on requests answered at once (k8s.io/apiserver/pkg/server/filters, maxinflight). Long-running ones do not count.
import { StatusError } from '#apimachinery/errors';
import { retryAfterSeconds } from '../limits.ts';

export interface InFlight {
  /** Takes a place, or throws 429; call the result when the request is over. */
  enter(mutating: boolean): () => void;
  count(mutating: boolean): number;
}

/** 0 as a bound: none. */
export function boundInFlight(readOnlyMax: number, mutatingMax: number): InFlight {
  const counts = { readOnly: 0, mutating: 0 };
  return {
    enter(mutating) {
      const kind = mutating ? 'mutating' : 'readOnly';
      const max = mutating ? mutatingMax : readOnlyMax;
      if (max > 0 && counts[kind] >= max) {
        throw new StatusError({
          code: 429,
          reason: 'TooManyRequests',
          message: 'Too many requests, please try again later.',
          details: { retryAfterSeconds },
        });
      }
      counts[kind]++;
      return () => void counts[kind]--;
    },
    count: (mutating) => counts[mutating ? 'mutating' : 'readOnly'],
  };
}
