// What both kinds of load balancers ask nodes: the Service's own port, kube-proxy on the node (`Shared`), or the health port of a Service with
// `externalTrafficPolicy: Local`. Pure.
import { healthCheckOf, type Service } from 'sagong/cloud-provider';
import { annotation, type Annotations } from '../annotations.ts';
import type { GlobalConfig } from '../config/schema.ts';

export const trafficPort = 'traffic-port';

export type SharedProbe = Pick<
  GlobalConfig,
  | 'ClusterServiceLoadBalancerHealthProbeMode'
  | 'ClusterServiceSharedLoadBalancerHealthProbePort'
  | 'ClusterServiceSharedLoadBalancerHealthProbePath'
>;

/**
 * Port and path of the health endpoint that all Services share; undefined when the cluster does not use it, or the Service has a check of its own.
 */
export const sharedProbe = (config: SharedProbe, service: Service): { port: number; path: string } | undefined =>
  config.ClusterServiceLoadBalancerHealthProbeMode === 'Shared' && !healthCheckOf(service)
    ? {
        port: config.ClusterServiceSharedLoadBalancerHealthProbePort,
        path: config.ClusterServiceSharedLoadBalancerHealthProbePath,
      }
    : undefined;

/** A port number from the annotation; undefined: absent, or the port of the traffic. Throws for what is no port. */
export function annotatedPort(annotations: Annotations): number | undefined {
  const value = annotations[annotation.healthPort];
  if (value === undefined || value === trafficPort) return undefined;
  if (!/^\d{1,5}$/.test(value)) throw new Error(`Invalid health check port '${value}'`);
  return Number(value);
}

/** A number of the annotations, or what it is without. Throws for what is no integer. */
export function numberOr(annotations: Annotations, name: string, fallback: number): number {
  const value = annotations[name];
  if (value === undefined) return fallback;
  if (!/^[+-]?\d{1,9}$/.test(value)) throw new Error(`failed to parse annotation ${name}=${value}`);
  return Number(value);
}
