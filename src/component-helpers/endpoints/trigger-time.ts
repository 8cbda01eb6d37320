// When what changed a Service's endpoints happened, for measuring how long programming the network takes
// (k8s.io/endpointslice/util TriggerTimeTracker). Upstream remembers what it saw; here the objects themselves tell.
import type { Pod, Service } from '#api/core/v1';
import { formatTime, type KubeObject } from '#apimachinery/meta';
import { podReadyCondition } from '../workload/index.ts';
import { lastChangeTriggerTime } from './service-pods.ts';

const timeOf = (text: string | null | undefined): number => Date.parse(text ?? '');

/** When the objects were last written. */
function writtenMs(objects: readonly KubeObject[]): number {
  const times = objects.flatMap(({ metadata }) => [
    timeOf(metadata.annotations?.[lastChangeTriggerTime]),
    timeOf(metadata.creationTimestamp),
    ...(metadata.managedFields ?? []).map(({ time }) => timeOf(time)),
  ]);
  return Math.max(...times.filter((time) => !Number.isNaN(time)));
}

/** The first change since `written` were; the Service's creation when there are none; undefined when no change is known. */
export function triggerTime(service: Service, pods: readonly Pod[], written: readonly KubeObject[]): string | undefined {
  if (written.length === 0) return service.metadata.creationTimestamp;
  const since = writtenMs(written);
  const changes = pods.map((pod) => timeOf(podReadyCondition(pod)?.lastTransitionTime)).filter((time) => time > since);
  return changes.length > 0 ? formatTime(Math.min(...changes)) : undefined;
}
