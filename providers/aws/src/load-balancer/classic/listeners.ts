// Listeners of a classic load balancer from the ports of a Service, and the way from what is there to what is wanted. Pure.
import type { Listener, ListenerDescription } from '@aws-sdk/client-elastic-load-balancing';
import type { Service, ServicePort } from 'sagong/cloud-provider';
import { annotation, type Annotations, annotationsOf, isTlsPort } from '../../annotations.ts';

/** What the load balancer speaks to clients when it ends TLS, by what the backend speaks. */
const tlsProtocols: Readonly<Record<string, string>> = { https: 'HTTPS', http: 'HTTPS', ssl: 'SSL', tcp: 'SSL' };

function protocolsOf(
  port: ServicePort,
  annotations: Annotations,
): Pick<Listener, 'Protocol' | 'InstanceProtocol' | 'SSLCertificateId'> {
  const backend = annotations[annotation.backendProtocol];
  if (isTlsPort(annotations, port)) {
    const SSLCertificateId = annotations[annotation.certificate];
    const Protocol = tlsProtocols[backend || 'tcp'];
    if (Protocol === undefined)
      throw new Error(`Invalid backend protocol ${backend} for ${SSLCertificateId} in ${annotation.backendProtocol}`);
    return { Protocol, InstanceProtocol: (backend || 'tcp').toUpperCase(), SSLCertificateId };
  }
  if (backend === 'http') return { Protocol: 'HTTP', InstanceProtocol: 'HTTP', SSLCertificateId: undefined };
  const protocol = port.protocol ?? 'TCP';
  return { Protocol: protocol, InstanceProtocol: protocol, SSLCertificateId: undefined };
}

/** One for each port with a node port. Throws for an unknown backend protocol. */
export const classicListeners = (service: Service): Listener[] =>
  (service.spec?.ports ?? [])
    .filter(({ nodePort }) => nodePort)
    .map((port) => ({
      LoadBalancerPort: port.port,
      InstancePort: port.nodePort,
      ...protocolsOf(port, annotationsOf(service)),
    }));

const key = (listener: Listener): string =>
  [
    listener.Protocol,
    listener.InstanceProtocol,
    listener.LoadBalancerPort,
    listener.InstancePort,
    listener.SSLCertificateId ?? '',
  ]
    .join(' ')
    .toLowerCase();

export interface ListenerChange {
  add: Listener[];
  /** Ports of the load balancer. They go first, because a port has one listener. */
  remove: number[];
}

export function listenerChange(wanted: readonly Listener[], present: readonly ListenerDescription[] = []): ListenerChange {
  const actual = present.flatMap(({ Listener: listener }) => listener ?? []);
  const [wantedKeys, actualKeys] = [new Set(wanted.map(key)), new Set(actual.map(key))];
  return {
    add: wanted.filter((listener) => !actualKeys.has(key(listener))),
    remove: actual.filter((listener) => !wantedKeys.has(key(listener))).map(({ LoadBalancerPort = 0 }) => LoadBalancerPort),
  };
}

/** Ports at which the load balancer ends TLS and that do not have exactly this policy. */
export const portsWithoutPolicy = (present: readonly ListenerDescription[] = [], policy: string): number[] =>
  present.flatMap(({ Listener: listener, PolicyNames = [] }) => {
    const { Protocol = '', LoadBalancerPort = 0 } = listener ?? {};
    const endsTls = ['SSL', 'HTTPS'].includes(Protocol.toUpperCase());
    return endsTls && !(PolicyNames.length === 1 && PolicyNames[0] === policy) ? [LoadBalancerPort] : [];
  });
