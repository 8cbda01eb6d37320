// Attributes of a classic load balancer from annotations: access log, draining, idle time, zones. Pure.
import type { LoadBalancerAttributes } from '@aws-sdk/client-elastic-load-balancing';
import { annotation, type Annotations, booleanIn, integerIn } from '../../annotations.ts';

const defined = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== '')) as T;

/** Throws for a value that cannot be read. What no annotation says is off, or left to AWS. */
export const classicAttributes = (annotations: Annotations): LoadBalancerAttributes => ({
  AccessLog: defined({
    Enabled: booleanIn(annotations, annotation.accessLogEnabled) ?? false,
    EmitInterval: integerIn(annotations, annotation.accessLogEmitInterval),
    S3BucketName: annotations[annotation.accessLogBucket],
    S3BucketPrefix: annotations[annotation.accessLogPrefix],
  }),
  ConnectionDraining: defined({
    Enabled: booleanIn(annotations, annotation.drainingEnabled) ?? false,
    Timeout: integerIn(annotations, annotation.drainingTimeout),
  }),
  ConnectionSettings: { IdleTimeout: integerIn(annotations, annotation.idleTimeout) ?? 60 },
  CrossZoneLoadBalancing: { Enabled: booleanIn(annotations, annotation.crossZone) ?? false },
});

/** Whether everything wanted is so already. Details of what is off count for nothing: AWS does not keep them. */
export function sameAttributes(wanted: LoadBalancerAttributes, actual: LoadBalancerAttributes | undefined): boolean {
  const groups = Object.entries(wanted) as [keyof LoadBalancerAttributes, Record<string, unknown>][];
  return groups.every(([group, fields]) => {
    const present = (actual?.[group] ?? {}) as Record<string, unknown>;
    if (fields['Enabled'] === false) return present['Enabled'] !== true;
    return Object.entries(fields).every(([field, value]) => present[field] === value);
  });
}
