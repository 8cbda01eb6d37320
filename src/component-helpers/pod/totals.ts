// A pod's requests or limits as admission counts them: without overhead (`podRequests` and `podLimits` add it).
import type { Pod } from '#api/core/v1';
import type { Quantity } from '#apimachinery/quantity';
import { podLimits, podRequests } from './requests.ts';

/** What containers, sidecars and init steps need at most; pod-level values win. */
export function podTotals(pod: Pod, kind: 'requests' | 'limits'): Map<string, Quantity> {
  const { overhead: _, ...spec } = pod.spec ?? { containers: [] };
  const bare: Pod = { ...pod, spec };
  return kind === 'requests' ? podRequests(bare) : podLimits(bare);
}
