// What a store begins with when it is restored while clients of the time after the snapshot are still there. Their watches know revisions that the
// snapshot does not: the store goes on beyond all of them, with everything before it compacted, so that each of them is told to list anew instead of
// hearing nothing (etcd's `--bump-revision` and `--mark-compacted`). Pure.
import { restoreRevisions } from '../limits.ts';
import type { Change, LeaseGrant, StoreContents } from '../types.ts';

/**
 * The live keys of `contents`, unchanged, in a store whose revision nobody has seen. `known`: the newest revision that anybody can have seen; undefined:
 * that is not known, and far more than a cluster writes between two snapshots is skipped.
 */
export function aheadOf({ revision, changes, leases }: StoreContents, known: number | undefined): StoreContents {
  const next = known === undefined ? revision + restoreRevisions : Math.max(revision, known) + 1;
  return { revision: next, compactedRevision: next, historyStart: next + 1, changes: live(changes), leases: once(leases) };
}

/** The newest change of each key that is there, in order. A change without a key is etcd's mark of an earlier restore. */
function live(changes: Iterable<Change>): Change[] {
  const newest = new Map<string, Change>();
  for (const change of changes) newest.set(change.kv.key, change);
  const found = [...newest.values()].filter(({ kv, deleted }) => !deleted && kv.key !== '');
  found.sort((a, b) => a.kv.modRevision - b.kv.modRevision || a.sub - b.sub);
  const subs = new Map<number, number>();
  return found.map(({ kv }) => {
    const sub = subs.get(kv.modRevision) ?? 0;
    subs.set(kv.modRevision, sub + 1);
    return { kv, deleted: false, sub };
  });
}

/** Ids of etcd have more digits than numbers here: leases that cannot be told apart become the longest of them. */
function once(leases: Iterable<LeaseGrant>): LeaseGrant[] {
  const byId = new Map<number, LeaseGrant>();
  for (const lease of leases) if (lease.ttlSeconds > (byId.get(lease.id)?.ttlSeconds ?? 0)) byId.set(lease.id, lease);
  return [...byId.values()];
}
