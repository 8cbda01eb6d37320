// A loop that only this cluster has, beside those of the managers: with a service account and a failure domain of its own.
import { createMetrics, type Supervised, workQueueMetrics } from '#component-base';
import type { ControllerDefinition } from '#controller-runtime';
import { ControllerSet } from '#controller-runtime/manager';
import type { Clock, Logger, Rng } from '#utils';
import type { PlaneAccess } from '../control-plane.ts';
import { identities } from '../certificates/identities.ts';

/** Runs it as the service account of that name. Its rights must be granted. */
export const runOwnLoop = (
  { supervisor, decisions, client }: PlaneAccess,
  name: string,
  loop: ControllerDefinition,
  { clock, rng, logger }: { clock: Clock; rng: Rng; logger: Logger },
): Promise<Supervised<ControllerSet>> =>
  supervisor.run(name, () => {
    const metrics = createMetrics();
    const set = new ControllerSet({
      client: client(identities.controller(name), name),
      clock,
      rng,
      logger: logger.with({ component: name }),
      metrics,
      queueMetrics: workQueueMetrics(metrics),
      manager: name,
      decisions,
      supervisor,
    });
    set.add(loop);
    set.start();
    return set;
  });
