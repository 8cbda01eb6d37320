// How far the workloads of a cluster are, and what holds them up. Pure.
import type { DaemonSet, Deployment, ReplicaSet, StatefulSet } from '#api/apps/v1';
import type { HorizontalPodAutoscaler } from '#api/autoscaling/v2';
import type { CronJob, Job } from '#api/batch/v1';
import type { Node, Pod } from '#api/core/v1';
import { labelsText } from '#apimachinery/labels';
import { conditionText, conditionsOf, troubles } from './conditions.ts';
import { unwellPods } from './pods.ts';
import { countText } from './words.ts';

const replicaTrouble = { ReplicaFailure: 'True' };

/** `sets`: the ReplicaSets that it owns; `pods`: what it selects. */
export function deploymentSentences(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  pods: readonly Pod[],
  nowMs: number,
): string[] {
  const { spec, status = {} } = deployment;
  const wanted = spec?.replicas ?? 1;
  const old = sets.filter((set) => (set.status?.replicas ?? 0) > 0).length - 1;
  return [
    `${status.availableReplicas ?? 0} of ${countText(wanted, 'pod')} available, ${status.updatedReplicas ?? 0} of the newest template${old > 0 ? `; ${countText(old, 'older ReplicaSet')} still ${old === 1 ? 'has' : 'have'} pods` : ''}`,
    ...(spec?.paused ? ['is paused: changes of its template wait for "kubectl rollout resume"'] : []),
    ...troubles(deployment, { ...replicaTrouble, Progressing: 'False', Available: 'False' }, nowMs),
    ...unwellPods(pods),
  ];
}

export function replicaSetSentences(set: ReplicaSet, pods: readonly Pod[], nowMs: number): string[] {
  const { spec, status } = set;
  return [
    `${status?.readyReplicas ?? 0} of ${countText(spec?.replicas ?? 1, 'pod')} ready`,
    ...troubles(set, replicaTrouble, nowMs),
    ...unwellPods(pods),
  ];
}

export function statefulSetSentences({ spec, status }: StatefulSet, pods: readonly Pod[]): string[] {
  const wanted = spec?.replicas ?? 1;
  const unwell = unwellPods(pods);
  const inOrder = spec?.podManagementPolicy !== 'Parallel' && (status?.replicas ?? 0) < wanted && unwell.length > 0;
  return [
    `${status?.readyReplicas ?? 0} of ${countText(wanted, 'pod')} ready`,
    ...(inOrder ? ['its pods are made one after another: the next one waits until those before it are ready'] : []),
    ...unwell,
  ];
}

export function daemonSetSentences({ spec, status }: DaemonSet, nodes: readonly Node[], pods: readonly Pod[]): string[] {
  const desired = status?.desiredNumberScheduled ?? 0;
  const { nodeSelector = {} } = spec?.template.spec ?? {};
  const picky = Object.keys(nodeSelector ?? {}).length > 0;
  return [
    `${status?.numberReady ?? 0} of ${countText(desired, 'pod')} ready`,
    ...(desired === 0 && nodes.length > 0
      ? [
          `wants no pod on any of ${countText(nodes.length, 'node')}: ${picky ? `they must have the labels ${labelsText(nodeSelector)}` : 'its node affinity or missing tolerations exclude them'}`,
        ]
      : []),
    ...unwellPods(pods),
  ];
}

export function jobSentences(job: Job, pods: readonly Pod[], nowMs: number): string[] {
  const { spec, status = {} } = job;
  const { active = 0, succeeded = 0, failed = 0 } = status;
  const ended = conditionsOf(job).filter(
    ({ type, status: value }) => value === 'True' && (type === 'Failed' || type === 'SuccessCriteriaMet'),
  );
  return [
    `${succeeded} of ${countText(spec?.completions ?? 1, 'completion')}; ${active} running, ${failed} failed (of at most ${spec?.backoffLimit ?? 6} before it gives up)`,
    ...(spec?.suspend ? ['is suspended: it makes no pods until spec.suspend is false'] : []),
    ...ended.map((condition) => conditionText(condition, nowMs)),
    ...unwellPods(pods),
  ];
}

export function cronJobSentences({ spec, status }: CronJob): string[] {
  return [
    `schedule ${JSON.stringify(spec?.schedule ?? '')}${spec?.timeZone ? ` in ${spec.timeZone}` : ''}; last run ${status?.lastScheduleTime ?? 'never'}`,
    ...(spec?.suspend ? ['is suspended: it makes no Jobs until spec.suspend is false'] : []),
  ];
}

/** What keeps an autoscaler from scaling: its own words, as conditions. */
export function autoscalerSentences(scaler: HorizontalPodAutoscaler, nowMs: number): string[] {
  const { spec, status } = scaler;
  const { currentReplicas = 0, desiredReplicas = 0 } = status ?? {};
  return [
    `${spec?.scaleTargetRef.kind} ${spec?.scaleTargetRef.name} has ${countText(currentReplicas ?? 0, 'replica')} ${desiredReplicas ? `and is to have ${desiredReplicas}, ` : ''}of ${spec?.minReplicas ?? 1} and ${spec?.maxReplicas}`,
    ...(conditionsOf(scaler).length === 0 ? ['has not been looked at yet: that is done every 15 s'] : []),
    ...troubles(scaler, { AbleToScale: 'False', ScalingActive: 'False', ScalingLimited: 'True' }, nowMs),
  ];
}
