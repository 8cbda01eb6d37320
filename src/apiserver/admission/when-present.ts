// Waits for an object to appear, by its own change notice: no polling.
import type { Clock } from '#utils';
import type { Target } from '../request/request.ts';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';

/** Resolves when the object is there, or when `waitMs` have passed. */
export function whenPresent(
  { cluster, clock }: { cluster: ReadOnlyCluster; clock: Clock },
  { group, resource, namespace, name }: Omit<Target, 'version' | 'subresource'>,
  waitMs: number,
): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stop();
      timer.cancel();
      resolve();
    };
    const timer = clock.setTimer(waitMs, done);
    const stop = cluster.onChange(group, resource, (now) => {
      if (now?.metadata.name === name && (now.metadata.namespace ?? '') === namespace) done();
    });
    if (cluster.get(group, resource, namespace, name)) done();
  });
}
