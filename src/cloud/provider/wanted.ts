// The load balancer that a Service wants, as data. Pure.
import { healthCheckOf, type Service, type ServicePort, sourceRangesOf } from '#cloud-provider';
import type { HealthCheck, Listener, LoadBalancer } from '../model/index.ts';
import { healthCheck, listenersMax, sourceRangesMax } from '../model/index.ts';
import { addressAnnotation, internalAnnotation, kindAnnotation, proxyProtocolAnnotation } from './annotations.ts';
import { affinityTimeoutSecondsDefault, kubeProxyHealthPort } from './limits.ts';

export interface WantedBalancer extends Pick<LoadBalancer, 'kind' | 'scheme' | 'listeners' | 'sourceRanges' | 'proxyProtocol'> {
  healthCheck: HealthCheck;
  affinityTimeoutSeconds?: number;
  /** The address that the user asks for: without it the load balancer is refused. */
  address?: string;
  /** The address that it had before, which it is given again where that is free. */
  previousAddress?: string;
}

const choice = <T extends string>(service: Service, annotation: string, choices: readonly T[]): T | undefined => {
  const value = service.metadata.annotations?.[annotation]?.trim();
  if (value === undefined || value === '') return undefined;
  const found = choices.find((one) => one === value);
  if (found === undefined)
    throw new Error(`annotation ${annotation} must be one of ${choices.join(', ')}, not ${JSON.stringify(value)}`);
  return found;
};

const hasNodePorts = (ports: readonly ServicePort[]): boolean =>
  ports.every(({ nodePort }) => nodePort !== undefined && nodePort > 0);

/**
 * Where the client's address matters (Local, affinity), or where nodes have no ports of the Service, packets must reach nodes as they
 * were sent.
 */
function kindOf(service: Service, byDefault: LoadBalancer['kind']): LoadBalancer['kind'] {
  const { ports = [], externalTrafficPolicy, sessionAffinity } = service.spec ?? {};
  const proxyProtocol = choice(service, proxyProtocolAnnotation, ['v1', 'v2']);
  const asked = choice(service, kindAnnotation, ['proxy', 'network']);
  if (asked === 'network' && proxyProtocol) throw new Error('a load balancer of kind network has no PROXY protocol');
  if ((asked === 'proxy' || proxyProtocol) && !hasNodePorts(ports))
    throw new Error('a load balancer of kind proxy needs node ports: set allocateLoadBalancerNodePorts, or take kind network');
  if (asked) return asked;
  if (proxyProtocol) return 'proxy';
  if (externalTrafficPolicy === 'Local' || sessionAffinity === 'ClientIP' || !hasNodePorts(ports)) return 'network';
  return byDefault;
}

function listenerOf(kind: LoadBalancer['kind'], { protocol = 'TCP', port, nodePort }: ServicePort): Listener {
  if (protocol !== 'TCP' && protocol !== 'UDP') throw new Error(`the local cloud's load balancers have no protocol ${protocol}`);
  return {
    protocol: protocol === 'TCP' ? 'tcp' : 'udp',
    port,
    ...(kind === 'proxy' && nodePort !== undefined && { targetPort: nodePort }),
  };
}

function healthCheckFor(service: Service): HealthCheck {
  const { port, path } = healthCheckOf(service) ?? { port: kubeProxyHealthPort, path: '/healthz' };
  return healthCheck().parse({ protocol: 'http', port, path });
}

function affinityOf({ spec }: Service): number | undefined {
  if (spec?.sessionAffinity !== 'ClientIP') return undefined;
  return spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? affinityTimeoutSecondsDefault;
}

function mustFit(what: string, count: number, max: number): void {
  if (count > max) throw new Error(`the local cloud's load balancers have at most ${max} ${what}, and the Service has ${count}`);
}

/** Throws a sentence for what the cloud cannot do; it is shown in an event of the Service. */
export function wantedBalancer(service: Service, defaultKind: LoadBalancer['kind']): WantedBalancer {
  const { ports = [], ipFamilies = [], loadBalancerIP } = service.spec ?? {};
  if (ipFamilies.length > 0 && !ipFamilies.includes('IPv4')) throw new Error("the local cloud's load balancers have IPv4 only");
  const sourceRanges = sourceRangesOf(service).filter((range) => !range.includes(':'));
  mustFit('ports', ports.length, listenersMax);
  mustFit('source ranges', sourceRanges.length, sourceRangesMax);
  const kind = kindOf(service, defaultKind);
  const address = loadBalancerIP || service.metadata.annotations?.[addressAnnotation]?.trim() || undefined;
  const previousAddress = service.status?.loadBalancer?.ingress?.[0]?.ip;
  const affinityTimeoutSeconds = affinityOf(service);
  return {
    kind,
    scheme: choice(service, internalAnnotation, ['true', 'false']) === 'true' ? 'internal' : 'internet-facing',
    listeners: ports.map((port) => listenerOf(kind, port)),
    sourceRanges,
    healthCheck: healthCheckFor(service),
    proxyProtocol: choice(service, proxyProtocolAnnotation, ['v1', 'v2']) ?? 'none',
    ...(affinityTimeoutSeconds !== undefined && { affinityTimeoutSeconds }),
    ...(address !== undefined && { address }),
    ...(previousAddress !== undefined && { previousAddress }),
  };
}
