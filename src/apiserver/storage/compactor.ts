// Forgets history that nobody may ask for any more (k8s.io/apiserver/pkg/storage/etcd3/compact.go): every interval, what is older than one.
import type { Store } from '#store';
import type { Clock, Logger } from '#utils';

export function startCompactor(
  store: Store,
  clock: Clock,
  logger: Logger,
  intervalMs: number,
  revision: () => number,
): () => void {
  let before = 0;
  let stopped = false;
  let cancel = (): void => {};
  const schedule = (): void => {
    const timer = clock.setTimer(intervalMs, () => void run());
    cancel = () => timer.cancel();
  };
  const run = async (): Promise<void> => {
    const target = before;
    before = revision();
    try {
      if (target > store.compactedRevision()) await store.compact(target);
    } catch (error) {
      logger.warn('compaction failed', { err: (error as Error).message });
    }
    if (!stopped) schedule();
  };
  schedule();
  return () => {
    stopped = true;
    cancel();
  };
}
