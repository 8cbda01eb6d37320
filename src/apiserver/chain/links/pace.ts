// Whoever makes the server work much waits for himself: a flow that has used more than its share of the one thread waits before its next request begins, as
// long as others are served and the thread is busy. What he asks for slows nobody else, nor does the memory that it leaves behind.
import { anonymousUser, flowOf, keepsTheClusterAlive, mastersGroup } from '../../authentication/users.ts';
import type { Clock } from '#utils';
import { isLongRunning, type Request } from '../../request/request.ts';
import type { Link } from '../link.ts';
import type { Pacing, Seats } from '../services.ts';

/** Administrators must be able to mend whatever keeps the server busy, and the cluster needs its own components. */
const isPaced = (request: Request): boolean =>
  request.via !== 'memory' &&
  (!isLongRunning(request) || request.verb === 'watch') &&
  !request.user.groups.includes(mastersGroup) &&
  !keepsTheClusterAlive(request.user);

export const pace = ({ paces, seats, clock }: { paces: Pacing | undefined; seats: Seats; clock: Clock }): Link => {
  if (!paces) return (request, next) => next(request);
  const paced: Link = async (request, next) => {
    const flow = flowOf(request.user.name);
    // All who have no name are one flow, and so are the probes of a load balancer.
    if (paces.isDelayed(flow) && seats.exempts?.(request)) return next(request);
    // Those who have no name have nothing in common.
    if (flow !== anonymousUser) request.servedFor?.(flow);
    const askedMs = clock.monotonic();
    const wait = paces.enter(flow, request);
    if (wait) {
      await wait;
      request.notes.awayMs += clock.monotonic() - askedMs;
    }
    try {
      return await next(request);
    } finally {
      paces.leave(flow, request.notes.sentBytes);
    }
  };
  return (request, next) => (isPaced(request) ? paced(request, next) : next(request));
};
