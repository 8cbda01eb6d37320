// What the loop looks at to decide about one autoscaler.
import type { HorizontalPodAutoscaler } from '#api/autoscaling/v2';
import type { Pod } from '#api/core/v1';
import type { DiscoveredResource } from '#controller-runtime';
import type { History } from './limits.ts';

export type Hpa = HorizontalPodAutoscaler;

export interface AutoscalerView {
  hpa: Hpa | undefined;
  /** The pods of the namespace. */
  pods: readonly Pod[];
  discovered: readonly DiscoveredResource[];
  history: History | undefined;
}
