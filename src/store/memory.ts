// A store without a disk: the default of tests and of clusters that need not outlive their process.
import { systemClock } from '#host';
import type { Clock, Logger } from '#utils';
import { silentLogger } from '#utils';
import { MvccStore } from './mvcc/mvcc-store.ts';
import { contentsOf } from './snapshot/contents.ts';
import type { EmbeddedStore, StoreSnapshot } from './types.ts';

export interface MemoryStoreOptions {
  /** Drives lease expiry. Default: the machine's clock. */
  clock?: Clock;
  logger?: Logger;
  /** Begin with this state (restore, fork). Buffers are shared with it. */
  snapshot?: StoreSnapshot;
}

export function openMemoryStore(options: MemoryStoreOptions = {}): EmbeddedStore {
  const { clock = systemClock(), logger = silentLogger, snapshot } = options;
  return new MvccStore({ kind: 'memory', contents: contentsOf(snapshot), clock, logger });
}
