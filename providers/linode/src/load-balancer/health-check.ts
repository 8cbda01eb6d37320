// How a NodeBalancer finds out which nodes serve. Pure.
import type { Service, ServicePort } from 'sagong/cloud-provider';
import { annotation, prefix, read } from '../annotations.ts';
import type { ConfigRequest } from '../api/types.ts';
import { checkAttempts, checkIntervalSeconds, checkTimeoutSeconds } from '../limits.ts';

const checks = ['none', 'connection', 'http', 'http_body'] as const;

type Check = Pick<
  ConfigRequest,
  'check' | 'check_path' | 'check_body' | 'check_interval' | 'check_timeout' | 'check_attempts' | 'check_passive'
>;

/** Throws for what the API would refuse as well, naming the annotation. */
export function healthCheckOf(service: Service, port: ServicePort, protocol: ConfigRequest['protocol']): Check {
  const { text, integer, oneOf, boolean } = read(service);
  const check = oneOf(annotation.checkType, checks) ?? (port.protocol === 'UDP' ? 'none' : 'connection');
  const asksHttp = check === 'http' || check === 'http_body';
  const body = check === 'http_body' ? text(annotation.checkBody) : undefined;
  if (check === 'http_body' && body === undefined)
    throw new Error(`for health check type http_body need body regex annotation ${prefix}${annotation.checkBody}`);
  return {
    check,
    ...(asksHttp && { check_path: text(annotation.checkPath) ?? '/' }),
    ...(body !== undefined && { check_body: body }),
    check_interval: integer(annotation.checkInterval, { min: 2, max: 3_600 }) ?? checkIntervalSeconds,
    check_timeout: integer(annotation.checkTimeout, { min: 1, max: 30 }) ?? checkTimeoutSeconds,
    check_attempts: integer(annotation.checkAttempts, { min: 1, max: 30 }) ?? checkAttempts,
    // Answers of UDP services say nothing of that kind.
    check_passive: protocol === 'udp' ? false : (boolean(annotation.checkPassive) ?? true),
  };
}
