// The deprecated annotation that asks for a rollback (pkg/controller/deployment/rollback.go). `kubectl rollout undo` does without it: it
// writes the old template itself.
import type { Deployment } from '#api/apps/v1';
import type { Effect } from '#controller-runtime';
import { deployments } from '#controller-runtime/workload';
import { parseGoInt } from '#utils';
import { hashLabel, privateAnnotations, rollbackToAnnotation } from './names.ts';
import { revisionOf, syncRevision } from './new-replica-set.ts';
import { allDrafts, type Draft, type Rollout, sameTemplate } from './rollout.ts';

/** The effects of the rollback that is asked for; undefined when none is, or the Deployment is paused. */
export function rollBack(rollout: Rollout): Effect[] | undefined {
  const { deployment, spec } = rollout;
  const asked = deployment.metadata.annotations?.[rollbackToAnnotation];
  const number = asked ? parseGoInt(asked, 64) : undefined;
  if (number === undefined || spec.paused) return undefined;
  syncRevision(rollout);
  const revision = number === 0n ? lastRevision(rollout) : number;
  const target = revision === 0n ? undefined : allDrafts(rollout).find((draft) => revisionOf(draft) === revision);
  const { [rollbackToAnnotation]: _, ...annotations } = deployment.metadata.annotations ?? {};
  const cleared: Deployment = { ...deployment, metadata: { ...deployment.metadata, annotations } };
  if (!target) {
    const text = revision === 0n ? 'Unable to find last revision.' : 'Unable to find the revision to rollback to.';
    return [update(cleared), event(deployment, 'Warning', 'DeploymentRollbackRevisionNotFound', text)];
  }
  if (sameTemplate(target.source, deployment)) {
    const text = `The rollback revision contains the same template as current deployment ${JSON.stringify(deployment.metadata.name)}`;
    return [update(cleared), event(deployment, 'Warning', 'DeploymentRollbackTemplateUnchanged', text)];
  }
  const text = `Rolled back deployment ${JSON.stringify(deployment.metadata.name)} to revision ${revision}`;
  return [update(rolledBack(cleared, target)), event(deployment, 'Normal', 'DeploymentRollback', text)];
}

/** The revision before the newest; 0 when there is none. */
function lastRevision(rollout: Rollout): bigint {
  let [newest, last] = [0n, 0n];
  for (const revision of allDrafts(rollout).map(revisionOf)) {
    if (revision >= newest) [newest, last] = [revision, newest];
    else if (revision > last) last = revision;
  }
  return last;
}

function rolledBack(deployment: Deployment, { source, annotations }: Draft): Deployment {
  const { spec, metadata } = deployment;
  const template = source.spec?.template;
  if (!spec || !template) return deployment;
  const { [hashLabel]: _, ...labels } = template.metadata?.labels ?? {};
  const own = Object.entries(metadata.annotations ?? {}).filter(([name]) => privateAnnotations.has(name));
  const taken = Object.entries(annotations).filter(([name]) => !privateAnnotations.has(name));
  return {
    ...deployment,
    metadata: { ...metadata, annotations: Object.fromEntries([...own, ...taken]) },
    spec: { ...spec, template: { ...template, metadata: { ...template.metadata, labels } } },
  };
}

const update = (object: Deployment): Effect => ({ op: 'update', resource: deployments, object });

const event = (regarding: Deployment, type: 'Normal' | 'Warning', reason: string, message: string): Effect => ({
  op: 'event',
  regarding,
  type,
  reason,
  message,
});
