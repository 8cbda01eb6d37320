// What one port of a Service asks of its NodeBalancer: protocol, PROXY protocol, algorithm, stickiness, certificate, by the annotation of the port, else
// by those of the Service (linode-cloud-controller-manager loadbalancers_helpers.go). Pure.
import type { Service, ServicePort } from 'sagong/cloud-provider';
import { nodePortOf } from 'sagong/cloud-provider/kit';
import { annotation, prefix, read } from '../annotations.ts';
import type { ConfigRequest } from '../api/types.ts';
import { udpCheckPort } from '../limits.ts';
import { healthCheckOf } from './health-check.ts';

type Protocol = ConfigRequest['protocol'];
const protocols: readonly Protocol[] = ['tcp', 'udp', 'http', 'https'];
const proxyProtocols = ['none', 'v1', 'v2'] as const;
const algorithms = { udp: ['roundrobin', 'leastconn', 'ring_hash'], other: ['roundrobin', 'leastconn', 'source'] } as const;
const stickinesses = { udp: ['none', 'session', 'source_ip'], other: ['none', 'table', 'http_cookie'] } as const;

export interface PortPlan {
  config: ConfigRequest;
  nodePort: number;
  /** Name of the Secret with certificate and key, of `https`. */
  secretName?: string;
}

interface PortWords {
  protocol?: string;
  'tls-secret-name'?: string;
  'proxy-protocol'?: string;
  algorithm?: string;
  stickiness?: string;
  'udp-check-port'?: string;
}

/** The annotation of one port, which is JSON with texts. */
function wordsOf(service: Service, port: number): PortWords {
  const name = `${annotation.port}${port}`;
  const words = read(service).json(name) ?? {};
  if (typeof words !== 'object' || Array.isArray(words)) throw new Error(`annotation ${prefix}${name} is not a JSON object`);
  for (const [field, value] of Object.entries(words as Record<string, unknown>))
    if (typeof value !== 'string') throw new Error(`annotation ${prefix}${name}: ${field} must be a text`);
  return words as PortWords;
}

function oneOf<Word extends string>(what: string, value: string, words: readonly Word[], where = ''): Word {
  const found = words.find((word) => word === value.toLowerCase());
  if (found === undefined) throw new Error(`invalid ${what}: ${JSON.stringify(value.toLowerCase())} specified${where}`);
  return found;
}

function proxyProtocolOf(service: Service, words: PortWords, protocol: Protocol): ConfigRequest['proxy_protocol'] {
  const { text } = read(service);
  const asked = words['proxy-protocol'] || text(annotation.proxyProtocol) || text(annotation.oldProxyProtocol) || 'none';
  const found = oneOf('NodeBalancer proxy protocol value', asked, proxyProtocols);
  if (protocol === 'udp' && found !== 'none') throw new Error(`proxy protocol [${found}] is not supported for UDP`);
  return found;
}

const isSticky = ({ spec }: Service): boolean => spec?.sessionAffinity === 'ClientIP';

function algorithmOf(service: Service, words: PortWords, protocol: Protocol): string {
  const isUdp = protocol === 'udp';
  const usual = !isUdp && isSticky(service) ? 'source' : 'roundrobin';
  const asked = words.algorithm || read(service).text(annotation.algorithm) || usual;
  const where = isUdp ? ' for UDP protocol' : ' for TCP/HTTP/HTTPS protocol';
  return oneOf('algorithm', asked, isUdp ? algorithms.udp : algorithms.other, where);
}

/** How a client is kept at one backend; undefined for TCP, which does not have that. */
function stickinessOf(service: Service, words: PortWords, protocol: Protocol): string | undefined {
  if (protocol === 'tcp') return undefined;
  const isUdp = protocol === 'udp';
  const usual = isUdp ? (isSticky(service) ? 'source_ip' : 'session') : 'table';
  const asked = words.stickiness || read(service).text(annotation.stickiness) || usual;
  return oneOf('stickiness', asked, isUdp ? stickinesses.udp : stickinesses.other, ` for ${protocol.toUpperCase()} protocol`);
}

function udpCheckPortOf(service: Service, words: PortWords): number {
  const asked = words['udp-check-port'] || read(service).text(annotation.udpCheckPort) || String(udpCheckPort);
  const port = Number(asked);
  if (!/^\d{1,5}$/.test(asked) || port < 1 || port > 65_535)
    throw new Error(`UDPCheckPort must be between 1 and 65535, got ${asked}`);
  return port;
}

/** Throws for what its owner must change. */
export function portPlan(service: Service, servicePort: ServicePort): PortPlan {
  const { port } = servicePort;
  const nodePort = nodePortOf(servicePort);
  const words = wordsOf(service, port);
  const given = words.protocol || read(service).text(annotation.protocol) || servicePort.protocol || 'TCP';
  const protocol = oneOf('protocol', given, protocols);
  const secretName = words['tls-secret-name'];
  if (protocol === 'udp' && secretName) throw new Error('specifying TLS secret name is not supported for UDP');
  if (protocol === 'https' && !secretName) throw new Error(`TLS secret name for port ${port} is not specified`);
  const stickiness = stickinessOf(service, words, protocol);
  const config: ConfigRequest = {
    port,
    protocol,
    proxy_protocol: proxyProtocolOf(service, words, protocol),
    algorithm: algorithmOf(service, words, protocol),
    ...(stickiness !== undefined && { stickiness }),
    ...(protocol === 'udp' && { udp_check_port: udpCheckPortOf(service, words) }),
    ...healthCheckOf(service, servicePort, protocol),
  };
  return { config, nodePort, ...(protocol === 'https' && secretName && { secretName }) };
}
