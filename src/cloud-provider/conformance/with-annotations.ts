// A provider of which every Service asks for something by annotation, so that the suite also runs over another kind of load balancer.
import type { CloudProvider, Service } from '../types.ts';

/** Wraps a provider so that its load balancers see each Service with these annotations added. */
export function withAnnotations(cloud: CloudProvider, annotations: Readonly<Record<string, string>>): CloudProvider {
  const inner = cloud.loadBalancer;
  if (!inner) return cloud;
  const asking = (service: Service): Service => ({
    ...service,
    metadata: { ...service.metadata, annotations: { ...service.metadata.annotations, ...annotations } },
  });
  return {
    ...cloud,
    loadBalancer: {
      getLoadBalancer: (cluster, service, signal) => inner.getLoadBalancer(cluster, asking(service), signal),
      getLoadBalancerName: (cluster, service) => inner.getLoadBalancerName(cluster, asking(service)),
      ensureLoadBalancer: (cluster, service, nodes, signal) => inner.ensureLoadBalancer(cluster, asking(service), nodes, signal),
      updateLoadBalancer: (cluster, service, nodes, signal) => inner.updateLoadBalancer(cluster, asking(service), nodes, signal),
      ensureLoadBalancerDeleted: (cluster, service, signal) => inner.ensureLoadBalancerDeleted(cluster, asking(service), signal),
    },
  };
}
