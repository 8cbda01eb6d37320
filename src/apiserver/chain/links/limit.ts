// A bound on requests served at once (k8s.io/apiserver/pkg/server/filters/maxinflight.go). Long-running ones take no seat. Nor do components of
// this process: they wait for their turn of the event loop instead (`adapters/memory.ts`), and a control plane that refuses itself helps nobody.
import { tooManyRequests } from '#apimachinery/errors';
import { keepsTheClusterAlive, mastersGroup } from '../../authentication/users.ts';
import { reservedSeatsShare, retryAfterSeconds, tooManyText } from '../../limits.ts';
import { isLongRunning, type Request } from '../../request/request.ts';
import type { Clock } from '#utils';
import type { Link } from '../link.ts';
import type { Seats } from '../services.ts';

const readOnlyVerbs = new Set(['get', 'list', 'watch']);

/** Counts the requests in flight, and refuses those beyond a bound. A bound of 0 lets all in. */
export function boundedSeats(
  readOnlyMax: number,
  mutatingMax: number,
): { take(request: Pick<Request, 'verb' | 'user'>): () => void } {
  const taken = { readOnly: 0, mutating: 0 };
  return {
    take({ verb, user }) {
      const kind = readOnlyVerbs.has(verb) ? 'readOnly' : 'mutating';
      const max = kind === 'readOnly' ? readOnlyMax : mutatingMax;
      const reserved = keepsTheClusterAlive(user) ? Math.ceil(max * reservedSeatsShare) : 0;
      if (max > 0 && taken[kind] >= max + reserved) {
        // Administrators must be able to mend whatever fills the server, so they pass uncounted.
        if (user.groups.includes(mastersGroup)) return () => {};
        throw tooManyRequests(tooManyText, retryAfterSeconds);
      }
      taken[kind]++;
      let left = false;
      return () => {
        if (left) return;
        left = true;
        taken[kind]--;
      };
    },
  };
}

export const limit = ({ seats, clock }: { seats: Seats; clock: Clock }): Link => {
  const seated: Link = async (request, next) => {
    const taken = seats.take(request);
    const askedMs = clock.monotonic();
    const leave = taken instanceof Promise ? await taken : taken;
    request.notes.awayMs += clock.monotonic() - askedMs;
    // A client that goes away gives its seat back, whatever still runs.
    request.reply.onEnd(leave);
    // Nor does one keep it that does not take its answer, or whose connection has become another server's: nothing is done for it meanwhile.
    request.reply.onWait(leave);
    try {
      return await next(request);
    } finally {
      leave();
    }
  };
  const isSeated = (request: Request): boolean =>
    request.via !== 'memory' && (!isLongRunning(request) || (seats.seatsWatches === true && request.verb === 'watch'));
  return (request, next) => (isSeated(request) ? seated(request, next) : next(request));
};
