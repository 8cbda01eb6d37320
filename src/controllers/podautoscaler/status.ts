// What an autoscaler writes about itself once its target is measured, or could not be (pkg/controller/podautoscaler). Pure.
import type { HorizontalPodAutoscaler, HorizontalPodAutoscalerStatus } from '#api/autoscaling/v2';
import { formatTime } from '#apimachinery/meta';
import type { Plan } from '#controller-runtime';
import { horizontalPodAutoscalers } from '#controller-runtime/platform';
import { deepEqual } from '#utils';
import { type Proposal, setCondition, tell } from './decide.ts';
import { withChange } from './limits.ts';

type Hpa = HorizontalPodAutoscaler;
type Status = Partial<HorizontalPodAutoscalerStatus>;

function withStatus(hpa: Hpa, change: Status): Plan['effects'] {
  const { currentMetrics, ...status } = { ...hpa.status, ...change } as HorizontalPodAutoscalerStatus;
  if ((currentMetrics ?? []).length > 0) Object.assign(status, { currentMetrics });
  const { currentMetrics: before, ...old } = hpa.status ?? {};
  if (deepEqual(status, { ...old, ...((before ?? []).length > 0 && { currentMetrics: before }) })) return [];
  const object: Hpa = { ...hpa, status };
  return [{ op: 'update', resource: horizontalPodAutoscalers, subresource: 'status', object }];
}

/** The target's size could not be read. */
export function withoutScale(hpa: Hpa, error: string, now: number): Plan {
  const message = `the HPA controller was unable to get the target's current scale: ${error}`;
  const conditions = setCondition(hpa.status?.conditions ?? [], 'AbleToScale', false, { reason: 'FailedGetScale', message }, now);
  return { effects: [tell(hpa, 'Warning', 'FailedGetScale', error), ...withStatus(hpa, { conditions })] };
}

/** A target that cannot say which pods are its own. */
export function withoutSelector(hpa: Hpa, current: number, now: number): Plan {
  const problem = { reason: 'InvalidSelector', message: "the HPA target's scale is missing a selector" };
  const conditions = setCondition(hpa.status?.conditions ?? [], 'ScalingActive', false, problem, now);
  const { desiredReplicas = 0 } = hpa.status ?? {};
  return {
    effects: [
      tell(hpa, 'Warning', 'SelectorRequired', 'selector is required'),
      tell(hpa, 'Warning', 'FailedComputeMetricsReplicas', 'selector is required'),
      ...withStatus(hpa, { currentReplicas: current, desiredReplicas, currentMetrics: [], conditions }),
    ],
  };
}

/** Decides what to write after the target was, or was not, given its new size. */
export function conclude(hpa: Hpa, current: number, proposal: Proposal, failure: string | undefined, now: number): Plan {
  const { rescale, events, metrics } = proposal;
  let { conditions, history } = proposal;
  let desired = current;
  if (proposal.error !== undefined && !rescale) desired = hpa.status?.desiredReplicas ?? 0;
  const told = [...events];
  if (rescale && failure !== undefined) {
    const message = `the HPA controller was unable to update the target scale: ${failure}`;
    conditions = setCondition(conditions, 'AbleToScale', false, { reason: 'FailedUpdateScale', message }, now);
    told.push(
      tell(hpa, 'Warning', 'FailedRescale', `New size: ${rescale.replicas}; reason: ${rescale.reason}; error: ${failure}`),
    );
    desired = hpa.status?.desiredReplicas ?? 0;
  } else if (rescale) {
    const message = `the HPA controller was able to update the target scale to ${rescale.replicas}`;
    conditions = setCondition(conditions, 'AbleToScale', true, { reason: 'SucceededRescale', message }, now);
    told.push(tell(hpa, 'Normal', 'SuccessfulRescale', `New size: ${rescale.replicas}; reason: ${rescale.reason}`));
    history = withChange(hpa, history, rescale.replicas - current, now);
    desired = rescale.replicas;
  }
  const status: Status = {
    currentReplicas: current,
    desiredReplicas: desired,
    currentMetrics: metrics,
    conditions,
    ...(rescale && failure === undefined && { lastScaleTime: formatTime(now) }),
  };
  return { effects: [...told, ...withStatus(hpa, status)], remember: history };
}
