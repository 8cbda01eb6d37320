// Compaction as upstream's apiserver does it (k8s.io/apiserver/pkg/storage/etcd3, compactor): once per interval everything up to the
// revision of one interval ago is forgotten. Several apiservers on one store take turns by way of a key whose version they count.
import type { Clock, Logger } from '#utils';
import { CompactedError } from './errors.ts';
import { compactIntervalMs } from './limits.ts';
import type { Store } from './types.ts';

export interface AutoCompactOptions {
  store: Store;
  clock: Clock;
  logger: Logger;
  /** How much history is kept at least; up to twice as much is there. Default 5 minutes (`--etcd-compaction-interval`). */
  intervalMs?: number;
}

/** Holds the revision of the last round; its version counts the rounds. */
const compactRevisionKey = 'compact_rev_key';

/** Where this process saw the shared count and the store the last time. */
interface Round {
  count: number;
  revision: number;
}

/** Runs until stopped. A round that fails is logged and tried again at the next one. */
export function autoCompact({ store, clock, logger, intervalMs = compactIntervalMs }: AutoCompactOptions): { stop(): void } {
  let last: Round = { count: 0, revision: 0 };
  let stopped = false;
  const next = async (): Promise<void> => {
    try {
      last = await compactRound(store, last);
    } catch (error) {
      logger.warn('Failed to compact the store', { err: error });
    }
    if (!stopped) timer = clock.setTimer(intervalMs, () => void next());
  };
  let timer = clock.setTimer(intervalMs, () => void next());
  return {
    stop() {
      stopped = true;
      timer.cancel();
    },
  };
}

/** One round: compacts to `last.revision` if nobody else had a round since `last`. Answers the state to hand to the next round. */
async function compactRound(store: Store, last: Round): Promise<Round> {
  const { succeeded, revision, responses } = await store.txn({
    compare: [{ key: compactRevisionKey, target: 'version', result: '=', value: last.count }],
    success: [{ op: 'put', key: compactRevisionKey, value: Buffer.from(String(last.revision)) }],
    failure: [{ op: 'range', request: { key: compactRevisionKey } }],
  });
  if (!succeeded) {
    const [found] = responses;
    const count = found?.op === 'range' ? (found.response.kvs[0]?.version ?? 0) : 0;
    return { count, revision };
  }
  if (last.revision > 0) {
    await store.compact(last.revision).catch((error: unknown) => {
      // Somebody else was faster: what had to be forgotten is.
      if (!(error instanceof CompactedError)) throw error;
    });
  }
  return { count: last.count + 1, revision };
}
