// Values the server allocated stay when a client leaves them out, and go when the service no longer has a use for them
// (pkg/registry/core/service/storage, patchAllocatedValues and normalizeClusterIPs; strategy.go, dropTypeDependentFields).
import type { Service, ServiceSpec } from '#api/core/v1';
import { semanticEqual } from '../../common/equality.ts';
import { isExternallyAccessible, needsClusterIP, needsHealthCheckNodePort, needsNodePort, specOf } from './rules.ts';

/** Keeps `clusterIP` and `clusterIPs` in step, whichever of them the client changed. */
export function normalizeClusterIPs(service: Service, old?: Service): void {
  const spec = specOf(service);
  const now = spec.clusterIP ?? '';
  const ips = spec.clusterIPs ?? [];
  if (!old) {
    if (now !== '' && ips.length === 0) spec.clusterIPs = [now];
    return;
  }
  const before = specOf(old);
  const was = before.clusterIP ?? '';
  if (before.clusterIPs?.length && ips.length === 0 && was === now) spec.clusterIPs = [...before.clusterIPs];
  if (was === now || !semanticEqual(spec.clusterIPs, before.clusterIPs)) return;
  if (now === '') delete spec.clusterIPs;
  else spec.clusterIPs = [now];
}

/** Fills in what the old service had been given. */
export function patchAllocatedValues(service: Service, old: Service): void {
  const spec = specOf(service);
  const before = specOf(old);
  if (needsClusterIP(before) && needsClusterIP(spec)) {
    if (!spec.clusterIP && before.clusterIP) spec.clusterIP = before.clusterIP;
    if (!spec.clusterIPs?.length && before.clusterIPs?.length) spec.clusterIPs = [...before.clusterIPs];
  }
  if (needsNodePort(before) && needsNodePort(spec)) patchNodePorts(spec, before);
  if (
    needsHealthCheckNodePort(before) &&
    needsHealthCheckNodePort(spec) &&
    !spec.healthCheckNodePort &&
    before.healthCheckNodePort
  ) {
    spec.healthCheckNodePort = before.healthCheckNodePort;
  }
}

const nodePortsOf = ({ ports }: ServiceSpec): Set<number> =>
  new Set((ports ?? []).flatMap(({ nodePort }) => (nodePort ? [nodePort] : [])));

function patchNodePorts(spec: ServiceSpec, before: ServiceSpec): void {
  const used = nodePortsOf(spec);
  const byName = new Map((before.ports ?? []).map(({ name = '', nodePort }) => [name, nodePort]));
  for (const port of spec.ports ?? []) {
    const was = byName.get(port.name ?? '');
    if (!port.nodePort && was && !used.has(was)) port.nodePort = was;
  }
}

/** Clears what only made sense for the old type, unless the client changed it too. */
export function dropTypeDependentFields(service: Service, old: Service): void {
  const spec = specOf(service);
  const before = specOf(old);
  const same = (...fields: (keyof ServiceSpec)[]): boolean =>
    fields.every((field) => semanticEqual(spec[field] ?? '', before[field] ?? ''));
  const drop = (...fields: (keyof ServiceSpec)[]): void => fields.forEach((field) => delete spec[field]);
  if (needsClusterIP(before) && !needsClusterIP(spec)) {
    if (same('clusterIP', 'clusterIPs')) drop('clusterIP', 'clusterIPs');
    if (same('ipFamilies')) drop('ipFamilies');
    if (same('ipFamilyPolicy')) drop('ipFamilyPolicy');
  }
  const portsBefore = nodePortsOf(before);
  if (needsNodePort(before) && !needsNodePort(spec) && [...nodePortsOf(spec)].every((port) => portsBefore.has(port))) {
    for (const port of spec.ports ?? []) delete port.nodePort;
  }
  if (needsHealthCheckNodePort(before) && !needsHealthCheckNodePort(spec) && same('healthCheckNodePort'))
    drop('healthCheckNodePort');
  if (before.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    if (same('allocateLoadBalancerNodePorts')) drop('allocateLoadBalancerNodePorts');
    if (same('loadBalancerClass')) drop('loadBalancerClass');
  }
  if (isExternallyAccessible(before) && !isExternallyAccessible(spec) && same('externalTrafficPolicy'))
    drop('externalTrafficPolicy');
  if (spec.type !== 'LoadBalancer' && service.status) service.status = { ...service.status, loadBalancer: {} };
}
