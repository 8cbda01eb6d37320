// How backends are asked whether they serve. Pure.
import { healthCheckOf, type Service } from 'sagong/cloud-provider';
import { annotation, isGiven, nameFor, read } from '../annotations.ts';
import type { BalancerKind, HealthChecker } from '../api/types.ts';
import { nodesHealthPort } from '../limits.ts';

const intervalMin = { lb: 1_000, nlb: 10_000 } as const;
const intervalMax = 1_800_000;

function intervalOf(kind: BalancerKind, service: Service): number {
  const given = read(service).integer(nameFor(kind, 'healthInterval')) ?? 10_000;
  const min = intervalMin[kind];
  if (given < min || given > intervalMax)
    throw new Error(`invalid value for health check interval, should be between ${min} and ${intervalMax}`);
  return given;
}

export function healthCheckerOf(kind: BalancerKind, service: Service): HealthChecker {
  const { path = '/healthz', port = nodesHealthPort } = healthCheckOf(service) ?? {};
  return {
    protocol: 'HTTP',
    urlPath: path,
    port,
    returnCode: 200,
    retries: read(service).integer(nameFor(kind, 'healthRetries'), { min: 1 }) ?? 3,
    timeoutInMillis: read(service).integer(nameFor(kind, 'healthTimeout'), { min: 1 }) ?? 3_000,
    intervalInMillis: intervalOf(kind, service),
    // Nodes are asked in plain HTTP also where traffic to them is in TLS.
    ...(kind === 'lb' && { isForcePlainText: isGiven(service, annotation.tlsBackendSecret) }),
  };
}
