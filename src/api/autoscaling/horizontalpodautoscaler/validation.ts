// Rules of horizontal pod autoscalers (pkg/apis/autoscaling/validation; pkg/registry/autoscaling/horizontalpodautoscaler).
import type * as hpa from '#api/autoscaling/v2';
import { type FieldError, type Path, root } from '#apimachinery/field';
import { parseQuantity } from '#apimachinery/quantity';
import { isDNS1123Label, isPathSegmentName, negativeError } from '#apimachinery/validation';
import { notPositiveError, nonnegativeFields } from '../../common/numbers.ts';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import { validateContainerResourceName } from '../../core/common/resources.ts';

const periodSecondsMax = 1800;
const stabilizationWindowSecondsMax = 3600;
const path = root('spec');

interface ReferenceRules {
  allowEmptyGroup?: boolean;
  allowInvalidVersion?: boolean;
}

function versionProblem({ apiVersion = '' }: hpa.CrossVersionObjectReference, rules: ReferenceRules): string | undefined {
  if (rules.allowInvalidVersion) return undefined;
  const parts = apiVersion.split('/');
  if (parts.length > 2) return `unexpected GroupVersion string: ${apiVersion}`;
  const group = parts.length === 2 ? parts[0] : '';
  return group === '' && !rules.allowEmptyGroup ? 'apiVersion must specify API group' : undefined;
}

function validateSegment(report: Report, at: Path, value: string | undefined, missing = ''): void {
  if (isEmpty(value)) report.required(at, missing);
  else report.problems(at, value, isPathSegmentName(value ?? ''));
}

function validateReference(report: Report, at: Path, reference: hpa.CrossVersionObjectReference, rules: ReferenceRules): void {
  validateSegment(report, at.child('kind'), reference.kind);
  validateSegment(report, at.child('name'), reference.name);
  const problem = versionProblem(reference, rules);
  if (problem !== undefined) report.invalid(at.child('apiVersion'), reference.apiVersion ?? '', problem);
}

function validateTarget(report: Report, at: Path, target: hpa.MetricTarget): void {
  if (isEmpty(target.type)) report.required(at.child('type'), 'must specify a metric target type');
  if (!['Utilization', 'Value', 'AverageValue'].includes(target.type)) {
    report.invalid(at.child('type'), target.type ?? '', 'must be either Utilization, Value, or AverageValue');
  }
  for (const field of ['value', 'averageValue'] as const) {
    const amount = target[field];
    if (amount !== undefined && parseQuantity(amount).sign <= 0) report.invalid(at.child(field), amount, 'must be positive');
  }
  const { averageUtilization: share } = target;
  if (share !== undefined && share < 1) report.invalid(at.child('averageUtilization'), share, 'must be greater than 0');
}

const validateMetricName = (report: Report, at: Path, metric: hpa.MetricIdentifier | undefined): void =>
  validateSegment(report, at.child('metric', 'name'), metric?.name, 'must specify a metric name');

const noTarget: hpa.MetricTarget = { type: '' };

/** Checks the target of a resource, which is a share or an amount. */
function validateResourceTarget(report: Report, at: Path, target = noTarget): void {
  const targetPath = at.child('target');
  validateTarget(report, targetPath, target);
  const { averageUtilization: share, averageValue: amount } = target;
  if (share === undefined && amount === undefined) {
    report.required(targetPath.child('averageUtilization'), 'must set either a target raw value or a target utilization');
  }
  if (share !== undefined && amount !== undefined) {
    report.forbidden(targetPath.child('averageValue'), 'may not set both a target raw value and a target utilization');
  }
}

type Sources = {
  [K in Exclude<keyof hpa.MetricSpec, 'type'>]-?: (
    report: Report,
    at: Path,
    source: NonNullable<hpa.MetricSpec[K]>,
    rules: ReferenceRules,
  ) => void;
};

// In the order in which upstream looks at them.
const sources: Sources = {
  object(report, at, { describedObject, metric, target = noTarget }: Partial<hpa.ObjectMetricSource>, rules) {
    validateReference(report, at.child('describedObject'), describedObject ?? { kind: '', name: '' }, rules);
    validateMetricName(report, at, metric);
    validateTarget(report, at.child('target'), target);
    if (target.value === undefined && target.averageValue === undefined) {
      report.required(at.child('target', 'averageValue'), 'must set either a target value or averageValue');
    }
  },
  external(report, at, { metric, target = noTarget }: Partial<hpa.ExternalMetricSource>) {
    validateMetricName(report, at, metric);
    validateTarget(report, at.child('target'), target);
    const { value, averageValue } = target;
    if (value === undefined && averageValue === undefined) {
      report.required(at.child('target', 'averageValue'), 'must set either a target value for metric or a per-pod target');
    }
    if (value !== undefined && averageValue !== undefined) {
      report.forbidden(at.child('target', 'value'), 'may not set both a target value for metric and a per-pod target');
    }
  },
  pods(report, at, { metric, target = noTarget }: Partial<hpa.PodsMetricSource>) {
    validateMetricName(report, at, metric);
    validateTarget(report, at.child('target'), target);
    if (target.averageValue === undefined) {
      report.required(at.child('target', 'averageValue'), 'must specify a positive target averageValue');
    }
  },
  resource(report, at, { name, target }) {
    if (isEmpty(name)) report.required(at.child('name'), 'must specify a resource name');
    validateResourceTarget(report, at, target);
  },
  containerResource(report, at, { name, container, target }) {
    if (isEmpty(name)) report.required(at.child('name'), 'must specify a resource name');
    else validateContainerResourceName(report, at.child('name'), name);
    if (isEmpty(container)) report.required(at.child('container'), 'must specify a container');
    else report.problems(at.child('container'), container, isDNS1123Label(container));
    validateResourceTarget(report, at, target);
  },
};

const sourceNames = Object.keys(sources) as (keyof Sources)[];
const metricTypes = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];

const fieldOf = (type: string): keyof Sources | undefined =>
  sourceNames.find((name) => name === `${type.charAt(0).toLowerCase()}${type.slice(1)}` && metricTypes.includes(type));

function validateMetric(report: Report, at: Path, spec: hpa.MetricSpec, rules: ReferenceRules): void {
  const type = spec.type ?? '';
  if (type === '') report.required(at.child('type'), 'must specify a metric source type');
  report.known(at.child('type'), type, metricTypes);
  const present = sourceNames.filter((name) => spec[name] !== undefined);
  const [first] = present;
  if (first !== undefined) (sources[first] as (...args: unknown[]) => void)(report, at.child(first), spec[first], rules);
  const expected = fieldOf(type);
  if (expected === undefined) report.known(at.child('type'), type, metricTypes);
  else if (spec[expected] === undefined)
    report.required(at.child(expected), 'must populate information for the given metric source');
  if (present.length === 1) return;
  for (const name of present)
    if (name !== expected) report.forbidden(at.child(name), 'must populate the given metric source only');
}

function validateScalingRules(report: Report, at: Path, rules: hpa.HPAScalingRules | undefined): void {
  if (!rules) return;
  const { stabilizationWindowSeconds: window, selectPolicy, policies, tolerance } = rules;
  const windowPath = at.child('stabilizationWindowSeconds');
  if (window !== undefined && window < 0) report.invalid(windowPath, window, 'must be greater than or equal to zero');
  if (window !== undefined && window > stabilizationWindowSecondsMax) {
    report.invalid(windowPath, window, `must be less than or equal to ${stabilizationWindowSecondsMax}`);
  }
  report.knownIfSet(at.child('selectPolicy'), selectPolicy, ['Disabled', 'Max', 'Min']);
  if (isEmpty(policies)) report.required(at.child('policies'), 'must specify at least one Policy');
  policies?.forEach(({ type = '', value = 0, periodSeconds = 0 }: Partial<hpa.HPAScalingPolicy>, index) => {
    const policyPath = at.child('policies').index(index);
    report.known(policyPath.child('type'), type, ['Percent', 'Pods']);
    if (value <= 0) report.invalid(policyPath.child('value'), value, notPositiveError);
    if (periodSeconds <= 0) report.invalid(policyPath.child('periodSeconds'), periodSeconds, notPositiveError);
    if (periodSeconds > periodSecondsMax) {
      report.invalid(policyPath.child('periodSeconds'), periodSeconds, `must be less than or equal to ${periodSecondsMax}`);
    }
  });
  if (tolerance !== undefined && parseQuantity(tolerance).sign < 0)
    report.invalid(at.child('tolerance'), tolerance, negativeError);
}

const objectRules: ReferenceRules = { allowEmptyGroup: true };

/** What the old object already had may stay. */
function rulesOf(spec: hpa.HorizontalPodAutoscalerSpec, old?: hpa.HorizontalPodAutoscalerSpec): [ReferenceRules, ReferenceRules] {
  const before = old?.scaleTargetRef;
  const { apiVersion, kind } = spec.scaleTargetRef ?? {};
  const kept = before !== undefined && (before.apiVersion ?? '') === (apiVersion ?? '') && before.kind === kind;
  const target = kept ? { allowInvalidVersion: true } : { allowEmptyGroup: kind === 'ReplicationController' };
  const broken = old?.metrics?.some(
    ({ type, object }) => type === 'Object' && object && versionProblem(object.describedObject ?? {}, objectRules) !== undefined,
  );
  return [target, broken ? { ...objectRules, allowInvalidVersion: true } : objectRules];
}

function validateSpec(report: Report, spec: hpa.HorizontalPodAutoscalerSpec, old?: hpa.HorizontalPodAutoscalerSpec): void {
  const { minReplicas: min, metrics, behavior } = spec;
  const max = spec.maxReplicas ?? 0;
  const lowest = old?.minReplicas === 0 ? 0 : 1;
  if (min !== undefined && min < lowest)
    report.invalid(path.child('minReplicas'), min, `must be greater than or equal to ${lowest}`);
  if (max === 0) report.required(path.child('maxReplicas'), 'must be set and greater than 0');
  else if (max < 0) report.invalid(path.child('maxReplicas'), max, 'must be greater than or equal to 1');
  if (min !== undefined && max < min)
    report.invalid(path.child('maxReplicas'), max, 'must be greater than or equal to `minReplicas`');
  const [target, object] = rulesOf(spec, old);
  validateReference(report, path.child('scaleTargetRef'), spec.scaleTargetRef ?? { kind: '', name: '' }, target);
  metrics?.forEach((metric, index) => validateMetric(report, path.child('metrics').index(index), metric, object));
  if (min === 0 && !metrics?.some(({ type }) => type === 'Object' || type === 'External')) {
    const detail = 'must specify at least one Object or External metric to support scaling to zero replicas';
    report.forbidden(path.child('metrics'), detail);
  }
  validateScalingRules(report, path.child('behavior', 'scaleUp'), behavior?.scaleUp);
  validateScalingRules(report, path.child('behavior', 'scaleDown'), behavior?.scaleDown);
}

export const validateHorizontalPodAutoscaler = (
  { spec }: hpa.HorizontalPodAutoscaler,
  old?: hpa.HorizontalPodAutoscaler,
): FieldError[] =>
  collect((report) => validateSpec(report, spec ?? { scaleTargetRef: { kind: '', name: '' }, maxReplicas: 0 }, old?.spec));

export const validateHorizontalPodAutoscalerStatus = ({ status }: hpa.HorizontalPodAutoscaler): FieldError[] =>
  collect((report) => {
    if (status) nonnegativeFields(report, root('status'), status, 'currentReplicas', 'desiredReplicas');
  });
