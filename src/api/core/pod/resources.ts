// What a pod's containers ask for together (k8s.io/component-helpers/resource, AggregateContainerRequests and AggregateContainerLimits).
import type { PodSpec } from '#api/core/v1';
import { addResources, maxResources, type ResourceList } from '../../common/quantities.ts';
import { isSidecar } from './containers.ts';

/** The sum over containers and sidecars, or what the largest init container needs beside the sidecars before it, whichever is more. */
export function aggregateResources(
  spec: Pick<PodSpec, 'containers' | 'initContainers'>,
  kind: 'requests' | 'limits',
): ResourceList {
  const total: ResourceList = {};
  for (const container of spec.containers ?? []) addResources(total, container.resources?.[kind]);
  const sidecars: ResourceList = {};
  const largest: ResourceList = {};
  for (const container of spec.initContainers ?? []) {
    const own = container.resources?.[kind];
    if (isSidecar(container)) {
      addResources(total, own);
      addResources(sidecars, own);
      maxResources(largest, sidecars);
    } else {
      const together = { ...own };
      addResources(together, sidecars);
      maxResources(largest, together);
    }
  }
  maxResources(total, largest);
  return total;
}
