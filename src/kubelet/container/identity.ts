// How pods are named to the runtime. Pure.
import type { Pod } from '#api/core/v1';

export const identity = (pod: Pod): { uid: string; namespace: string; name: string } => ({
  uid: pod.metadata.uid ?? '',
  namespace: pod.metadata.namespace ?? '',
  name: pod.metadata.name ?? '',
});
