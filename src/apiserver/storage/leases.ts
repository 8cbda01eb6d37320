// Leases for objects that are to disappear by themselves, as events do (k8s.io/apiserver/pkg/storage/etcd3, lease manager): many objects share
// one lease, so that a burst of events costs a handful of leases.
import type { Store } from '#store';
import { leaseObjectsMax, leaseReuseSeconds } from '../limits.ts';

export function leaseSource(store: Store, now: () => number, ttlSeconds: number): () => Promise<number> {
  let current: Promise<number> | undefined;
  let since = 0;
  let used = 0;
  return () => {
    if (!current || used >= leaseObjectsMax || now() - since > leaseReuseSeconds * 1000) {
      since = now();
      used = 0;
      const granted = store.leaseGrant(ttlSeconds + leaseReuseSeconds).then(({ id }) => id);
      granted.catch(() => {
        if (current === granted) current = undefined;
      });
      current = granted;
    }
    used++;
    return current;
  };
}
