// The Endpoints object of one Service (pkg/controller/endpoint). Pure.
import type { Endpoints, EndpointSubset, Pod, Service } from '#api/core/v1';
import { headlessLabel, isHeadlessService, lastChangeTriggerTime, selectsPods, triggerTime } from '#component-helpers/endpoints';
import { sortedJson } from '#apimachinery/codec';
import type { Effect, Plan } from '#controller-runtime';
import { endpoints as resource } from '#controller-runtime/workload';
import { deepEqual } from '#utils';
import { subsetsOf, truncated } from './subsets.ts';

export const managedByLabel = 'endpoints.kubernetes.io/managed-by';
export const managerName = 'endpoint-controller';
const overCapacity = 'endpoints.kubernetes.io/over-capacity';

export interface EndpointsView {
  namespace: string;
  name: string;
  /** Undefined: it is gone. */
  service: Service | undefined;
  pods: readonly Pod[];
  current: Endpoints | undefined;
}

export function reconcile({ namespace, name, service, pods, current }: EndpointsView): Plan {
  if (!service) {
    if (!current) return { effects: [] };
    return {
      effects: [{ op: 'delete', ref: { resource, namespace, name } }],
      because: `Service ${name} is gone, and its Endpoints go too.`,
    };
  }
  if (!selectsPods(service)) return { effects: [] };
  const whole = subsetsOf(service, pods);
  const cut = truncated(whole);
  const subsets = cut ?? whole;
  const labels = labelsOf(service);
  if (current && !cut && isCurrent(current, subsets, labels))
    return { effects: [], because: `The Endpoints of Service ${name} list its pods as they are: nothing to do.` };
  const { [overCapacity]: _over, [lastChangeTriggerTime]: _time, ...annotations } = current?.metadata.annotations ?? {};
  const trigger = triggerTime(service, pods, current ? [current] : []);
  if (trigger !== undefined) annotations[lastChangeTriggerTime] = trigger;
  if (cut) annotations[overCapacity] = 'truncated';
  if (
    current &&
    cut &&
    sameSubsets(current.subsets, subsets) &&
    current.metadata.annotations?.[overCapacity] === 'truncated' &&
    deepEqual(labels, current.metadata.labels)
  )
    return { effects: [], because: `Service ${name} has more pods than Endpoints can list.` };
  const object: Endpoints = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { ...(current?.metadata ?? { name, namespace }), labels, annotations },
    ...(subsets.length > 0 && { subsets }),
  };
  return {
    effects: [write(object, current !== undefined)],
    because: `The pods behind Service ${name} changed, and its Endpoints follow.`,
  };
}

function write(object: Endpoints, exists: boolean): Effect {
  const { namespace, name } = object.metadata;
  const failure = exists
    ? { reason: 'FailedToUpdateEndpoint', message: `Failed to update endpoint ${namespace}/${name}: {error}` }
    : { reason: 'FailedToCreateEndpoint', message: `Failed to create endpoint for service ${namespace}/${name}: {error}` };
  return { op: exists ? 'update' : 'create', resource, object, events: { regarding: object, failure } };
}

function isCurrent({ metadata, subsets }: Endpoints, wanted: readonly EndpointSubset[], labels: Record<string, string>): boolean {
  return (
    sameSubsets(subsets, wanted) && deepEqual(labels, metadata.labels ?? {}) && metadata.annotations?.[overCapacity] === undefined
  );
}

/** Whether the subsets are the same in any order, apart from the versions of pods that they name. */
function sameSubsets(a: readonly EndpointSubset[] | undefined, b: readonly EndpointSubset[]): boolean {
  const known = a ?? [];
  const sorted = (subsets: readonly EndpointSubset[]): string[] => subsets.map((subset) => sortedJson(subset)).sort();
  return known.length === b.length && deepEqual(sorted(known), sorted(b));
}

const labelsOf = (service: Service): Record<string, string> => {
  const { [headlessLabel]: _, ...own } = service.metadata.labels ?? {};
  return { ...own, ...(isHeadlessService(service) && { [headlessLabel]: '' }), [managedByLabel]: managerName };
};
