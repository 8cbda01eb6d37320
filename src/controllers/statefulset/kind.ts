// What StatefulSets own, and the names and labels of their pods (pkg/controller/statefulset/stateful_set_utils.go).
import type { StatefulSet, StatefulSetSpec } from '#api/apps/v1';
import type { Pod } from '#api/core/v1';
import { workloadSelector } from '#component-helpers/workload';
import { type OwnerKind, statefulSets } from '#controller-runtime/workload';
import { podsPerPassMax } from './limits.ts';

export const podNameLabel = 'statefulset.kubernetes.io/pod-name';
export const podIndexLabel = 'apps.kubernetes.io/pod-index';
export const revisionNameLabel = 'controller.kubernetes.io/hash';

export const statefulSetKind: OwnerKind<StatefulSet> = {
  kind: 'StatefulSet',
  apiVersion: 'apps/v1',
  resource: statefulSets,
  selector: ({ spec }) => workloadSelector(spec?.selector),
};

export const podName = (set: StatefulSet, ordinal: number): string => `${set.metadata.name ?? ''}-${ordinal}`;

/** The number at the end of the pod's name; undefined when it is not a name this set gives. */
export function ordinalOf(set: StatefulSet, { metadata }: Pod): number | undefined {
  const match = /^(.*)-(\d{1,10})$/.exec(metadata.name ?? '');
  const ordinal = match?.[1] === set.metadata.name ? Number(match?.[2]) : Number.NaN;
  return ordinal <= 2 ** 31 - 1 ? ordinal : undefined;
}

export const startOrdinal = ({ ordinals }: StatefulSetSpec): number => ordinals?.start ?? 0;
export const replicasOf = ({ replicas }: StatefulSetSpec): number => replicas ?? 1;

export const inRange = (spec: StatefulSetSpec, ordinal: number): boolean =>
  ordinal >= startOrdinal(spec) && ordinal < startOrdinal(spec) + replicasOf(spec);

export const isParallel = ({ podManagementPolicy }: StatefulSetSpec): boolean => podManagementPolicy === 'Parallel';

/** The wanted ordinals that one pass looks at, upwards: those that are there, and of the others as many as a pass may make. */
export function* ordinalsOfPass(spec: StatefulSetSpec, isThere: (ordinal: number) => boolean): Iterable<number> {
  const end = startOrdinal(spec) + replicasOf(spec);
  let missing = isParallel(spec) ? podsPerPassMax : 1;
  for (let ordinal = startOrdinal(spec); ordinal < end && missing > 0; ordinal++) {
    if (!isThere(ordinal)) missing--;
    yield ordinal;
  }
}
