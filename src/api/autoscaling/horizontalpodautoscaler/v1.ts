// autoscaling/v1 knows the CPU's utilization only: everything else travels in annotations (pkg/apis/autoscaling/v1/conversion.go).
import type { HorizontalPodAutoscaler as Old } from '#api/autoscaling/v1';
import type * as hpa from '#api/autoscaling/v2';
import type { KubeObject } from '#apimachinery/meta';
import * as names from './annotations.ts';
import { cpuMetric } from './defaults.ts';
import { fromV1Metric, fromV1Status, toV1Metric, toV1Status, type V1Metric } from './v1-metrics.ts';

const isCPU = ({ type, resource }: hpa.MetricSpec): boolean =>
  type === 'Resource' && resource?.name === 'cpu' && resource.target.averageUtilization !== undefined;

// Behaviors are written as upstream's internal type prints, and read in any case.
const printedRules = (rules: hpa.HPAScalingRules | undefined): unknown =>
  rules
    ? {
        StabilizationWindowSeconds: rules.stabilizationWindowSeconds ?? null,
        SelectPolicy: rules.selectPolicy ?? null,
        Policies:
          rules.policies?.map(({ type, value, periodSeconds }) => ({ Type: type, Value: value, PeriodSeconds: periodSeconds })) ??
          null,
        Tolerance: rules.tolerance ?? null,
      }
    : null;

function lowerKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lowerKeys);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(entries.map(([key, item]) => [key.charAt(0).toLowerCase() + key.slice(1), lowerKeys(item)]));
}

/** Rules of an annotation get no defaults: where they name no policies they have none, and are refused for it. */
const withPolicies = (rules: hpa.HPAScalingRules | undefined): hpa.HPAScalingRules | undefined =>
  rules && { policies: [], ...rules };

/** The value of an annotation, undefined when absent or no JSON. */
function parsed<T>(annotations: Record<string, string> | undefined, name: string): T | undefined {
  const text = annotations?.[name];
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}

const listed = <T>(value: T[] | undefined): T[] | undefined => (Array.isArray(value) ? value : undefined);

export function toStorage(object: KubeObject): hpa.HorizontalPodAutoscaler {
  const { spec, status, ...rest } = object as Old;
  const { annotations } = object.metadata;
  const { targetCPUUtilizationPercentage: target, ...same } = spec ?? { scaleTargetRef: { kind: '', name: '' }, maxReplicas: 0 };
  const metrics = (listed(parsed<V1Metric[]>(annotations, names.metricsAnnotation)) ?? []).map(fromV1Metric);
  if (target !== undefined) metrics.push(cpuMetric(target));
  if (metrics.length === 0) metrics.push(cpuMetric());
  const behavior = lowerKeys(parsed(annotations, names.behaviorAnnotation)) as hpa.HorizontalPodAutoscalerBehavior | undefined;
  const scaling = { scaleUp: withPolicies(behavior?.scaleUp), scaleDown: withPolicies(behavior?.scaleDown) };
  const hasBehavior = scaling.scaleUp !== undefined || scaling.scaleDown !== undefined;
  const { currentCPUUtilizationPercentage: current, ...sameStatus } = status ?? { currentReplicas: 0, desiredReplicas: 0 };
  const statuses = listed(parsed<V1Metric[]>(annotations, names.currentMetricsAnnotation))?.map(fromV1Status);
  const measured =
    current === undefined
      ? undefined
      : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: current } } }];
  const currentMetrics = statuses ?? measured;
  const conditions = listed(parsed<hpa.HorizontalPodAutoscalerCondition[]>(annotations, names.conditionsAnnotation));
  const converted: hpa.HorizontalPodAutoscaler = {
    ...rest,
    metadata: { ...object.metadata },
    spec: { ...same, minReplicas: same.minReplicas ?? 1, metrics, ...(hasBehavior && { behavior: scaling }) },
    ...(status && { status: { ...sameStatus, ...(currentMetrics && { currentMetrics }), ...(conditions && { conditions }) } }),
  };
  names.dropRoundTripAnnotations(converted.metadata);
  return converted;
}

export function fromStorage(object: hpa.HorizontalPodAutoscaler): KubeObject {
  const { spec, status, ...rest } = object;
  const { metrics, behavior, ...same } = spec;
  const { currentMetrics, conditions, ...sameStatus } = status ?? { desiredReplicas: 0, currentReplicas: 0 };
  const metadata = { ...object.metadata };
  names.dropRoundTripAnnotations(metadata);
  const others = (metrics ?? []).filter((metric) => !isCPU(metric));
  const added: Record<string, string> = {};
  if (others.length > 0) added[names.metricsAnnotation] = JSON.stringify(others.map(toV1Metric));
  if (currentMetrics?.length) added[names.currentMetricsAnnotation] = JSON.stringify(currentMetrics.map(toV1Status));
  if (behavior) {
    const printed = { ScaleUp: printedRules(behavior.scaleUp), ScaleDown: printedRules(behavior.scaleDown) };
    added[names.behaviorAnnotation] = JSON.stringify(printed);
  }
  if (conditions?.length) {
    const printed = conditions.map((one) => ({ ...one, lastTransitionTime: one.lastTransitionTime ?? null }));
    added[names.conditionsAnnotation] = JSON.stringify(printed);
  }
  if (Object.keys(added).length > 0) metadata.annotations = { ...metadata.annotations, ...added };
  const target = metrics?.find(isCPU)?.resource?.target.averageUtilization;
  const current = (currentMetrics ?? [])
    .filter(({ type, resource }) => type === 'Resource' && resource?.name === 'cpu')
    .map(({ resource }) => resource?.current.averageUtilization)
    .findLast((value) => value !== undefined);
  const converted: Old = {
    ...rest,
    metadata,
    spec: { ...same, ...(target !== undefined && { targetCPUUtilizationPercentage: target }) },
    status: {
      currentReplicas: 0,
      ...sameStatus,
      ...(current !== undefined && { currentCPUUtilizationPercentage: current }),
    },
  };
  return converted;
}
