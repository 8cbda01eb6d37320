// What an autoscaler proposes from what was measured, and what it says about it (pkg/controller/podautoscaler, horizontal). Pure.
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerCondition,
  MetricSpec,
  MetricStatus,
  MetricTarget,
} from '#api/autoscaling/v2';
import type { Pod } from '#api/core/v1';
import { formatTime } from '#apimachinery/meta';
import { milliQuantity, parseQuantity } from '#apimachinery/quantity';
import { isPodReady } from '#component-helpers/workload';
import type { Effect } from '#controller-runtime';
import { type History, limit, withRecommendation } from './limits.ts';
import {
  type Measured,
  averageRatio,
  calculate,
  type Calculated,
  MetricError,
  perPodReplicas,
  requestsOf,
  type Tolerances,
  utilizationRatio,
  wholeReplicas,
} from './replicas.ts';

type Hpa = HorizontalPodAutoscaler;

const toleranceDefault = 0.1;

export interface Facts {
  hpa: Hpa;
  /** `spec.replicas` and `status.replicas` of the target's scale. */
  current: number;
  observed: number;
  /** The pods that the target selects. */
  pods: readonly Pod[];
  measured: readonly Measured[];
  history: History;
  now: number;
}

export interface Proposal {
  conditions: HorizontalPodAutoscalerCondition[];
  metrics: MetricStatus[];
  events: Effect[];
  history: History;
  /** The size that the target is to get; absent where it stays as it is. */
  rescale?: { replicas: number; reason: string };
  error?: string;
}

export const tell = (hpa: Hpa, type: 'Normal' | 'Warning', reason: string, message: string): Effect => ({
  op: 'event',
  regarding: { ...hpa, apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler' } as Hpa,
  type,
  reason,
  message,
});

export function setCondition(
  conditions: readonly HorizontalPodAutoscalerCondition[],
  type: string,
  isTrue: boolean,
  { reason, message }: { reason: string; message: string },
  now: number,
): HorizontalPodAutoscalerCondition[] {
  const status = isTrue ? 'True' : 'False';
  const old = conditions.find((condition) => condition.type === type);
  const lastTransitionTime = old?.status === status && old.lastTransitionTime ? old.lastTransitionTime : formatTime(now);
  const next = { type, status, lastTransitionTime, reason, message };
  return old ? conditions.map((condition) => (condition === old ? next : condition)) : [...conditions, next];
}

const milli = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : parseQuantity(text).milliValue();
const amount = (value: number, resource = ''): string =>
  String(milliQuantity(value, resource === 'memory' ? 'BinarySI' : 'DecimalSI'));

function tolerancesOf({ spec }: Hpa): Tolerances {
  const { scaleUp, scaleDown } = spec?.behavior ?? {};
  const of = (text: string | undefined): number => (text === undefined ? toleranceDefault : parseQuantity(text).toNumber());
  return { up: of(scaleUp?.tolerance), down: of(scaleDown?.tolerance) };
}

/** One metric's proposal. */
interface Verdict {
  replicas: number;
  name: string;
  status: MetricStatus;
}

/** Names of a metric source: its reason when it fails, and how its failure begins. */
function naming(spec: MetricSpec): { failed: string; prefix: string } {
  if (spec.resource)
    return { failed: 'FailedGetResourceMetric', prefix: `failed to get ${spec.resource.name} resource metric value` };
  if (spec.containerResource)
    return {
      failed: 'FailedGetContainerResourceMetric',
      prefix: `failed to get ${spec.containerResource.container} container metric value`,
    };
  if (spec.pods) return { failed: 'FailedGetPodsMetric', prefix: 'failed to get pods metric value' };
  if (spec.object) return { failed: 'FailedGetObjectMetric', prefix: 'failed to get object metric value' };
  if (spec.external)
    return { failed: 'FailedGetExternalMetric', prefix: `failed to get ${spec.external.metric.name} external metric value` };
  return { failed: 'InvalidMetricSourceType', prefix: '' };
}

const noTarget =
  'invalid resource metric source: neither an average utilization target nor an average value (usage) target was set';

function resourceVerdict(facts: Facts, spec: MetricSpec, measured: Measured): Verdict {
  const source = spec.resource ?? spec.containerResource;
  const name = source?.name ?? '';
  const container = spec.containerResource?.container ?? '';
  const target = source?.target as MetricTarget;
  const raw = milli(target.averageValue);
  const isRaw = raw !== undefined;
  if (!isRaw && target.averageUtilization === undefined) throw new MetricError(noTarget);
  try {
    if (!('pods' in measured))
      throw new MetricError(`unable to get metrics for resource ${name}: ${'error' in measured ? measured.error : ''}`);
    const requests = isRaw ? new Map<string, number>() : requestsOf(facts.pods, name, container);
    const percent = target.averageUtilization ?? 0;
    const result = calculate({
      pods: facts.pods,
      measured: measured.pods,
      current: facts.current,
      isCpu: name === 'cpu',
      tolerances: tolerancesOf(facts.hpa),
      now: facts.now,
      ratio: isRaw ? averageRatio(raw) : utilizationRatio(percent, requests),
      fallback: (pod) => (isRaw ? raw : Math.trunc(((requests.get(pod) ?? 0) * Math.max(100, percent)) / 100)),
    });
    const current = {
      ...(result.utilization !== undefined && { averageUtilization: result.utilization }),
      averageValue: amount(result.average, name),
    };
    const status: MetricStatus = spec.resource
      ? { type: 'Resource', resource: { name, current } }
      : { type: 'ContainerResource', containerResource: { name, container, current } };
    const what = `${name}${container ? ' container' : ''} resource utilization (percentage of request)`;
    return { replicas: result.replicas, name: isRaw ? `${name} resource` : what, status };
  } catch (error) {
    if (error instanceof MetricError)
      throw new MetricError(`failed to get ${name} ${isRaw ? 'usage' : 'utilization'}: ${error.message}`);
    throw error;
  }
}

function podsVerdict(facts: Facts, { pods }: MetricSpec, measured: Measured): Verdict {
  const metric = pods?.metric ?? { name: '' };
  if (!('pods' in measured))
    throw new MetricError(`unable to get metric ${metric.name}: ${'error' in measured ? measured.error : ''}`);
  const target = milli(pods?.target.averageValue) ?? 0;
  const result = calculate({
    pods: facts.pods,
    measured: measured.pods,
    current: facts.current,
    isCpu: false,
    tolerances: tolerancesOf(facts.hpa),
    now: facts.now,
    ratio: averageRatio(target),
    fallback: () => target,
  });
  const status: MetricStatus = { type: 'Pods', pods: { metric, current: { averageValue: amount(result.average) } } };
  return { replicas: result.replicas, name: `pods metric ${metric.name}`, status };
}

function wholeVerdict(facts: Facts, spec: MetricSpec, measured: Measured): Verdict {
  const { object, external } = spec;
  const metric = object?.metric ?? external?.metric ?? { name: '' };
  const target = object?.target ?? external?.target;
  const value = milli(target?.value);
  const perPod = milli(target?.averageValue);
  const kind = object ? 'object' : 'external';
  if (value === undefined && perPod === undefined)
    throw new MetricError(`invalid ${kind} metric source: neither a value target nor an average value target was set`);
  if (!('value' in measured)) {
    const where = object
      ? ` on ${object.describedObject.kind} ${facts.hpa.metadata.namespace}/${object.describedObject.name}`
      : '';
    const reason = `unable to get ${object ? '' : 'external '}metric ${metric.name}: ${'error' in measured ? measured.error : ''}${where}`;
    const long = perPod !== undefined || external;
    throw new MetricError(long ? `failed to get ${metric.name} ${kind} metric: ${reason}` : reason);
  }
  const tolerances = tolerancesOf(facts.hpa);
  const result: Calculated =
    perPod !== undefined
      ? perPodReplicas(measured.value, perPod, facts.observed, tolerances)
      : {
          replicas: wholeReplicas(measured.value, value ?? 0, facts.current, facts.pods.filter(isPodReady).length, tolerances),
          average: measured.value,
        };
  const current = perPod !== undefined ? { averageValue: amount(result.average) } : { value: amount(measured.value) };
  const status: MetricStatus = object
    ? { type: 'Object', object: { describedObject: object.describedObject, metric, current } }
    : { type: 'External', external: { metric, current } };
  const name =
    object && perPod === undefined
      ? `${object.describedObject.kind} metric ${metric.name}`
      : `external metric ${metric.name}(nil)`;
  return { replicas: result.replicas, name, status };
}

function verdictOf(facts: Facts, spec: MetricSpec, measured: Measured): Verdict {
  if (spec.resource || spec.containerResource) return resourceVerdict(facts, spec, measured);
  if (spec.pods) return podsVerdict(facts, spec, measured);
  if (spec.object || spec.external) return wholeVerdict(facts, spec, measured);
  throw new MetricError(`unknown metric source type "${spec.type}"`);
}

interface Summary {
  best: Verdict | undefined;
  statuses: MetricStatus[];
  events: Effect[];
  failure?: { reason: string; message: string; text: string };
}

/** Summarizes the metrics: the highest proposal counts, and failures are reported. */
function summarize(facts: Facts): Summary {
  const specs = facts.hpa.spec?.metrics ?? [];
  const summary: Summary = { best: undefined, statuses: [], events: [] };
  let failures = 0;
  specs.forEach((spec, index) => {
    try {
      const verdict = verdictOf(facts, spec, facts.measured[index] ?? { error: 'not measured' });
      summary.statuses.push(verdict.status);
      if (!summary.best || verdict.replicas > summary.best.replicas) summary.best = verdict;
    } catch (error) {
      if (!(error instanceof MetricError)) throw error;
      const { failed, prefix } = naming(spec);
      summary.statuses.push({ type: '' });
      summary.events.push(tell(facts.hpa, 'Warning', failed, error.message));
      failures++;
      summary.failure ??= {
        reason: failed,
        message: `the HPA was unable to compute the replica count: ${error.message}`,
        text: prefix === '' ? error.message : `${prefix}: ${error.message}`,
      };
    }
  });
  if (summary.failure)
    summary.failure.text = `invalid metrics (${failures} invalid out of ${specs.length}), first error is: ${summary.failure.text}`;
  if (failures > 0 && (failures === specs.length || (summary.best?.replicas ?? 0) < facts.current)) summary.best = undefined;
  return summary;
}

const reference = ({ metadata, spec }: Hpa): string =>
  `${spec?.scaleTargetRef.kind}/${metadata.namespace}/${spec?.scaleTargetRef.name}`;

/** Whether the metrics matter at this size, and what happens when they do not. */
export function withoutMetrics({
  hpa,
  current,
}: Pick<Facts, 'hpa' | 'current'>): { replicas: number; reason: string } | 'disabled' | undefined {
  const minReplicas = hpa.spec?.minReplicas ?? 1;
  const maxReplicas = hpa.spec?.maxReplicas ?? 1;
  if (current === 0) return 'disabled';
  if (current > maxReplicas) return { replicas: maxReplicas, reason: 'Current number of replicas above Spec.MaxReplicas' };
  if (current < minReplicas) return { replicas: minReplicas, reason: 'Current number of replicas below Spec.MinReplicas' };
  return undefined;
}

export function propose(facts: Facts): Proposal {
  const { hpa, current, now } = facts;
  const got = { reason: 'SucceededGetScale', message: "the HPA controller was able to get the target's current scale" };
  let conditions = setCondition(hpa.status?.conditions ?? [], 'AbleToScale', true, got, now);
  const start =
    facts.history.recommendations.length > 0
      ? facts.history
      : { ...facts.history, recommendations: [{ replicas: current, atMs: now }] };
  const base = { metrics: [], events: [], history: start };
  const fixed = withoutMetrics(facts);
  if (fixed === 'disabled') {
    const disabled = { reason: 'ScalingDisabled', message: 'scaling is disabled since the replica count of the target is zero' };
    return { ...base, conditions: setCondition(conditions, 'ScalingActive', false, disabled, now) };
  }
  if (fixed) return { ...base, conditions, rescale: fixed };
  const { best, statuses, events, failure } = summarize({ ...facts, history: start });
  if (!best) {
    const { reason = '', message = '', text = '' } = failure ?? {};
    return {
      conditions: setCondition(conditions, 'ScalingActive', false, { reason, message }, now),
      metrics: statuses,
      events: [...events, tell(hpa, 'Warning', 'FailedComputeMetricsReplicas', text)],
      history: start,
      error: `failed to compute desired number of replicas based on listed metrics for ${reference(hpa)}: ${text}`,
    };
  }
  const found = {
    reason: 'ValidMetricFound',
    message: `the HPA was able to successfully calculate a replica count from ${best.name}`,
  };
  conditions = setCondition(conditions, 'ScalingActive', true, found, now);
  const reason = best.replicas > current ? `${best.name} above target` : 'All metrics below target';
  const tamed = limit({ hpa, current, proposed: best.replicas, min: hpa.spec?.minReplicas ?? 1, history: start, now });
  conditions = setCondition(conditions, 'AbleToScale', true, tamed.stabilized, now);
  conditions = setCondition(conditions, 'ScalingLimited', tamed.limited.isLimited, tamed.limited, now);
  return {
    conditions,
    metrics: statuses,
    events,
    history: withRecommendation(hpa, start, best.replicas, now),
    ...(tamed.replicas !== current && { rescale: { replicas: tamed.replicas, reason } }),
    ...(failure && { error: failure.text }),
  };
}
