// How a load balancer learns which nodes can serve. By default it asks kube-proxy (KEP-3836), or, with `externalTrafficPolicy: Local`, the
// Service's own health check port; annotations may send it elsewhere, but only together with the one that says they mean it.
import { healthCheckOf, type Service, type ServicePort } from 'sagong/cloud-provider';
import { textOf } from 'sagong/cloud-provider/kit';
import { annotationOf, annotations, integerOf, portsOf, quoted } from '../annotations.ts';
import type { HealthCheck } from '../api/types.ts';

const kubeProxyHealthPort = 10_256;

/** The path and port that health is checked at by default. */
export const defaultCheckOf = (service: Service): { path: string; port: number } =>
  healthCheckOf(service) ?? { path: '/healthz', port: kubeProxyHealthPort };

function numberOf(service: Service, key: string, words: string, otherwise: number): number {
  const text = annotationOf(service, key);
  if (text === undefined) return otherwise;
  try {
    return integerOf(text);
  } catch (error) {
    throw new Error(`failed to parse health check ${words} annotation ${quoted(key)}: ${textOf(error)}`, { cause: error });
  }
}

function annotatedPorts(service: Service): number[] {
  try {
    return portsOf(service, annotations.healthCheckPort);
  } catch (error) {
    throw new Error(`failed to get health check port: ${textOf(error)}`, { cause: error });
  }
}

/** Without a node port there is nothing to ask; to this API port 0 means all of them. */
function askedAt({ port, nodePort }: ServicePort): number {
  if (!nodePort) throw new Error(`health check port: ${port} has no node port`);
  return nodePort;
}

/** The node port to ask: of the Service's port that is annotated, else of its first one that is TCP. */
function portOf(service: Service): number {
  const [wanted, ...more] = annotatedPorts(service);
  const ports = service.spec?.ports ?? [];
  if (more.length > 0)
    throw new Error(
      `annotation ${annotations.healthCheckPort} only supports a single port, but found multiple: [${[wanted, ...more].join(' ')}]`,
    );
  if (wanted === undefined) {
    const first = ports.find(({ protocol = 'TCP' }) => protocol === 'TCP');
    if (!first) throw new Error('no health check port of protocol TCP found');
    return askedAt(first);
  }
  const named = ports.filter(({ port }) => port === wanted);
  const port = named.find(({ protocol }) => protocol !== 'UDP') ?? named[0];
  if (!port) {
    const { namespace, name } = service.metadata;
    throw new Error(`specified health check port ${wanted} does not exist on service ${namespace}/${name}`);
  }
  if (port.protocol === 'UDP') throw new Error(`health check port: ${port.port}, cannot be of protocol type UDP`);
  return askedAt(port);
}

function protocolOf(service: Service, path: string): string {
  const protocol = annotationOf(service, annotations.healthCheckProtocol) || (path === '' ? 'tcp' : 'http');
  if (!['tcp', 'http', 'https'].includes(protocol))
    throw new Error(`invalid protocol ${quoted(protocol)} specified in annotation ${quoted(annotations.healthCheckProtocol)}`);
  return protocol;
}

function whereToAsk(service: Service): Pick<HealthCheck, 'protocol' | 'port' | 'path' | 'proxy_protocol'> {
  // Neither kube-proxy nor its health check ports understand the PROXY protocol.
  if (annotationOf(service, annotations.overrideHealthCheck) === undefined)
    return { protocol: 'http', ...defaultCheckOf(service), proxy_protocol: false };
  const path = annotationOf(service, annotations.healthCheckPath) ?? '';
  const port = portOf(service);
  return { protocol: protocolOf(service, path), port, ...(path !== '' && { path }) };
}

/** Throws for values that cannot be used. */
export const healthCheckFor = (service: Service): HealthCheck => ({
  ...whereToAsk(service),
  check_interval_seconds: numberOf(service, annotations.healthCheckInterval, 'interval', 3),
  response_timeout_seconds: numberOf(service, annotations.healthCheckResponseTimeout, 'response timeout', 5),
  unhealthy_threshold: numberOf(service, annotations.healthCheckUnhealthyThreshold, 'unhealthy threshold', 3),
  healthy_threshold: numberOf(service, annotations.healthCheckHealthyThreshold, 'healthy threshold', 5),
});
