// Metrics in the form of autoscaling/v1, flat where v2 nests (pkg/apis/autoscaling/v1/conversion.go).
import type * as hpa from '#api/autoscaling/v2';
import { parseQuantity } from '#apimachinery/quantity';

type Selector = hpa.MetricIdentifier['selector'];

interface V1Source {
  target?: hpa.CrossVersionObjectReference;
  metricName?: string;
  name?: string;
  container?: string;
  selector?: Selector;
  metricSelector?: Selector;
  targetValue?: string;
  averageValue?: string;
  targetAverageValue?: string;
  targetAverageUtilization?: number;
  currentValue?: string;
  currentAverageValue?: string;
  currentAverageUtilization?: number;
}

/** A metric or, with `current...` for `target...`, its status. */
export interface V1Metric {
  type: string;
  object?: V1Source;
  pods?: V1Source;
  resource?: V1Source;
  containerResource?: V1Source;
  external?: V1Source;
}

const identifier = (name = '', selector?: Selector): hpa.MetricIdentifier => ({ name, ...(selector && { selector }) });

const reference = ({ kind, name, apiVersion }: hpa.CrossVersionObjectReference): hpa.CrossVersionObjectReference => ({
  kind,
  name,
  ...(apiVersion && { apiVersion }),
});

/** Without what is undefined. */
function compact<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;
}

export function toV1Metric({ type, object, pods, resource, containerResource, external }: hpa.MetricSpec): V1Metric {
  return {
    type,
    ...(object && {
      object: {
        target: reference(object.describedObject),
        metricName: object.metric.name,
        targetValue: object.target.value ?? '0',
        selector: object.metric.selector,
        averageValue: object.target.averageValue,
      },
    }),
    ...(pods && {
      pods: { metricName: pods.metric.name, targetAverageValue: pods.target.averageValue ?? '0', selector: pods.metric.selector },
    }),
    ...(resource && { resource: { name: resource.name, ...resourceTarget(resource.target) } }),
    ...(containerResource && {
      containerResource: {
        name: containerResource.name,
        ...resourceTarget(containerResource.target),
        container: containerResource.container,
      },
    }),
    ...(external && {
      external: {
        metricName: external.metric.name,
        metricSelector: external.metric.selector,
        targetValue: external.target.value,
        targetAverageValue: external.target.averageValue,
      },
    }),
  };
}

const resourceTarget = ({ averageUtilization, averageValue }: hpa.MetricTarget): V1Source => ({
  targetAverageUtilization: averageUtilization,
  targetAverageValue: averageValue,
});

function fromResourceTarget({ targetAverageUtilization: share, targetAverageValue: amount }: V1Source): hpa.MetricTarget {
  return compact({ type: share === undefined ? 'AverageValue' : 'Utilization', averageValue: amount, averageUtilization: share });
}

function fromObject({ target, metricName, selector, targetValue = '0', averageValue }: V1Source): hpa.ObjectMetricSource {
  const keepsValue = averageValue === undefined || parseQuantity(targetValue).sign !== 0;
  return {
    describedObject: reference(target ?? { kind: '', name: '' }),
    target: compact({
      type: averageValue === undefined ? 'Value' : 'AverageValue',
      value: keepsValue ? targetValue : undefined,
      averageValue,
    }),
    metric: identifier(metricName, selector),
  };
}

function fromExternal({ metricName, metricSelector, targetValue, targetAverageValue }: V1Source): hpa.ExternalMetricSource {
  const type = targetValue === undefined ? 'AverageValue' : 'Value';
  return {
    metric: identifier(metricName, metricSelector),
    target: compact({ type, value: targetValue, averageValue: targetAverageValue }),
  };
}

export function fromV1Metric({ type, object, pods, resource, containerResource, external }: V1Metric): hpa.MetricSpec {
  return {
    type,
    ...(object && { object: fromObject(object) }),
    ...(pods && {
      pods: {
        metric: identifier(pods.metricName, pods.selector),
        target: { type: 'AverageValue', averageValue: pods.targetAverageValue ?? '0' },
      },
    }),
    ...(resource && { resource: { name: resource.name ?? '', target: fromResourceTarget(resource) } }),
    ...(containerResource && {
      containerResource: {
        name: containerResource.name ?? '',
        target: fromResourceTarget(containerResource),
        container: containerResource.container ?? '',
      },
    }),
    ...(external && { external: fromExternal(external) }),
  };
}

const resourceCurrent = ({ averageUtilization, averageValue }: hpa.MetricValueStatus): V1Source => ({
  currentAverageUtilization: averageUtilization,
  currentAverageValue: averageValue ?? '0',
});

export function toV1Status({ type, object, pods, resource, containerResource, external }: hpa.MetricStatus): V1Metric {
  return {
    type,
    ...(object && {
      object: {
        target: reference(object.describedObject),
        metricName: object.metric.name,
        currentValue: object.current.value ?? '0',
        selector: object.metric.selector,
        averageValue: object.current.averageValue,
      },
    }),
    ...(pods && {
      pods: {
        metricName: pods.metric.name,
        currentAverageValue: pods.current.averageValue ?? '0',
        selector: pods.metric.selector,
      },
    }),
    ...(resource && { resource: { name: resource.name, ...resourceCurrent(resource.current) } }),
    ...(containerResource && {
      containerResource: {
        name: containerResource.name,
        ...resourceCurrent(containerResource.current),
        container: containerResource.container,
      },
    }),
    ...(external && {
      external: {
        metricName: external.metric.name,
        metricSelector: external.metric.selector,
        currentValue: external.current.value ?? '0',
        currentAverageValue: external.current.averageValue,
      },
    }),
  };
}

const fromResourceCurrent = ({ currentAverageValue = '0', currentAverageUtilization }: V1Source): hpa.MetricValueStatus =>
  compact({ averageValue: currentAverageValue, averageUtilization: currentAverageUtilization });

export function fromV1Status({ type, object, pods, resource, containerResource, external }: V1Metric): hpa.MetricStatus {
  return {
    type,
    ...(object && {
      object: {
        metric: identifier(object.metricName, object.selector),
        current: compact({ value: object.currentValue ?? '0', averageValue: object.averageValue }),
        describedObject: reference(object.target ?? { kind: '', name: '' }),
      },
    }),
    ...(pods && {
      pods: { metric: identifier(pods.metricName, pods.selector), current: { averageValue: pods.currentAverageValue ?? '0' } },
    }),
    ...(resource && { resource: { name: resource.name ?? '', current: fromResourceCurrent(resource) } }),
    ...(containerResource && {
      containerResource: {
        name: containerResource.name ?? '',
        current: fromResourceCurrent(containerResource),
        container: containerResource.container ?? '',
      },
    }),
    ...(external && {
      external: {
        metric: identifier(external.metricName, external.metricSelector),
        current: compact({ value: external.currentValue ?? '0', averageValue: external.currentAverageValue }),
      },
    }),
  };
}
