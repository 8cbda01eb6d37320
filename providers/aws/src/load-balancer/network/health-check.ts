// The health check of the target groups of a network load balancer. Pure.
import { healthCheckOf, type Service } from 'sagong/cloud-provider';
import { annotation, annotationsOf } from '../../annotations.ts';
import { annotatedPort, numberOr, type SharedProbe, sharedProbe, trafficPort } from '../health-check.ts';

export interface NetworkHealthCheck {
  protocol: 'TCP' | 'HTTP' | 'HTTPS';
  /** A number, or `traffic-port`. */
  port: string;
  /** Not for TCP. */
  path?: string;
  intervalSeconds: number;
  /** AWS demands that both are equal for TCP. */
  healthyThreshold: number;
  unhealthyThreshold: number;
}

/** AWS sets how long a check may take by its protocol, so the annotation for it is not sent (as upstream). */
export function networkHealthCheck(config: SharedProbe, service: Service): NetworkHealthCheck {
  const annotations = annotationsOf(service);
  const local = healthCheckOf(service);
  const shared = sharedProbe(config, service);
  const protocol = shared ? 'HTTP' : (annotations[annotation.healthProtocol] ?? (local ? 'HTTP' : 'TCP')).toUpperCase();
  if (protocol !== 'TCP' && protocol !== 'HTTP' && protocol !== 'HTTPS')
    throw new Error(`Unsupported health check protocol ${protocol}`);
  const askedPort = annotations[annotation.healthPort] === undefined ? local?.port : annotatedPort(annotations);
  const path = shared?.path ?? annotations[annotation.healthPath] ?? local?.path ?? '/';
  const threshold = local ? 2 : 3;
  return {
    protocol,
    port: String(shared?.port ?? askedPort ?? trafficPort),
    ...(protocol !== 'TCP' && { path }),
    intervalSeconds: numberOr(annotations, annotation.healthInterval, local ? 10 : 30),
    healthyThreshold: numberOr(annotations, annotation.healthyThreshold, threshold),
    unhealthyThreshold: numberOr(annotations, annotation.unhealthyThreshold, threshold),
  };
}
