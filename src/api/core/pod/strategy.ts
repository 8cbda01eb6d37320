// What happens to a pod on its way into the store (pkg/registry/core/pod, strategy.go).
import type * as core from '#api/core/v1';
import { formatTime } from '#apimachinery/meta';
import { firstOfEach, own } from '#utils';
import type { KindContext } from '../../kind.ts';
import { alignPodIPs, alignServiceAccount } from './defaults.ts';
import { applyAppArmorAnnotations } from './apparmor.ts';
import { dropDisabledPodFields, dropDisabledPodStatus } from './drop.ts';
import { qosOf } from './qos.ts';

export function prepareForCreate(pod: core.Pod, context: KindContext): void {
  const spec = (pod.spec ??= { containers: [] });
  alignServiceAccount(spec);
  pod.status = { phase: 'Pending', qosClass: qosOf(pod) };
  dropDisabledPodFields(spec, undefined);
  if (spec.schedulingGates?.length) {
    pod.status.conditions = [
      {
        type: 'PodScheduled',
        status: 'False',
        lastTransitionTime: formatTime(context.now),
        reason: 'SchedulingGated',
        message: 'Scheduling is blocked due to non-empty scheduling gates',
      },
    ];
  }
  mergeLabelKeys(pod);
  applyAppArmorAnnotations(pod);
}

/** Labels of the pod named by key become requirements of the selectors (KEP-3633, KEP-3243). */
function mergeLabelKeys({ metadata, spec }: core.Pod): void {
  for (const side of [spec?.affinity?.podAffinity, spec?.affinity?.podAntiAffinity]) {
    const weighted = (side?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm);
    for (const term of [...weighted, ...(side?.requiredDuringSchedulingIgnoredDuringExecution ?? [])]) {
      addRequirements(term, term.matchLabelKeys, 'In', metadata.labels);
      addRequirements(term, term.mismatchLabelKeys, 'NotIn', metadata.labels);
    }
  }
  for (const constraint of spec?.topologySpreadConstraints ?? [])
    addRequirements(constraint, constraint.matchLabelKeys, 'In', metadata.labels);
}

function addRequirements(
  { labelSelector }: Pick<core.PodAffinityTerm, 'labelSelector'>,
  keys: string[] | undefined,
  operator: string,
  labels: Record<string, string> | undefined,
): void {
  if (!labelSelector) return;
  for (const key of keys ?? []) {
    const value = own(labels ?? {}, key);
    if (value !== undefined) (labelSelector.matchExpressions ??= []).push({ key, operator, values: [value] });
  }
}

export function prepareForUpdate(pod: core.Pod, old: core.Pod): void {
  pod.status = old.status;
  if (pod.spec) {
    alignServiceAccount(pod.spec);
    dropDisabledPodFields(pod.spec, old.spec);
  }
}

export function prepareForStatusUpdate(pod: core.Pod, old: core.Pod): void {
  pod.spec = old.spec;
  const { metadata } = pod;
  if (old.metadata.deletionTimestamp === undefined) delete metadata.deletionTimestamp;
  if (old.metadata.ownerReferences) metadata.ownerReferences = old.metadata.ownerReferences;
  else delete metadata.ownerReferences;
  const status = (pod.status ??= {});
  if (!status.qosClass && old.status?.qosClass) status.qosClass = old.status.qosClass;
  if (!status.observedGeneration && old.status?.observedGeneration) status.observedGeneration = old.status.observedGeneration;
  const conditions = firstOfEach(old.status?.conditions ?? [], ({ type }) => type);
  for (const condition of status.conditions ?? []) {
    const before = conditions.get(condition.type);
    if (!condition.observedGeneration && before?.observedGeneration) condition.observedGeneration = before.observedGeneration;
  }
  alignPodIPs(status);
  dropDisabledPodStatus(status, old.status);
}

// The doors change one part of the spec: everything else is as it was, the metadata too but for labels and annotations' owners.
function keepOthers(pod: core.Pod, old: core.Pod): void {
  pod.status = old.status;
  const { managedFields, resourceVersion } = pod.metadata;
  pod.metadata = {
    ...old.metadata,
    ...(managedFields && { managedFields }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}

export function prepareForEphemeralContainers(pod: core.Pod, old: core.Pod): void {
  const ephemeralContainers = pod.spec?.ephemeralContainers;
  pod.spec = { ...(old.spec ?? { containers: [] }) };
  if (ephemeralContainers) pod.spec.ephemeralContainers = ephemeralContainers;
  else delete pod.spec.ephemeralContainers;
  keepOthers(pod, old);
  dropDisabledPodFields(pod.spec, old.spec);
}

export function prepareForResize(pod: core.Pod, old: core.Pod): void {
  const now = pod.spec ?? { containers: [] };
  const was = old.spec ?? { containers: [] };
  const counted = (list: core.Container[] | undefined): number => list?.length ?? 0;
  if (counted(now.containers) === counted(was.containers) && counted(now.initContainers) === counted(was.initContainers)) {
    pod.spec = { ...was, containers: resized(now.containers, was.containers) };
    if (was.initContainers) pod.spec.initContainers = resized(now.initContainers ?? [], was.initContainers);
    if (now.resources) pod.spec.resources = now.resources;
    else delete pod.spec.resources;
    keepOthers(pod, old);
  }
  if (pod.spec) dropDisabledPodFields(pod.spec, old.spec);
}

function resized(containers: core.Container[], old: core.Container[]): core.Container[] {
  if (containers.some(({ name }, index) => name !== old[index]?.name)) return containers;
  return containers.map(({ resources, resizePolicy }, index) => {
    const { resources: _resources, resizePolicy: _policy, ...rest } = old[index] as core.Container;
    return { ...rest, ...(resources && { resources }), ...(resizePolicy && { resizePolicy }) };
  });
}

/** Seconds between the wish to delete and the end (RESTGracefulDeleteStrategy). Pods that run nowhere go at once. */
export function gracePeriodSeconds({ spec, status }: core.Pod, requested: number | undefined): number {
  if (!spec?.nodeName || status?.phase === 'Failed' || status?.phase === 'Succeeded') return 0;
  const period = requested ?? spec.terminationGracePeriodSeconds ?? 0;
  return period < 0 ? 1 : period;
}
