// Metrics as `kubectl get hpa` shows them (pkg/printers/internalversion, formatHPAMetrics).
import type { MetricSpec, MetricStatus, MetricTarget, MetricValueStatus } from '#api/autoscaling/v2';

const shownMax = 2;
const percent = (value: number): string => `${value}%`;

/** `current` undefined: there is no status. */
function valueText(target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined) return `${current?.averageValue ?? '<unknown>'}/${target.averageValue} (avg)`;
  return `${current ? (current.value ?? '<nil>') : '<unknown>'}/${target?.value ?? '<nil>'}`;
}

function resourceText(name: string, target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined) {
    return `${name}: ${current ? (current.averageValue ?? '<nil>') : '<unknown>'}/${target.averageValue}`;
  }
  const used = current?.averageUtilization;
  const wanted = target?.averageUtilization;
  return `${name}: ${used === undefined ? '<unknown>' : percent(used)}/${wanted === undefined ? '<auto>' : percent(wanted)}`;
}

function metricText(spec: MetricSpec, status: MetricStatus | undefined): string {
  const { type, external, object, pods, resource, containerResource: container } = spec;
  if (type === 'External') return valueText(external?.target, status?.external?.current);
  if (type === 'Object') return valueText(object?.target, status?.object?.current);
  if (type === 'Pods') {
    const current = status?.pods ? (status.pods.current.averageValue ?? '<nil>') : '<unknown>';
    return `${current}/${pods?.target.averageValue ?? '<nil>'}`;
  }
  if (type === 'Resource') return resourceText(resource?.name ?? '', resource?.target, status?.resource?.current);
  if (type === 'ContainerResource')
    return resourceText(container?.name ?? '', container?.target, status?.containerResource?.current);
  return '<unknown type>';
}

export function metricsText(specs: MetricSpec[] = [], statuses: MetricStatus[] = []): string {
  if (specs.length === 0) return '<none>';
  const texts = specs.slice(0, shownMax).map((spec, index) => metricText(spec, statuses[index]));
  const more = specs.length - shownMax;
  return texts.join(', ') + (more > 0 ? ` + ${more} more...` : '');
}
