// The pods of a StatefulSet: their identity, storage and revision (pkg/controller/statefulset).
import type { ControllerRevision, StatefulSet, StatefulSetSpec } from '#api/apps/v1';
import type { Pod } from '#api/core/v1';
import type { Effect, EffectEvents } from '#controller-runtime';
import { newPod, pods, revisionHashLabel, templateOf, typed } from '#controller-runtime/workload';
import { claimName, withClaimVolumes } from './claims.ts';
import { podIndexLabel, podName, podNameLabel, startOrdinal } from './kind.ts';
import type { Revisions } from './revisions.ts';

export const revisionOfPod = ({ metadata }: Pod): string | undefined => metadata.labels?.[revisionHashLabel];

/** Below the partition pods keep the current revision. */
function revisionFor(
  set: StatefulSet,
  spec: StatefulSetSpec,
  { current, update }: Revisions,
  ordinal: number,
): ControllerRevision {
  if (spec.updateStrategy?.type !== 'RollingUpdate') return update;
  const { rollingUpdate } = spec.updateStrategy;
  const kept = rollingUpdate ? (rollingUpdate.partition ?? 0) : (set.status?.currentReplicas ?? 0);
  return ordinal < startOrdinal(spec) + kept ? current : update;
}

/** A pod that is to be made. */
export function podFor(set: StatefulSet, spec: StatefulSetSpec, revisions: Revisions, ordinal: number): Pod {
  const revision = revisionFor(set, spec, revisions, ordinal);
  const pod = newPod(templateOf(revision) ?? spec.template, set);
  const name = podName(set, ordinal);
  const { generateName: _, ...metadata } = pod.metadata;
  const volumes = withClaimVolumes(pod.spec?.volumes, set, ordinal);
  return {
    ...pod,
    metadata: {
      ...metadata,
      name,
      labels: { ...metadata.labels, ...identity(name, ordinal), [revisionHashLabel]: revision.metadata.name ?? '' },
    },
    spec: {
      containers: [],
      ...pod.spec,
      hostname: name,
      ...(spec.serviceName && { subdomain: spec.serviceName }),
      ...(volumes.length > 0 && { volumes }),
    },
  };
}

const identity = (name: string, ordinal: number): Record<string, string> => ({
  [podNameLabel]: name,
  [podIndexLabel]: String(ordinal),
});

const storageMatches = (set: StatefulSet, { spec }: Pod, ordinal: number): boolean =>
  (set.spec?.volumeClaimTemplates ?? []).every((template) =>
    spec?.volumes?.some(
      ({ name, persistentVolumeClaim }) =>
        name === template.metadata.name && persistentVolumeClaim?.claimName === claimName(template, set, ordinal),
    ),
  );

const events = (set: StatefulSet, verb: 'Create' | 'Update' | 'Delete', pod: string): EffectEvents => {
  const message = `${verb} Pod ${pod} in StatefulSet ${set.metadata.name ?? ''}`;
  return {
    regarding: set,
    success: { reason: `Successful${verb}`, message: `${message} successful` },
    failure: { reason: `Failed${verb}`, message: `${message} failed error: {error}` },
  };
};

export const createPod = (set: StatefulSet, pod: Pod): Effect => ({
  op: 'create',
  resource: pods,
  object: pod,
  events: events(set, 'Create', pod.metadata.name ?? ''),
});

export const deletePod = (set: StatefulSet, { metadata }: Pod): Effect => ({
  op: 'delete',
  ref: { resource: pods, namespace: metadata.namespace ?? '', name: metadata.name ?? '' },
  events: events(set, 'Delete', metadata.name ?? ''),
});

/** A pod whose labels or volumes are not those of its ordinal is put right. */
export function correctPod(set: StatefulSet, pod: Pod, ordinal: number): Effect[] {
  const name = podName(set, ordinal);
  const identified = pod.metadata.labels?.[podNameLabel] === name;
  const stored = storageMatches(set, pod, ordinal);
  if (identified && stored) return [];
  const object: Pod = {
    ...typed(pod, 'v1', 'Pod'),
    metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...identity(name, ordinal) } },
    ...(pod.spec && { spec: stored ? pod.spec : { ...pod.spec, volumes: withClaimVolumes(pod.spec.volumes, set, ordinal) } }),
  };
  return [{ op: 'update', resource: pods, object, events: events(set, 'Update', name) }];
}
