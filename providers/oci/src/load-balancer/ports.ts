// The ports of a Service as listeners and backend sets with the names that upstream gives them. Pure.
import type { Service } from 'sagong/cloud-provider';
import { nodePortOf } from 'sagong/cloud-provider/kit';
import { annotation, nameFor, read } from '../annotations.ts';
import type { BalancerKind, Listener } from '../api/types.ts';
import { idleTimeoutHttpSeconds, idleTimeoutTcpSeconds } from '../limits.ts';
import { sslOf, type TlsPlan } from './tls.ts';

export type Family = 'IPv4' | 'IPv6';

/** A port number with the protocols that it is served in. */
export interface PortPlan {
  port: number;
  nodePort: number;
  /** `TCP`, `UDP`, or both. */
  protocols: string[];
}

/** TCP and UDP of one port are one listener, which has one node port. */
export function portsOf(kind: BalancerKind, service: Service): PortPlan[] {
  const plans = new Map<number, PortPlan>();
  for (const servicePort of service.spec?.ports ?? []) {
    const { port, protocol = 'TCP' } = servicePort;
    checkProtocol(kind, protocol);
    const there = plans.get(port);
    const nodePort = nodePortOf(servicePort);
    if (!there) plans.set(port, { port, nodePort, protocols: [protocol] });
    else if (there.protocols.includes(protocol)) throw new Error(`port ${port} is there twice`);
    else if (there.nodePort !== nodePort)
      throw new Error(`port ${port}: TCP and UDP of one port must have the same node port, as they are one listener`);
    else there.protocols.push(protocol);
  }
  return [...plans.values()];
}

function checkProtocol(kind: BalancerKind, protocol: string): void {
  if (kind === 'lb' && protocol === 'UDP') throw new Error('OCI load balancers do not support UDP');
  if (protocol !== 'TCP' && protocol !== 'UDP')
    throw new Error(`invalid backend protocol ${JSON.stringify(protocol)} requested for network load balancer listener`);
}

export const protocolOf = ({ protocols }: PortPlan): string => (protocols.length > 1 ? 'TCP_AND_UDP' : (protocols[0] ?? 'TCP'));

const suffixOf = (kind: BalancerKind, family: Family): string => (kind === 'nlb' && family === 'IPv6' ? '-IPv6' : '');

export const backendSetName = (kind: BalancerKind, plan: PortPlan, family: Family): string =>
  `${protocolOf(plan)}-${plan.port}${suffixOf(kind, family)}`;

/** `HTTP`, `TCP` or `GRPC`; undefined: not given. */
function backendProtocol(service: Service): string | undefined {
  const text = read(service).text(annotation.backendProtocol);
  if (text === undefined) return undefined;
  const word = text.toUpperCase();
  if (['HTTP', 'TCP', 'GRPC'].includes(word)) return word;
  throw new Error(
    `invalid backend protocol ${JSON.stringify(text)} requested for load balancer listener. Only 'HTTP', 'TCP' and 'GRPC' protocols supported`,
  );
}

/** With a version of the PROXY protocol an idle timeout must be given as well. */
function connectionOf(service: Service, protocol: string): Listener['connectionConfiguration'] {
  const version = read(service).integer(annotation.proxyProtocol, { min: 1, max: 2 });
  const usual = protocol === 'TCP' ? idleTimeoutTcpSeconds : idleTimeoutHttpSeconds;
  const idleTimeout = read(service).integer(annotation.idleTimeout, { min: 1 }) ?? (version && usual);
  return idleTimeout === undefined
    ? undefined
    : { idleTimeout, ...(version !== undefined && { backendTcpProxyProtocolVersion: version }) };
}

const grpcCiphers = 'oci-default-http2-ssl-cipher-suite-v1';

function classicListener(service: Service, plan: PortPlan, tls: TlsPlan, ruleSets: readonly string[]): [string, Listener] {
  const protocol = backendProtocol(service) ?? 'TCP';
  const ssl = sslOf(tls, 'listener', plan.port);
  if (protocol === 'GRPC' && !ssl) throw new Error('SSL configuration cannot be empty for GRPC protocol');
  const sslConfiguration = ssl && protocol === 'GRPC' ? { cipherSuiteName: grpcCiphers, ...ssl } : ssl;
  const connectionConfiguration = connectionOf(service, protocol);
  const listener = {
    defaultBackendSetName: backendSetName('lb', plan, 'IPv4'),
    port: plan.port,
    protocol,
    ...(ruleSets.length > 0 && { ruleSetNames: [...ruleSets] }),
    ...(sslConfiguration && { sslConfiguration }),
    ...(connectionConfiguration && { connectionConfiguration }),
  };
  return [`${protocol}-${plan.port}`, listener];
}

function networkListener(service: Service, plan: PortPlan, family: Family): [string, Listener] {
  const name = backendSetName('nlb', plan, family);
  const listener = {
    defaultBackendSetName: name,
    port: plan.port,
    protocol: protocolOf(plan),
    ipVersion: family === 'IPv6' ? ('IPV6' as const) : ('IPV4' as const),
    isPpv2Enabled: read(service).boolean(annotation.ppv2) ?? false,
  };
  return [name, listener];
}

export interface ListenersOptions {
  kind: BalancerKind;
  ports: readonly PortPlan[];
  tls: TlsPlan;
  /** Their names. */
  ruleSets: readonly string[];
  families: readonly Family[];
}

/** The listeners of a Service by their names. */
export function listenersOf(service: Service, { kind, ports, tls, ruleSets, families }: ListenersOptions) {
  const all = ports.flatMap((plan) =>
    kind === 'lb'
      ? [classicListener(service, plan, tls, ruleSets)]
      : families.map((family) => networkListener(service, plan, family)),
  );
  return Object.fromEntries(all);
}

const policies = {
  lb: ['ROUND_ROBIN', 'LEAST_CONNECTIONS', 'IP_HASH'],
  nlb: ['FIVE_TUPLE', 'THREE_TUPLE', 'TWO_TUPLE'],
} as const;

export function policyOf(kind: BalancerKind, service: Service): string {
  const known: readonly string[] = policies[kind];
  const word = read(service).text(nameFor(kind, 'policy')) ?? known[0] ?? '';
  if (!known.includes(word)) throw new Error(`loadbalancer policy "${word}" is not valid`);
  return word;
}
