// Defaults of horizontal pod autoscalers (pkg/apis/autoscaling/v2/defaults.go).
import type { HorizontalPodAutoscaler, HPAScalingRules, MetricSpec } from '#api/autoscaling/v2';
import { isEmpty } from '../../common/report.ts';
import { dropRoundTripAnnotations } from './annotations.ts';

const defaultUtilization = 80;

/** Half of everything else that autoscalers do: keep the CPUs at this utilization, in percent. */
export const cpuMetric = (averageUtilization = defaultUtilization): MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});

function rulesDefaults(rules: HPAScalingRules | undefined, defaults: HPAScalingRules): HPAScalingRules {
  const filled = rules ?? {};
  filled.stabilizationWindowSeconds ??= defaults.stabilizationWindowSeconds;
  filled.selectPolicy ??= defaults.selectPolicy;
  filled.policies ??= defaults.policies;
  if (filled.stabilizationWindowSeconds === undefined) delete filled.stabilizationWindowSeconds;
  return filled;
}

const percent = { type: 'Percent', value: 100, periodSeconds: 15 };
const pods = { type: 'Pods', value: 4, periodSeconds: 15 };

export function horizontalPodAutoscalerDefaults(draft: HorizontalPodAutoscaler): void {
  dropRoundTripAnnotations(draft.metadata);
  const { spec } = draft;
  if (!spec) return;
  spec.minReplicas ??= 1;
  if (isEmpty(spec.metrics)) spec.metrics = [cpuMetric()];
  const { behavior } = spec;
  if (!behavior) return;
  const up = { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies: [{ ...pods }, { ...percent }] };
  behavior.scaleUp = rulesDefaults(behavior.scaleUp, up);
  behavior.scaleDown = rulesDefaults(behavior.scaleDown, { selectPolicy: 'Max', policies: [{ ...percent }] });
}
