// Beginning a store from a snapshot: restore after a loss, or fork a running cluster.
import type { StoreContents } from '../mvcc/log.ts';
import { emptyContents } from '../mvcc/log.ts';
import type { StoreSnapshot } from '../types.ts';

/**
 * The contents of a store that begins where `snapshot` was taken: same keys and revisions, no history before it, so everything below
 * its revision counts as compacted. Without a snapshot: an empty store.
 */
export function contentsOf(snapshot: StoreSnapshot | undefined): StoreContents {
  if (!snapshot) return emptyContents;
  const { revision } = snapshot;
  const kvs = [...snapshot.kvs].sort((a, b) => a.modRevision - b.modRevision);
  const subs = new Map<number, number>();
  const changes = kvs.map((kv) => {
    const sub = subs.get(kv.modRevision) ?? 0;
    subs.set(kv.modRevision, sub + 1);
    return { kv, deleted: false, sub };
  });
  return { revision, compactedRevision: revision, historyStart: revision + 1, changes, leases: snapshot.leases ?? [] };
}
