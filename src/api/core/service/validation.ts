// Rules of services (pkg/apis/core/validation, ValidateServiceCreate and ValidateServiceUpdate).
import type * as core from '#api/core/v1';
import { type FieldError, type Path, root } from '#apimachinery/field';
import { isDNS1123Label, isDNS1123Subdomain, isPortNumber, isQualifiedName } from '#apimachinery/validation';
import { validateLegacyCIDR, validateLegacyIP } from '../../common/ip.ts';
import { validateLabels } from '../../common/labels.ts';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import { validateEndpointIP } from '../common/endpoint-address.ts';
import { protocols } from '../pod/validation/containers.ts';
import { validatePort } from '../pod/validation/probes.ts';
import { validateClusterIPs } from './cluster-ips.ts';
import { isExternallyAccessible, isHeadless, needsHealthCheckNodePort, specOf } from './rules.ts';

const path = root('spec');
const annotationsPath = root('metadata', 'annotations');
const affinitySecondsMax = 86_400;
const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];
const hintsAnnotation = 'service.kubernetes.io/topology-aware-hints';
const modeAnnotation = 'service.kubernetes.io/topology-mode';
const rangesAnnotation = 'service.beta.kubernetes.io/load-balancer-source-ranges';
export const internalPolicies: readonly string[] = ['Cluster', 'Local'];
const onlyLoadBalancer = "may only be used when `type` is 'LoadBalancer'";

export function validateService(report: Report, service: core.Service, old?: core.Service): void {
  const spec = specOf(service);
  const { annotations = {} } = service.metadata;
  const mode = annotations[modeAnnotation];
  if (mode !== undefined && annotations[hintsAnnotation] !== undefined && mode !== annotations[hintsAnnotation]) {
    report.invalid(
      annotationsPath.key(modeAnnotation),
      mode,
      `must match annotations[${hintsAnnotation}] when both are specified`,
    );
  }
  validateType(report, spec);
  validatePorts(report, path.child('ports'), spec);
  validateLabels(report, path.child('selector'), spec.selector);
  report.oneOf(path.child('sessionAffinity'), spec.sessionAffinity, ['ClientIP', 'None']);
  validateAffinity(report, path.child('sessionAffinityConfig'), spec);
  validateClusterIPs(report, spec, old && specOf(old));
  spec.externalIPs?.forEach((ip, index) => {
    const at = path.child('externalIPs').index(index);
    const before = report.count;
    validateLegacyIP(report, at, ip, old && specOf(old).externalIPs);
    if (report.count === before) validateEndpointIP(report, at, ip);
  });
  report.oneOf(path.child('type'), spec.type, types);
  validatePortUse(report, path.child('ports'), spec);
  validateSourceRanges(report, service, old);
  const isLoadBalancer = spec.type === 'LoadBalancer';
  if (spec.allocateLoadBalancerNodePorts !== undefined && !isLoadBalancer)
    report.forbidden(path.child('allocateLoadBalancerNodePorts'), onlyLoadBalancer);
  if (isLoadBalancer && spec.allocateLoadBalancerNodePorts === undefined) report.required(root('allocateLoadBalancerNodePorts'));
  validateLoadBalancerClass(report, spec);
  validateTrafficPolicies(report, spec);
}

function validateType(report: Report, spec: core.ServiceSpec): void {
  const { type, clusterIPs } = spec;
  const headless = isHeadless(spec);
  if (isEmpty(spec.ports) && !headless && type !== 'ExternalName') report.required(path.child('ports'));
  if ((type === 'LoadBalancer' || type === 'NodePort') && headless) {
    report.invalid(path.child('clusterIPs').index(0), 'None', `may not be set to 'None' for ${type} services`);
  }
  if (type !== 'ExternalName') return;
  const detail = 'may not be set for ExternalName services';
  if (!isEmpty(clusterIPs)) report.forbidden(path.child('clusterIPs'), detail);
  if (!isEmpty(spec.ipFamilies)) report.forbidden(path.child('ipFamilies'), detail);
  if (spec.ipFamilyPolicy !== undefined) report.forbidden(path.child('ipFamilyPolicy'), detail);
  const name = (spec.externalName ?? '').replace(/\.$/, '');
  if (name === '') report.required(path.child('externalName'));
  else report.problems(path.child('externalName'), name, isDNS1123Subdomain(name));
}

function validatePorts(report: Report, list: Path, { ports = [] }: core.ServiceSpec): void {
  const names = new Set<string>();
  (ports ?? []).forEach((port, index) => {
    const at = list.index(index);
    if (port.name) {
      report.problems(at.child('name'), port.name, isDNS1123Label(port.name));
      if (names.has(port.name)) report.duplicate(at.child('name'), port.name);
      names.add(port.name);
    } else if (ports.length > 1) report.required(at.child('name'));
    report.problems(at.child('port'), port.port ?? 0, isPortNumber(port.port ?? 0));
    report.oneOf(at.child('protocol'), port.protocol, protocols);
    validatePort(report, at.child('targetPort'), port.targetPort);
    if (port.appProtocol !== undefined)
      report.problems(at.child('appProtocol'), port.appProtocol, isQualifiedName(port.appProtocol));
  });
}

function validateAffinity(report: Report, at: Path, spec: core.ServiceSpec): void {
  const { sessionAffinity, sessionAffinityConfig: config } = spec;
  if (sessionAffinity === 'None' && config) report.forbidden(at, 'must not be set when session affinity is None');
  if (sessionAffinity !== 'ClientIP') return;
  const detail = 'when session affinity type is ClientIP';
  const seconds = config?.clientIP?.timeoutSeconds;
  if (!config) report.required(at, detail);
  else if (!config.clientIP) report.required(at.child('clientIP'), detail);
  else if (seconds === undefined) report.required(at.child('clientIP', 'timeoutSeconds'), detail);
  else if (seconds <= 0 || seconds > affinitySecondsMax) {
    report.invalid(at.child('clientIP', 'timeoutSeconds'), seconds, `must be greater than 0 and less than ${affinitySecondsMax}`);
  }
}

/** Node ports only where they are served, and no port twice. */
function validatePortUse(report: Report, list: Path, { type, ports }: core.ServiceSpec): void {
  if (type === 'ClusterIP') {
    ports?.forEach(({ nodePort }, index) => {
      if (nodePort) report.forbidden(list.index(index).child('nodePort'), "may not be used when `type` is 'ClusterIP'");
    });
  }
  const nodePorts = new Set<string>();
  ports?.forEach(({ protocol, nodePort }, index) => {
    if (!nodePort) return;
    const key = `${protocol} ${nodePort}`;
    if (nodePorts.has(key)) report.duplicate(list.index(index).child('nodePort'), nodePort);
    nodePorts.add(key);
  });
  const seen = new Set<string>();
  ports?.forEach(({ protocol, port }, index) => {
    const key = `${protocol} ${port}`;
    const shown = { Name: '', Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
    if (seen.has(key)) report.duplicate(list.index(index), shown);
    seen.add(key);
  });
}

function validateSourceRanges(report: Report, service: core.Service, old?: core.Service): void {
  const { type, loadBalancerSourceRanges: ranges = [] } = specOf(service);
  const trimmed = (list: string[] | undefined): string[] => (list ?? []).map((range) => range.trim());
  if (ranges?.length) {
    const at = path.child('LoadBalancerSourceRanges');
    if (type !== 'LoadBalancer') report.forbidden(at, onlyLoadBalancer);
    const before = trimmed(old && specOf(old).loadBalancerSourceRanges);
    trimmed(ranges).forEach((range, index) => validateLegacyCIDR(report, at.index(index), range, before));
    return;
  }
  const annotation = service.metadata.annotations?.[rangesAnnotation];
  if (annotation === undefined) return;
  const at = annotationsPath.key(rangesAnnotation);
  if (type !== 'LoadBalancer') report.forbidden(at, onlyLoadBalancer);
  const changed = old?.metadata.annotations?.[rangesAnnotation] !== annotation;
  if (changed && annotation.trim() !== '')
    for (const range of trimmed(annotation.trim().split(','))) validateLegacyCIDR(report, at, range);
}

function validateLoadBalancerClass(report: Report, { type, loadBalancerClass: name }: core.ServiceSpec): void {
  const at = path.child('loadBalancerClass');
  if (name === undefined) return;
  if (type === 'LoadBalancer') report.problems(at, name, isQualifiedName(name));
  else report.forbidden(at, onlyLoadBalancer);
}

function validateTrafficPolicies(report: Report, spec: core.ServiceSpec): void {
  const { externalTrafficPolicy: external, healthCheckNodePort: port, internalTrafficPolicy: internal, type } = spec;
  const externalAt = path.child('externalTrafficPolicy');
  if (isExternallyAccessible(spec)) report.oneOf(externalAt, external, ['Cluster', 'Local']);
  else if (external) report.invalid(externalAt, external, 'may only be set for externally-accessible services');
  const healthAt = path.child('healthCheckNodePort');
  if (needsHealthCheckNodePort(spec)) {
    if (!port) report.required(healthAt);
    else report.problems(healthAt, port, isPortNumber(port));
  } else if (port)
    report.invalid(healthAt, port, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'");
  const known = type === 'NodePort' || type === 'LoadBalancer' || type === 'ClusterIP';
  if (internal === undefined && known) report.required(path.child('internalTrafficPolicy'));
  report.knownIfSet(path.child('internalTrafficPolicy'), internal, internalPolicies);
  report.knownIfSet(path.child('trafficDistribution'), spec.trafficDistribution, distributions);
}

/** Rules of a change: what cannot be once it has been set. */
export function validateServiceChange(report: Report, service: core.Service, old: core.Service): void {
  const spec = specOf(service);
  const before = specOf(old);
  if (before.type === 'LoadBalancer' && spec.type === 'LoadBalancer' && before.loadBalancerClass !== spec.loadBalancerClass) {
    report.invalid(path.child('loadBalancerClass'), spec.loadBalancerClass ?? null, 'may not change once set');
  }
  validateLoadBalancerClass(report, spec);
  if (
    needsHealthCheckNodePort(before) &&
    needsHealthCheckNodePort(spec) &&
    spec.healthCheckNodePort !== before.healthCheckNodePort
  ) {
    report.forbidden(path.child('healthCheckNodePort'), 'field is immutable');
  }
}

interface Ingress {
  ip?: string;
  hostname?: string;
  ipMode?: string;
}

export function validateServiceStatus(service: core.Service, old: core.Service): FieldError[] {
  const list = root('status', 'loadBalancer', 'ingress');
  const ingress: Ingress[] = service.status?.loadBalancer?.ingress ?? [];
  const before = (old.status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => (ip ? [ip] : []));
  return collect((report) => {
    if (specOf(service).type !== 'LoadBalancer') {
      if (ingress.length > 0) report.forbidden(list, "may only be used when `spec.type` is 'LoadBalancer'");
      return;
    }
    ingress.forEach((one, index) => validateIngress(report, list.index(index), one, before));
  });
}

function validateIngress(report: Report, at: Path, { ip, hostname, ipMode }: Ingress, old: string[]): void {
  if (ip) validateLegacyIP(report, at.child('ip'), ip, old);
  if (ipMode === undefined) {
    if (ip) report.required(at.child('ipMode'), 'must be specified when `ip` is set');
  } else if (!ip) report.forbidden(at.child('ipMode'), 'may not be specified when `ip` is not set');
  else report.known(at.child('ipMode'), ipMode, ['Proxy', 'VIP']);
  if (!hostname) return;
  report.problems(at.child('hostname'), hostname, isDNS1123Subdomain(hostname));
  if (/^[0-9.]+$|:/.test(hostname)) report.invalid(at.child('hostname'), hostname, 'must be a DNS name, not an IP address');
}
