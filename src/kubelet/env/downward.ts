// Values of fieldRef and resourceFieldRef, for environment variables and downward API volumes (upstream pkg/fieldpath, pkg/api/v1/resource).
import type { Container, ObjectFieldSelector, Pod, ResourceFieldSelector } from '#api/core/v1';
import { parseQuantity, type Quantity, zeroQuantity } from '#apimachinery/quantity';
import { findContainer } from '#component-helpers/pod';
import { quote } from '#utils';

export interface DownwardContext {
  podIPs: readonly string[];
  hostIPs: readonly string[];
  /** The resources of the node that pods may have: what a container without a limit may use. */
  allocatable: Readonly<Record<string, string>>;
}

/** Writes sorted lines `key="value"`, as a downward API file has them. */
export const formatMap = (map: Readonly<Record<string, string>> | undefined): string =>
  Object.keys(map ?? {})
    .sort()
    .map((key) => `${key}=${quote(map?.[key] ?? '')}`)
    .join('\n');

/** Throws an Error with upstream's text for paths that have no value. */
export function fieldValue({ fieldPath }: ObjectFieldSelector, pod: Pod, context: DownwardContext): string {
  const { metadata, spec } = pod;
  const subscript = /^(metadata\.(?:annotations|labels))\['(.*)'\]$/.exec(fieldPath);
  if (subscript) {
    const map = subscript[1] === 'metadata.labels' ? metadata.labels : metadata.annotations;
    return map?.[subscript[2] ?? ''] ?? '';
  }
  switch (fieldPath) {
    case 'metadata.name':
      return metadata.name ?? '';
    case 'metadata.namespace':
      return metadata.namespace ?? '';
    case 'metadata.uid':
      return metadata.uid ?? '';
    case 'metadata.labels':
      return formatMap(metadata.labels);
    case 'metadata.annotations':
      return formatMap(metadata.annotations);
    case 'spec.nodeName':
      return spec?.nodeName ?? '';
    case 'spec.serviceAccountName':
      return spec?.serviceAccountName ?? '';
    case 'status.hostIP':
      return context.hostIPs[0] ?? '';
    case 'status.hostIPs':
      return context.hostIPs.join(',');
    case 'status.podIP':
      return context.podIPs[0] ?? '';
    case 'status.podIPs':
      return context.podIPs.join(',');
    default:
      throw new Error(`unsupported fieldPath: ${fieldPath}`);
  }
}

/** Limits default to what the node can give, requests to nothing. */
function amountOf(resource: string, container: Container, allocatable: Readonly<Record<string, string>>): Quantity {
  const dot = resource.indexOf('.');
  const [list, name] = [resource.slice(0, dot), resource.slice(dot + 1)];
  const known = ['cpu', 'memory', 'ephemeral-storage'].includes(name) || name.startsWith('hugepages-');
  if (!known || (list !== 'limits' && list !== 'requests')) throw new Error(`unsupported container resource : ${resource}`);
  const own = container.resources?.[list]?.[name];
  const text = own ?? (list === 'limits' ? allocatable[name] : undefined);
  return text === undefined ? zeroQuantity : parseQuantity(text);
}

/** The value of a resource field. `own` is the container that asks, which a selector without a container name means. */
export function resourceValue(
  selector: ResourceFieldSelector,
  pod: Pod,
  own: Container | undefined,
  context: DownwardContext,
): string {
  const name = selector.containerName;
  const container = name ? findContainer(pod, name) : own;
  if (container === undefined) throw new Error(`container ${name ?? ''} not found`);
  const divisor = parseQuantity(selector.divisor ?? '1');
  const by = divisor.isZero ? parseQuantity('1') : divisor;
  const amount = amountOf(selector.resource, container, context.allocatable);
  const cpu = selector.resource.endsWith('.cpu');
  return String(Math.ceil(cpu ? amount.milliValue() / by.milliValue() : amount.value() / by.value()));
}
