// Defaults of horizontal pod autoscalers (pkg/apis/autoscaling/v2/defaults.go).
import type { HorizontalPodAutoscaler, HPAScalingRules, MetricSpec } from '#api/autoscaling/v2';
import { isEmpty } from '../../common/report.ts';
import { dropRoundTripAnnotations } from './annotations.ts';

const defaultUtilization = 80;

/** The metric of an autoscaler that names none: it keeps the use of CPUs at this percentage of what the pods request. */
export const cpuMetric = (averageUtilization = defaultUtilization): MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});

/** Writes only what is missing: what is shared with the stored object is whole already, and frozen. */
function rulesDefaults(filled: HPAScalingRules, defaults: HPAScalingRules): void {
  if (defaults.stabilizationWindowSeconds !== undefined)
    filled.stabilizationWindowSeconds ??= defaults.stabilizationWindowSeconds;
  filled.selectPolicy ??= defaults.selectPolicy;
  filled.policies ??= defaults.policies;
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
  rulesDefaults((behavior.scaleUp ??= {}), up);
  rulesDefaults((behavior.scaleDown ??= {}), { selectPolicy: 'Max', policies: [{ ...percent }] });
}
