// Warnings about services (pkg/api/service/warnings.go).
import type { Service } from '#api/core/v1';
import { root } from '#apimachinery/field';
import { cidrWarnings, ipWarnings } from '#apimachinery/validation';
import { specOf } from './rules.ts';

const path = root('spec');

export function serviceWarnings(service: Service): string[] {
  const spec = specOf(service);
  const { type, clusterIP, clusterIPs = [], externalIPs = [], loadBalancerIP, externalName } = spec;
  const headless = type === 'ClusterIP' && clusterIP === 'None';
  const warnings: string[] = [];
  const warnIf = (condition: unknown, text: string): void => void (condition && warnings.push(text));
  warnIf(
    service.metadata.annotations?.['service.kubernetes.io/topology-aware-hints'] !== undefined,
    'annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead',
  );
  if (clusterIP && clusterIP !== 'None')
    clusterIPs.forEach((ip, index) => warnings.push(...ipWarnings(path.child('clusterIPs').index(index), ip)));
  warnIf(headless && loadBalancerIP, 'spec.loadBalancerIP is ignored for headless services');
  warnIf(headless && externalIPs.length, 'spec.externalIPs is ignored for headless services');
  warnIf(headless && spec.sessionAffinity !== 'None', 'spec.SessionAffinity is ignored for headless services');
  externalIPs.forEach((ip, index) => warnings.push(...ipWarnings(path.child('externalIPs').index(index), ip)));
  const usesExternalIPs = externalIPs.length > 0 && !headless && type !== 'ExternalName';
  warnIf(usesExternalIPs, 'spec.externalIPs is deprecated and may no longer be implemented in some clusters');
  if (loadBalancerIP) warnings.push(...ipWarnings(path.child('loadBalancerIP'), loadBalancerIP));
  spec.loadBalancerSourceRanges?.forEach((cidr, index) =>
    warnings.push(...cidrWarnings(path.child('loadBalancerSourceRanges').index(index), cidr)),
  );
  warnIf(type === 'ExternalName' && externalIPs.length, 'spec.externalIPs is ignored when spec.type is "ExternalName"');
  warnIf(type !== 'ExternalName' && externalName, 'spec.externalName is ignored when spec.type is not "ExternalName"');
  warnIf(
    spec.trafficDistribution === 'PreferClose',
    'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
  );
  return warnings;
}

export const statusWarnings = ({ status }: Service): string[] =>
  (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }, index) =>
    ip ? ipWarnings(root('status', 'loadBalancer', 'ingress').index(index), ip) : [],
  );
