import type { Service } from 'sagong/cloud-provider';
import { describe, expect, it } from 'vitest';
import { serviceWith } from '../../test-server/world.ts';
import { passThroughRules, terminatingRules } from './forwarding-rules.ts';

const base = 'service.beta.kubernetes.io/do-loadbalancer-';
const prefixed = (short: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(short).map(([key, value]) => [base + key, value]));
const ports = (...numbers: number[]) =>
  numbers.map((port) => ({ name: `p${port}`, protocol: 'TCP', port, nodePort: 30_000 + (port % 1_000) }));
const service = (annotations: Record<string, string>, spec: Partial<Service['spec']> = { ports: ports(80, 443) }): Service =>
  serviceWith(prefixed(annotations), spec);
/** `entry:port>target:port`, with what secures it. */
const shown = (rules: ReturnType<typeof terminatingRules>): string[] =>
  rules.map(
    ({ entry_protocol, entry_port, target_protocol, target_port, certificate_id, tls_passthrough }) =>
      `${entry_protocol}:${entry_port}>${target_protocol}:${target_port}` +
      (certificate_id ? ` cert ${certificate_id}` : '') +
      (tls_passthrough ? ' passthrough' : ''),
  );

describe('a regional load balancer forwards to node ports', () => {
  it.each<[string, Record<string, string>, string, string[]]>([
    ['tcp by default', {}, '', ['tcp:80>tcp:30080', 'tcp:443>tcp:30443']],
    ['the protocol asked for', { protocol: 'http' }, '', ['http:80>http:30080', 'http:443>http:30443']],
    ['http on some ports', { 'http-ports': '80' }, '', ['http:80>http:30080', 'tcp:443>tcp:30443']],
    ['https on 443 as soon as there is a certificate', {}, 'c1', ['tcp:80>tcp:30080', 'https:443>http:30443 cert c1']],
    [
      'https on 443 as soon as TLS is passed through',
      { 'tls-passthrough': 'true' },
      '',
      ['tcp:80>tcp:30080', 'https:443>https:30443 passthrough'],
    ],
    ['https only where it is asked for', { 'tls-ports': '80' }, 'c1', ['https:80>http:30080 cert c1', 'tcp:443>tcp:30443']],
    [
      'http2 on 443 takes the place of https',
      { 'http2-ports': '443', 'http-ports': '80' },
      'c1',
      ['http:80>http:30080', 'http2:443>http:30443 cert c1'],
    ],
    [
      'http3 beside http2 on the same port',
      { 'http2-ports': '443', 'http3-port': '443' },
      'c1',
      ['tcp:80>tcp:30080', 'http2:443>http:30443 cert c1', 'http3:443>http:30443 cert c1'],
    ],
    [
      'no http3 on a port the Service has not',
      { 'http3-port': '444' },
      'c1',
      ['tcp:80>tcp:30080', 'https:443>http:30443 cert c1'],
    ],
    ['an unusable passthrough is none', { 'tls-passthrough': 'maybe' }, '', ['tcp:80>tcp:30080', 'tcp:443>tcp:30443']],
  ])('%s', (_name, annotations, certificate, expected) => {
    expect(shown(terminatingRules(service(annotations), certificate))).toEqual(expected);
  });
  it('UDP stays UDP whatever the protocol', () => {
    const udp = service({ protocol: 'http' }, { ports: [{ protocol: 'UDP', port: 53, nodePort: 30_053 }, ...ports(80)] });
    expect(shown(terminatingRules(udp, ''))).toEqual(['udp:53>udp:30053', 'http:80>http:30080']);
  });
  it.each<[string, Record<string, string>, string, string]>([
    [
      'a protocol that is none',
      { protocol: 'gopher' },
      '',
      `invalid protocol "gopher" specified in annotation "${base}protocol"`,
    ],
    [
      'https without a certificate',
      { protocol: 'https' },
      '',
      'failed to build TLS part(s) of forwarding rule: must set certificate id or enable tls pass through',
    ],
    [
      'certificate and passthrough together',
      { 'tls-passthrough': 'true' },
      'c1',
      'failed to build TLS part(s) of forwarding rule: either certificate id should be set or tls pass through enabled, not both',
    ],
    [
      'a port with two protocols',
      { 'http-ports': '80,443', 'tls-ports': '443', 'http2-ports': '80' },
      'c1',
      `ports from annotations "${base}*-ports" cannot be shared but found: 443, 80`,
    ],
    ['a port that is no number', { 'http-ports': '80,x' }, '', 'strconv.Atoi: parsing "x": invalid syntax'],
    [
      'http3 without a certificate',
      { 'http3-port': '443' },
      '',
      'failed to construct http3 forwarding rule: certificate ID is required for HTTP3',
    ],
    [
      'http3 with passthrough',
      { 'http3-port': '443', 'tls-passthrough': 'true' },
      '',
      'failed to construct http3 forwarding rule: TLS passthrough is not allowed to be used in conjunction with HTTP3',
    ],
  ])('refuses %s', (_name, annotations, certificate, message) => {
    expect(() => terminatingRules(service(annotations), certificate)).toThrow(new Error(message));
  });
  it('refuses a port without a node port', () => {
    expect(() => terminatingRules(service({}, { ports: [{ protocol: 'TCP', port: 80 }] }), '')).toThrow(
      new Error('port 80 has no node port, which a regional load balancer needs'),
    );
  });
});

describe('a network load balancer forwards to the same port', () => {
  it('of both protocols, and knows no other', () => {
    const both = service({ protocol: 'http' }, { ports: [...ports(80), { protocol: 'UDP', port: 53, nodePort: 30_053 }] });
    expect(shown(passThroughRules(both))).toEqual(['tcp:80>tcp:80', 'udp:53>udp:53']);
    const sctp = service({}, { ports: [{ protocol: 'SCTP', port: 9, nodePort: 30_009 }] });
    expect(() => passThroughRules(sctp)).toThrow('only TCP or UDP protocol is supported, got: "SCTP"');
  });
});
