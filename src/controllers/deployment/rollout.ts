// The working copy one reconcile of a Deployment acts on: ReplicaSets with the size and annotations they are to get, and the status to
// be written. Steps change it; at the end it turns into effects.
import type { Deployment, DeploymentCondition, DeploymentSpec, DeploymentStatus, ReplicaSet } from '#api/apps/v1';
import { scaledValue } from '#apimachinery/intstr';
import { deepEqual } from '#utils';
import { desiredReplicasAnnotation, hashLabel, maxReplicasAnnotation } from './names.ts';

/** A ReplicaSet and what becomes of it. */
export interface Draft {
  readonly source: ReplicaSet;
  /** Not there yet. */
  readonly fresh: boolean;
  replicas: number;
  annotations: Record<string, string>;
  minReadySeconds: number;
}

export interface Rollout {
  readonly deployment: Deployment;
  readonly spec: DeploymentSpec;
  readonly replicas: number;
  readonly maxSurge: number;
  readonly maxUnavailable: number;
  readonly now: number;
  /** The ReplicaSet of the current template. */
  newest: Draft | undefined;
  /** All others, oldest first. */
  readonly older: Draft[];
  /** Annotations the Deployment is to have. */
  annotations: Record<string, string>;
  /** Status as stored, with the conditions and collision count that steps changed. */
  status: DeploymentStatus;
  /** ReplicaSets to delete. */
  readonly doomed: Draft[];
  /** Sentences about what was done, for `because`. */
  readonly told: string[];
}

export const draftOf = (source: ReplicaSet): Draft => ({
  source,
  fresh: false,
  replicas: source.spec?.replicas ?? 1,
  annotations: source.metadata.annotations ?? {},
  minReadySeconds: source.spec?.minReadySeconds ?? 0,
});

export function isDraftChanged({ source, fresh, replicas, annotations, minReadySeconds }: Draft): boolean {
  const before = draftOf(source);
  return (
    fresh ||
    replicas !== before.replicas ||
    minReadySeconds !== before.minReadySeconds ||
    (annotations !== before.annotations && !deepEqual(annotations, before.annotations))
  );
}

const timeOf = ({ source }: Draft): number => Date.parse(source.metadata.creationTimestamp ?? '') || Number.MAX_SAFE_INTEGER;

/** Sorts the oldest first, and by name within one second. */
export const byCreation = (a: Draft, b: Draft): number =>
  timeOf(a) - timeOf(b) || ((a.source.metadata.name ?? '') < (b.source.metadata.name ?? '') ? -1 : 1);

export const isActive = ({ replicas }: Draft): boolean => replicas > 0;

export const allDrafts = ({ newest, older }: Rollout): Draft[] => (newest ? [...older, newest] : older);

export const sum = (drafts: readonly Draft[], count: (draft: Draft) => number): number =>
  drafts.reduce((total, draft) => total + count(draft), 0);

export const specReplicas = ({ replicas }: Draft): number => replicas;
export const actualReplicas = ({ source }: Draft): number => source.status?.replicas ?? 0;
export const availableReplicas = ({ source }: Draft): number => source.status?.availableReplicas ?? 0;

export const isRollingUpdate = (spec: DeploymentSpec): boolean => spec.strategy?.type === 'RollingUpdate';

/** How far a rolling update may go over and under: both 0 would never move, so then one may be missing. */
export function fenceposts(spec: DeploymentSpec): { maxSurge: number; maxUnavailable: number } {
  if (!isRollingUpdate(spec)) return { maxSurge: 0, maxUnavailable: 0 };
  const replicas = spec.replicas ?? 1;
  const { maxSurge: over = 0, maxUnavailable: under = 0 } = spec.strategy?.rollingUpdate ?? {};
  const maxSurge = scaledValue(over, replicas, true);
  const missing = scaledValue(under, replicas, false);
  const maxUnavailable = maxSurge === 0 && missing === 0 ? 1 : missing;
  return { maxSurge, maxUnavailable: Math.min(maxUnavailable, replicas) };
}

/** Size and the annotations that remember for which Deployment size it was. */
export function resize(rollout: Rollout, draft: Draft, replicas: number): boolean {
  const changes = draft.replicas !== replicas;
  draft.replicas = replicas;
  draft.annotations = withReplicasAnnotations(rollout, draft.annotations);
  return changes;
}

export const withReplicasAnnotations = (
  { replicas, maxSurge }: Rollout,
  annotations: Record<string, string>,
): Record<string, string> => ({
  ...annotations,
  [desiredReplicasAnnotation]: String(replicas),
  [maxReplicasAnnotation]: String(replicas + maxSurge),
});

/** The annotation as a count; undefined where it is missing or none. */
export function annotatedCount({ annotations }: Draft, name: string): number | undefined {
  const text = annotations[name];
  const count = text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
  return count !== undefined && count <= 2 ** 31 - 1 ? count : undefined;
}

/** Whether the pod templates are equal, apart from the label with their hash. */
export function sameTemplate(a: ReplicaSet, deployment: Deployment): boolean {
  return deepEqual(withoutHash(a.spec?.template), withoutHash(deployment.spec?.template));
}

function withoutHash(template: NonNullable<ReplicaSet['spec']>['template']): unknown {
  const labels = template?.metadata?.labels;
  if (!labels || !Object.hasOwn(labels, hashLabel)) return template;
  const { [hashLabel]: _, ...rest } = labels;
  return { ...template, metadata: { ...template.metadata, labels: rest } };
}

export const progressingOf = (status: DeploymentStatus): DeploymentCondition | undefined =>
  status.conditions?.find(({ type }) => type === 'Progressing');
