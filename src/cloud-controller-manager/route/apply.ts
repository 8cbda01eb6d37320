// Carries route changes out: many cloud calls at once, but never more than the ceiling.
import { isConflict } from '#apimachinery/errors';
import type { Routes } from '#cloud-provider';
import type { ActionDeps } from '#controller-runtime';
import { atMost } from '#host';
import type { Rng } from '#utils';
import { routeCallsMax, routeConflictDelayMs, routeConflictTries } from '../limits.ts';
import type { RouteChanges, RouteOutcome, RouteToMake } from './plan.ts';

export interface ApplyDeps extends Pick<ActionDeps, 'clock' | 'logger'> {
  routes: Routes;
  cluster: string;
  rng: Rng;
  signal: AbortSignal;
}

export async function applyRoutes({ remove, make, removeFirst }: RouteChanges, deps: ApplyDeps): Promise<RouteOutcome[]> {
  const { routes, cluster, clock, rng, logger, signal } = deps;
  const limited = atMost(routeCallsMax);
  const removeOne = (route: (typeof remove)[number]): Promise<void> =>
    limited(() => routes.deleteRoute(cluster, route, signal)).catch((error: unknown) =>
      logger.error('Could not delete route', { route: route.name, cidr: route.destinationCidr, error: String(error) }),
    );
  const makeOne = async ({ node, route }: RouteToMake): Promise<RouteOutcome> => {
    const failures: { message: string; durationMs: number }[] = [];
    const outcome = (made: boolean): RouteOutcome => ({ node, cidr: route.destinationCidr, failures, made });
    for (let attempt = 1; ; attempt++) {
      const sinceMs = clock.monotonic();
      try {
        await limited(() => routes.createRoute(cluster, node.metadata.uid ?? '', route, signal));
        return outcome(true);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        failures.push({ message, durationMs: clock.monotonic() - sinceMs });
        if (!isConflict(error) || signal.aborted || attempt === routeConflictTries) return outcome(false);
        await clock.sleep(routeConflictDelayMs * (1 + rng.next()), signal).catch(() => {});
      }
    }
  };
  const removed = Promise.all(remove.map(removeOne));
  if (removeFirst) await removed;
  const outcomes = await Promise.all(make.map(makeOne));
  await removed;
  return outcomes;
}
