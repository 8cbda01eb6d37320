// The health check of a classic load balancer (one for all ports). Pure.
import type { HealthCheck } from '@aws-sdk/client-elastic-load-balancing';
import { healthCheckOf, type Service } from 'sagong/cloud-provider';
import { annotation, annotationsOf } from '../../annotations.ts';
import { annotatedPort, numberOr, type SharedProbe, sharedProbe, trafficPort } from '../health-check.ts';

interface Target {
  protocol: string;
  port: number;
  path?: string;
}

function defaultTarget(config: SharedProbe, service: Service, firstPort: number): Target {
  const annotations = annotationsOf(service);
  const local = healthCheckOf(service);
  if (local) {
    const asked = annotations[annotation.healthPort] === trafficPort ? firstPort : local.port;
    return { protocol: 'HTTP', port: asked, path: local.path };
  }
  const shared = sharedProbe(config, service);
  if (shared) return { protocol: 'HTTP', ...shared };
  const backend = annotations[annotation.backendProtocol]?.toLowerCase() ?? '';
  return { protocol: ['https', 'ssl'].includes(backend) ? 'SSL' : 'TCP', port: firstPort };
}

/** Smallest values the API takes. */
const minimum = { HealthyThreshold: 2, UnhealthyThreshold: 2, Timeout: 2, Interval: 5 };

function checkValues(values: Required<Omit<HealthCheck, 'Target'>>): void {
  const problems = Object.entries(minimum).flatMap(([name, least]) =>
    (values[name as keyof typeof minimum] ?? 0) < least ? [`${name} must be at least ${least}`] : [],
  );
  if (problems.length > 0)
    throw new Error(
      `some of the load balancer health check parameters are invalid: HealthCheck validation errors: ${problems.join('; ')}`,
    );
}

/** `firstPort`: the first node port of the Service. Throws for values that the annotations have wrong. */
export function classicHealthCheck(config: SharedProbe, service: Service, firstPort: number): HealthCheck {
  const annotations = annotationsOf(service);
  const target = defaultTarget(config, service, firstPort);
  const protocol = (annotations[annotation.healthProtocol] ?? target.protocol).toUpperCase();
  const port = annotatedPort(annotations) ?? target.port;
  const path = ['HTTP', 'HTTPS'].includes(protocol) ? annotations[annotation.healthPath] || target.path || '/' : '';
  const values = {
    HealthyThreshold: numberOr(annotations, annotation.healthyThreshold, 2),
    UnhealthyThreshold: numberOr(annotations, annotation.unhealthyThreshold, 6),
    Timeout: numberOr(annotations, annotation.healthTimeout, 5),
    Interval: numberOr(annotations, annotation.healthInterval, 10),
  };
  checkValues(values);
  return { Target: `${protocol}:${port}${path}`, ...values };
}

export const sameHealthCheck = (wanted: HealthCheck, actual: HealthCheck | undefined): boolean =>
  (Object.keys(wanted) as (keyof HealthCheck)[]).every((field) => wanted[field] === actual?.[field]);
