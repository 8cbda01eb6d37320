// Defaults of services (pkg/apis/core/v1/defaults.go).
import type { Service } from '#api/core/v1';
import { isExternallyAccessible } from './rules.ts';

const affinitySeconds = 10_800;

export function serviceDefaults(service: Service): void {
  const spec = (service.spec ??= {});
  spec.sessionAffinity ||= 'None';
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: affinitySeconds } };
  }
  spec.type ||= 'ClusterIP';
  for (const port of spec.ports ?? []) {
    port.protocol ||= 'TCP';
    port.targetPort ||= port.port;
  }
  if (isExternallyAccessible(spec)) spec.externalTrafficPolicy ||= 'Cluster';
  if (spec.type !== 'ExternalName') defaultInternal(spec);
  if (spec.type !== 'LoadBalancer') return;
  spec.allocateLoadBalancerNodePorts ??= true;
  for (const ingress of service.status?.loadBalancer?.ingress ?? []) if (ingress.ip) ingress.ipMode ??= 'VIP';
}

function defaultInternal(spec: { type?: string; internalTrafficPolicy?: string }): void {
  const known = spec.type === 'NodePort' || spec.type === 'LoadBalancer' || spec.type === 'ClusterIP';
  if (known) spec.internalTrafficPolicy ??= 'Cluster';
}
