// A bound on requests answered at once (k8s.io/apiserver/pkg/server/filters, maxinflight). Long-running ones do not count.
import { StatusError } from '#apimachinery/errors';
import type { UserInfo } from '../contracts.ts';
import { reservedSeatsShare, retryAfterSeconds } from '../limits.ts';

export interface InFlight {
  /** Takes a place, or throws 429. The result gives it back; it may be called more than once. */
  enter(mutating: boolean, user?: UserInfo): () => void;
  count(mutating: boolean): number;
}

const controlPlaneUsers = new Set(['system:kube-controller-manager', 'system:kube-scheduler']);
const controlPlaneGroups = new Set(['system:nodes', 'system:serviceaccounts:kube-system']);

/** Whom the cluster cannot do without (those of the suggested flow schemas system-nodes, kube-controller-manager, kube-scheduler, kube-system-service-accounts). */
const keepsTheClusterAlive = ({ name, groups = [] }: UserInfo): boolean =>
  controlPlaneUsers.has(name) || groups.some((group) => controlPlaneGroups.has(group));

/** 0 as a bound: none. */
export function boundInFlight(readOnlyMax: number, mutatingMax: number): InFlight {
  const counts = { readOnly: 0, mutating: 0 };
  return {
    enter(mutating, user) {
      const kind = mutating ? 'mutating' : 'readOnly';
      const max = mutating ? mutatingMax : readOnlyMax;
      const reserved = user && keepsTheClusterAlive(user) ? Math.ceil(max * reservedSeatsShare) : 0;
      if (max > 0 && counts[kind] >= max + reserved) {
        // Administrators must be able to mend whatever fills the server, so they pass uncounted.
        if (user?.groups?.includes('system:masters')) return () => {};
        throw new StatusError({
          code: 429,
          reason: 'TooManyRequests',
          message: 'Too many requests, please try again later.',
          details: { retryAfterSeconds },
        });
      }
      counts[kind]++;
      let left = false;
      return () => {
        if (left) return;
        left = true;
        counts[kind]--;
      };
    },
    count: (mutating) => counts[mutating ? 'mutating' : 'readOnly'],
  };
}
