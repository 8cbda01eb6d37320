// What a Deployment does next (pkg/controller/deployment syncDeployment). Pure.
import type { Deployment, DeploymentStatus, ReplicaSet } from '#api/apps/v1';
import type { Pod } from '#api/core/v1';
import type { Effect, Plan, ViewContext } from '#controller-runtime';
import { claimChildren, deployments, replicaSets, typed } from '#controller-runtime/workload';
import { deepEqual } from '#utils';
import { countedStatus, isComplete, notePause, progressCheckMs, rolloutStatus } from './conditions.ts';
import { deploymentKind } from './kind.ts';
import { reasons } from './names.ts';
import { createNewest, syncRevision } from './new-replica-set.ts';
import { rollBack } from './rollback.ts';
import { allDrafts, byCreation, type Draft, draftOf, fenceposts, isDraftChanged, type Rollout, sameTemplate } from './rollout.ts';
import { cleanUp, isScaling, scale } from './scale.ts';
import { fillNewest, oldPodsAreGone, rollingStep } from './strategies.ts';

export interface DeploymentView {
  /** Undefined: it is gone. */
  deployment: Deployment | undefined;
  /** ReplicaSets it owns, and the orphans of its namespace. */
  replicaSets: readonly ReplicaSet[];
  /** The ReplicaSet that already has the name which the next one would get; undefined when the name is free. */
  holder: ReplicaSet | undefined;
  /** Pods by the uid of their ReplicaSet; only for the strategy Recreate. */
  pods: ReadonlyMap<string, readonly Pod[]>;
  context: ViewContext;
}

export function reconcile(view: DeploymentView, now: number): Plan {
  if (!view.deployment?.spec) return { effects: [] };
  const deployment = typed(view.deployment, 'apps/v1', 'Deployment');
  if (Object.keys(view.deployment.spec.selector).length === 0) return selectsAll(deployment);
  const claimed = claimChildren({
    owner: deployment,
    kind: deploymentKind,
    children: view.replicaSets,
    resource: replicaSets,
    live: view.context.live,
  });
  if (claimed.needsLive.length > 0) return { effects: [], needsLive: claimed.needsLive };
  const rollout = rolloutOf(deployment, claimed.children, now);
  if (deployment.metadata.deletionTimestamp === undefined) {
    const rolledBack = rollBack(rollout);
    if (rolledBack) return { effects: [...claimed.effects, ...rolledBack] };
  }
  const status = step(rollout, view);
  const effects = [...claimed.effects, ...replicaSetEffects(rollout), ...statusEffects(rollout, status)];
  const requeueAfterMs = progressCheckMs(rollout, status);
  return { effects, ...(requeueAfterMs !== undefined && { requeueAfterMs }), because: explain(rollout) };
}

function selectsAll(deployment: Deployment): Plan {
  const { status, metadata } = deployment;
  const message = 'This deployment is selecting all pods. A non-empty selector is required.';
  const effects: Effect[] = [{ op: 'event', regarding: deployment, type: 'Warning', reason: 'SelectingAll', message }];
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) {
    const object: Deployment = { ...deployment, status: { ...status, observedGeneration: metadata.generation } };
    effects.push({ op: 'update', resource: deployments, object, subresource: 'status' });
  }
  return { effects, because: message };
}

function rolloutOf(deployment: Deployment, owned: readonly ReplicaSet[], now: number): Rollout {
  const { spec } = deployment;
  if (!spec) throw new Error('a Deployment without spec');
  const drafts = owned.map(draftOf).sort(byCreation);
  const newest = drafts.find(({ source }) => sameTemplate(source, deployment));
  return {
    deployment,
    spec,
    replicas: spec.replicas ?? 1,
    ...fenceposts(spec),
    now,
    newest,
    older: drafts.filter((draft) => draft !== newest),
    annotations: deployment.metadata.annotations ?? {},
    status: { ...deployment.status },
    doomed: [],
    told: [],
  };
}

/** Moves the working copy one step on; gives the status to write. */
function step(rollout: Rollout, view: DeploymentView): DeploymentStatus {
  const { spec, deployment } = rollout;
  const leaving = deployment.metadata.deletionTimestamp !== undefined;
  if (!leaving) notePause(rollout);
  syncRevision(rollout);
  if (leaving) return countedStatus(rollout);
  if (spec.paused || isScaling(rollout)) {
    scale(rollout);
    if (spec.paused) cleanUp(rollout);
    return countedStatus(rollout);
  }
  const settled = spec.strategy?.type === 'Recreate' ? recreate(rollout, view) : roll(rollout, view);
  if (settled && isComplete(rollout, deployment.status ?? {})) cleanUp(rollout);
  return rolloutStatus(rollout);
}

/** Whether nothing was left to resize. */
function roll(rollout: Rollout, view: DeploymentView): boolean {
  if (!rollout.newest) createNewest(rollout, view.holder, view.context);
  return rollout.newest !== undefined && !rollingStep(rollout);
}

function recreate(rollout: Rollout, view: DeploymentView): boolean {
  if (!oldPodsAreGone(rollout, view.pods)) return false;
  if (!rollout.newest) createNewest(rollout, view.holder, view.context);
  fillNewest(rollout);
  return true;
}

function replicaSetEffects(rollout: Rollout): Effect[] {
  const changed = allDrafts(rollout).filter(isDraftChanged);
  return [
    ...changed.map((draft) => writeDraft(rollout, draft)),
    ...rollout.doomed.map(
      ({ source }): Effect => ({
        op: 'delete',
        ref: { resource: replicaSets, namespace: source.metadata.namespace ?? '', name: source.metadata.name ?? '' },
      }),
    ),
  ];
}

function writeDraft({ deployment }: Rollout, draft: Draft): Effect {
  const { source, fresh, replicas, annotations, minReadySeconds } = draft;
  const object: ReplicaSet = {
    ...typed(source, 'apps/v1', 'ReplicaSet'),
    metadata: { ...source.metadata, annotations },
    spec: { ...source.spec, selector: source.spec?.selector ?? {}, replicas, minReadySeconds },
  };
  const before = fresh ? 0 : draftOf(source).replicas;
  const name = source.metadata.name ?? '';
  const message = `Scaled ${before < replicas ? 'up' : 'down'} replica set ${name} from ${before} to ${replicas}`;
  const success = before !== replicas ? { success: { reason: 'ScalingReplicaSet', message } } : {};
  const failed = { reason: reasons.createFailed, message: `Failed to create new replica set ${JSON.stringify(name)}: {error}` };
  return fresh
    ? { op: 'create', resource: replicaSets, object, events: { regarding: deployment, ...success, failure: failed } }
    : { op: 'update', resource: replicaSets, object, events: { regarding: deployment, ...success } };
}

function statusEffects({ deployment, annotations }: Rollout, status: DeploymentStatus): Effect[] {
  const stored = compact(status);
  const sameAnnotations = deepEqual(annotations, deployment.metadata.annotations ?? {});
  if (sameAnnotations && deepEqual(compact(deployment.status ?? {}), stored)) return [];
  const object: Deployment = { ...deployment, metadata: { ...deployment.metadata, annotations }, status: stored };
  return [{ op: 'update', resource: deployments, object, subresource: 'status', afterSuccess: true }];
}

/** The status as it is stored: counts of zero are left out, except for the two that are pointers upstream. */
function compact({ terminatingReplicas, collisionCount, conditions = [], ...counts }: DeploymentStatus): DeploymentStatus {
  return {
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => (count ?? 0) !== 0)),
    ...(terminatingReplicas !== undefined && { terminatingReplicas }),
    ...(collisionCount !== undefined && { collisionCount }),
    ...(conditions.length > 0 && { conditions }),
  };
}

function explain({ deployment, spec, told, replicas }: Rollout): string {
  const name = `Deployment ${deployment.metadata.name ?? ''}`;
  if (deployment.metadata.deletionTimestamp !== undefined) return `${name} is being deleted.`;
  if (told.length > 0) return `${name} wants ${replicas} pods: ${told.join('; ')}.`;
  return spec.paused
    ? `${name} is paused, so its template changes nothing.`
    : `${name} asks for ${replicas} pods, and so do its ReplicaSets: nothing to do.`;
}
