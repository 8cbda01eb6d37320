// From the ports of a Service to the rules of its load balancer. A network load balancer passes packets on as they are: rule and target have
// the Service's own port, and kube-proxy takes them by the address. A regional one makes connections of its own, to the node ports.
import type { Service, ServicePort } from 'sagong/cloud-provider';
import { annotationOf, annotations, booleanOf, integerOf, portsOf, quoted } from '../annotations.ts';
import type { ForwardingRule } from '../api/types.ts';

const protocols = ['tcp', 'http', 'https', 'http2', 'http3'];
const securePort = 443;

const portsIn = ({ spec }: Service): ServicePort[] => spec?.ports ?? [];

function transportOf({ protocol = 'TCP' }: ServicePort): 'tcp' | 'udp' {
  if (protocol === 'TCP') return 'tcp';
  if (protocol === 'UDP') return 'udp';
  throw new Error(`only TCP or UDP protocol is supported, got: ${quoted(protocol)}`);
}

/** The rules of a network load balancer. Throws for SCTP. */
export const passThroughRules = (service: Service): ForwardingRule[] =>
  portsIn(service).map((port) => {
    const protocol = transportOf(port);
    return { entry_protocol: protocol, entry_port: port.port, target_protocol: protocol, target_port: port.port };
  });

function defaultProtocol(service: Service): string {
  const protocol = annotationOf(service, annotations.protocol) ?? 'tcp';
  if (!protocols.includes(protocol))
    throw new Error(`invalid protocol ${quoted(protocol)} specified in annotation ${quoted(annotations.protocol)}`);
  return protocol;
}

/** Whether TLS is passed through to the pods. An unusable value counts as false, as upstream has it. */
export function passesTlsThrough(service: Service): boolean {
  try {
    return booleanOf(service, annotations.tlsPassthrough) ?? false;
  } catch {
    return false;
  }
}

/** Protocols by port, as the annotations want it. Throws when two of them name the same port. */
function protocolsByPort(service: Service, secure: boolean): Map<number, string> {
  const http = portsOf(service, annotations.httpPorts);
  const https = portsOf(service, annotations.tlsPorts);
  const http2 = portsOf(service, annotations.http2Ports);
  const all = [...http, ...https, ...http2];
  const twice = [...new Set(all.filter((port, index) => all.indexOf(port) !== index))].map(String).sort();
  if (twice.length > 0)
    throw new Error(`ports from annotations "${annotations.base}*-ports" cannot be shared but found: ${twice.join(', ')}`);
  if (secure && https.length === 0 && !http2.includes(securePort)) https.push(securePort);
  const named = (ports: number[], protocol: string) => ports.map((port) => [port, protocol] as const);
  return new Map([...named(http, 'http'), ...named(https, 'https'), ...named(http2, 'http2')]);
}

interface Tls {
  certificateId: string;
  passthrough: boolean;
}

function tlsPart({ certificateId, passthrough }: Tls): Partial<ForwardingRule> {
  const problem =
    certificateId === '' && !passthrough
      ? 'must set certificate id or enable tls pass through'
      : certificateId !== '' && passthrough
        ? 'either certificate id should be set or tls pass through enabled, not both'
        : undefined;
  if (problem) throw new Error(`failed to build TLS part(s) of forwarding rule: ${problem}`);
  return passthrough ? { tls_passthrough: true } : { certificate_id: certificateId, target_protocol: 'http' };
}

/** Where the load balancer sends what comes to the port. */
function targetOf({ port, nodePort }: ServicePort): number {
  if (!nodePort) throw new Error(`port ${port} has no node port, which a regional load balancer needs`);
  return nodePort;
}

function http3Rule(service: Service, { certificateId, passthrough }: Tls): ForwardingRule[] {
  const annotated = annotationOf(service, annotations.http3Port);
  if (annotated === undefined) return [];
  const failed = (problem: string): Error => new Error(`failed to construct http3 forwarding rule: ${problem}`);
  let entryPort: number;
  try {
    entryPort = integerOf(annotated);
  } catch (error) {
    throw failed((error as Error).message);
  }
  if (passthrough) throw failed('TLS passthrough is not allowed to be used in conjunction with HTTP3');
  if (certificateId === '') throw failed('certificate ID is required for HTTP3');
  const port = portsIn(service).find((candidate) => candidate.port === entryPort);
  if (!port) return [];
  return [
    {
      entry_protocol: 'http3',
      entry_port: entryPort,
      certificate_id: certificateId,
      target_protocol: 'http',
      target_port: targetOf(port),
    },
  ];
}

/** Rules of a regional load balancer; `certificateId` is '' without one. Throws for annotations that contradict each other. */
export function terminatingRules(service: Service, certificateId: string): ForwardingRule[] {
  const usual = defaultProtocol(service);
  const tls: Tls = { certificateId, passthrough: passesTlsThrough(service) };
  const byPort = protocolsByPort(service, certificateId !== '' || tls.passthrough);
  const rules = portsIn(service).map((port): ForwardingRule => {
    const protocol = transportOf(port) === 'udp' ? 'udp' : (byPort.get(port.port) ?? usual);
    return {
      entry_protocol: protocol,
      entry_port: port.port,
      target_protocol: protocol,
      target_port: targetOf(port),
      ...((protocol === 'https' || protocol === 'http2') && tlsPart(tls)),
    };
  });
  return [...rules, ...http3Rule(service, tls)];
}
