// The ReplicaSet of the current template: its revision, its annotations, and making it (pkg/controller/deployment/sync.go).
import type { Deployment, ReplicaSet } from '#api/apps/v1';
import type { ViewContext } from '#controller-runtime';
import { controllerRef } from '#controller-runtime';
import { stableHash } from '#component-helpers/workload';
import { parseGoInt } from '#utils';
import { hasProgressDeadline, progress } from './conditions.ts';
import {
  hashLabel,
  privateAnnotations,
  reasons,
  revisionAnnotation,
  revisionHistoryAnnotation,
  revisionHistoryCharsMax,
} from './names.ts';
import {
  allDrafts,
  type Draft,
  progressingOf,
  type Rollout,
  sameTemplate,
  specReplicas,
  sum,
  withReplicasAnnotations,
} from './rollout.ts';

const nameMax = 253;

export const templateHash = ({ spec, status }: Deployment): string => stableHash(spec?.template, status?.collisionCount);

/** The name of the ReplicaSet for the Deployment's current template. */
export function replicaSetName(deployment: Deployment): string {
  const hash = templateHash(deployment);
  return `${(deployment.metadata.name ?? '').slice(0, nameMax - 1 - hash.length)}-${hash}`;
}

/** The revision of a ReplicaSet, an int64, which a number cannot hold; 0 when it has none. */
export const revisionOf = ({ annotations }: { annotations?: Record<string, string> }): bigint =>
  parseGoInt(annotations?.[revisionAnnotation] ?? '', 64) ?? 0n;

export function byRevision(a: Draft, b: Draft): number {
  const difference = revisionOf(a) - revisionOf(b);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Behind the last int64 comes the first, as upstream counts. */
const nextRevision = (rollout: Rollout): bigint =>
  BigInt.asIntN(64, rollout.older.map(revisionOf).reduce((a, b) => (a > b ? a : b), 0n) + 1n);

/** Annotations of the newest ReplicaSet: the Deployment's, its revision, and the revisions it had before. */
function annotated(deployment: Deployment, before: Record<string, string>, revision: bigint): Record<string, string> {
  const annotations = { ...before };
  for (const [name, value] of Object.entries(deployment.metadata.annotations ?? {})) {
    if (!privateAnnotations.has(name)) annotations[name] = value;
  }
  const old = before[revisionAnnotation];
  const oldRevision = old ? parseGoInt(old, 64) : 0n;
  if (oldRevision === undefined || oldRevision >= revision) return annotations;
  annotations[revisionAnnotation] = String(revision);
  if (old !== undefined) annotations[revisionHistoryAnnotation] = withRevision(before[revisionHistoryAnnotation], old);
  return annotations;
}

/** History with one more revision; the oldest go when it gets too long. */
function withRevision(history: string | undefined, revision: string): string {
  const revisions = history ? history.split(',') : [];
  revisions.push(revision);
  while (revisions.length > 1 && revisions.join(',').length > revisionHistoryCharsMax) revisions.shift();
  return revisions.join(',');
}

/** Brings revision and annotations of the newest ReplicaSet, and of the Deployment, up to date. */
export function syncRevision(rollout: Rollout): void {
  const { newest, deployment, spec } = rollout;
  if (!newest) return;
  newest.annotations = annotated(deployment, newest.annotations, nextRevision(rollout));
  newest.minReadySeconds = spec.minReadySeconds ?? 0;
  rollout.annotations = { ...rollout.annotations, [revisionAnnotation]: newest.annotations[revisionAnnotation] ?? '' };
  if (!hasProgressDeadline(rollout)) return;
  const current = progressingOf(rollout.status);
  const name = JSON.stringify(newest.source.metadata.name);
  if (!current) progress(rollout, 'True', reasons.found, `Found new replica set ${name}`);
  else if (current.reason === reasons.createFailed) progress(rollout, 'True', reasons.created, `Created new replica set ${name}`);
}

/** How many pods the newest ReplicaSet may have now. */
export function newReplicas(rollout: Rollout, current: number): number {
  const { spec, replicas, maxSurge } = rollout;
  if (spec.strategy?.type !== 'RollingUpdate') return replicas;
  const total = sum(allDrafts(rollout), specReplicas);
  const room = replicas + maxSurge - total;
  return room <= 0 ? current : current + Math.min(room, replicas - current);
}

/** Adds the ReplicaSet of the current template, unless its name is taken: then a new hash is tried next. */
export function createNewest(rollout: Rollout, holder: ReplicaSet | undefined, { lastFailure }: ViewContext): void {
  if (holder && !isOwn(rollout.deployment, holder)) {
    rollout.status.collisionCount = (rollout.status.collisionCount ?? 0) + 1;
    rollout.told.push('the name of its new ReplicaSet is taken, so another hash is tried');
    return;
  }
  const source = newReplicaSet(rollout.deployment);
  const draft: Draft = { source, fresh: true, replicas: 0, annotations: {}, minReadySeconds: rollout.spec.minReadySeconds ?? 0 };
  draft.replicas = newReplicas(rollout, 0);
  const revision = nextRevision(rollout);
  draft.annotations = withReplicasAnnotations(rollout, annotated(rollout.deployment, {}, revision));
  rollout.newest = draft;
  rollout.annotations = { ...rollout.annotations, [revisionAnnotation]: String(revision) };
  rollout.told.push(`its template is new, so ReplicaSet ${source.metadata.name ?? ''} is made for it`);
  if (!hasProgressDeadline(rollout)) return;
  const name = JSON.stringify(source.metadata.name);
  if (lastFailure?.op === 'create' && lastFailure.reason !== 'AlreadyExists')
    progress(rollout, 'False', reasons.createFailed, `Failed to create new replica set ${name}: ${lastFailure.message}`);
  else progress(rollout, 'True', reasons.created, `Created new replica set ${name}`);
}

const isOwn = (deployment: Deployment, holder: ReplicaSet): boolean =>
  holder.metadata.ownerReferences?.some(({ controller, uid }) => controller && uid === deployment.metadata.uid) === true &&
  sameTemplate(holder, deployment);

function newReplicaSet(deployment: Deployment): ReplicaSet {
  const { spec } = deployment;
  const hash = templateHash(deployment);
  const labels = { ...spec?.template.metadata?.labels, [hashLabel]: hash };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: replicaSetName(deployment),
      namespace: deployment.metadata.namespace,
      labels,
      ownerReferences: [controllerRef(deployment, 'apps', 'v1', 'Deployment')],
    },
    spec: {
      selector: { ...spec?.selector, matchLabels: { ...spec?.selector.matchLabels, [hashLabel]: hash } },
      template: { ...spec?.template, metadata: { ...spec?.template.metadata, labels } },
    },
  };
}
