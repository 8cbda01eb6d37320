import { describe, expect, it } from 'vitest';
import type { Service } from '#cloud-provider';
import { serviceNamed } from './test-support/fixtures.ts';
import type { LoadBalancer } from '../model/index.ts';
import { isComplete, statusOf } from './status.ts';
import { wantedBalancer } from './wanted.ts';

const prefix = 'service.beta.kubernetes.io/local-load-balancer-';
const service = (spec: Partial<Service['spec']>, annotations: Record<string, string> = {}): Service => {
  const base = serviceNamed('web', 1, spec);
  return {
    ...base,
    metadata: {
      ...base.metadata,
      annotations: Object.fromEntries(Object.entries(annotations).map(([key, value]) => [prefix + key, value])),
    },
  };
};
const noNodePorts = { ports: [{ protocol: 'TCP', port: 80 }] };

describe('the load balancer that a Service wants', () => {
  it.each<[string, Service, Partial<ReturnType<typeof wantedBalancer>>]>([
    [
      'by default a proxy to node ports',
      service({}),
      {
        kind: 'proxy',
        scheme: 'internet-facing',
        listeners: [{ protocol: 'tcp', port: 80, targetPort: 30_001 }],
        sourceRanges: ['0.0.0.0/0'],
        proxyProtocol: 'none',
      },
    ],
    [
      'nodes asked by kube-proxy',
      service({}),
      { healthCheck: expect.objectContaining({ protocol: 'http', port: 10_256, path: '/healthz' }) },
    ],
    [
      'Local: as sent, nodes asked for endpoints',
      service({ externalTrafficPolicy: 'Local', healthCheckNodePort: 30_999 }),
      {
        kind: 'network',
        listeners: [{ protocol: 'tcp', port: 80 }],
        healthCheck: expect.objectContaining({ port: 30_999, path: '/healthz' }),
      },
    ],
    ['no node ports: as sent', service(noNodePorts), { kind: 'network' }],
    [
      'affinity: as sent, upstream’s time',
      service({ sessionAffinity: 'ClientIP' }),
      { kind: 'network', affinityTimeoutSeconds: 10_800 },
    ],
    [
      'affinity with a time',
      service({ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } }),
      { affinityTimeoutSeconds: 5 },
    ],
    [
      'PROXY protocol: a proxy, also for Local',
      service({ externalTrafficPolicy: 'Local', healthCheckNodePort: 30_999 }, { 'proxy-protocol': 'v2' }),
      { kind: 'proxy', proxyProtocol: 'v2' },
    ],
    [
      'asked for',
      service({}, { kind: 'network', internal: 'true', address: '10.0.0.9' }),
      { kind: 'network', scheme: 'internal', address: '10.0.0.9' },
    ],
    ['spec.loadBalancerIP first', service({ loadBalancerIP: '1.2.3.4' }, { address: '10.0.0.9' }), { address: '1.2.3.4' }],
    [
      'source ranges of this family',
      service({ loadBalancerSourceRanges: ['10.0.0.0/8', 'fd00::/8'] }),
      { sourceRanges: ['10.0.0.0/8'] },
    ],
    [
      'mixed protocols',
      service({
        ports: [
          { protocol: 'TCP', port: 53, nodePort: 1 },
          { protocol: 'UDP', port: 53, nodePort: 2 },
        ],
      }),
      {
        listeners: [
          { protocol: 'tcp', port: 53, targetPort: 1 },
          { protocol: 'udp', port: 53, targetPort: 2 },
        ],
      },
    ],
  ])('%s', (_, given, expected) => expect(wantedBalancer(given, 'proxy')).toMatchObject(expected));
  it.each<[string, Service, string]>([
    ['IPv6 alone', service({ ipFamilies: ['IPv6'] }), 'IPv4 only'],
    ['SCTP', service({ ports: [{ protocol: 'SCTP', port: 1, nodePort: 2 }] }), 'no protocol SCTP'],
    ['a proxy without node ports', service(noNodePorts, { kind: 'proxy' }), 'needs node ports'],
    ['PROXY protocol of packets', service({}, { kind: 'network', 'proxy-protocol': 'v1' }), 'no PROXY protocol'],
    [
      'more ports than a load balancer has',
      service({ ports: Array.from({ length: 101 }, (_, index) => ({ port: index + 1, nodePort: index + 30_000 })) }),
      'at most 100 ports, and the Service has 101',
    ],
    [
      'more source ranges than it has',
      service({ loadBalancerSourceRanges: Array.from({ length: 501 }, (_, index) => `10.${index >> 8}.${index & 255}.0/24`) }),
      'at most 500 source ranges, and the Service has 501',
    ],
    ['an unknown kind', service({}, { kind: 'magic' }), 'must be one of proxy, network'],
  ])('refuses %s', (_, given, message) => expect(() => wantedBalancer(given, 'proxy')).toThrow(message));
});

describe('the status', () => {
  const balancer = (some: Partial<LoadBalancer>): LoadBalancer => ({
    id: 'lb-1',
    ownerId: 'x',
    tags: {},
    createdAt: '2026-01-01T00:00:00Z',
    name: 'a',
    kind: 'proxy',
    scheme: 'internet-facing',
    vpcId: 'vpc-1',
    subnetIds: ['subnet-1'],
    address: '198.18.0.3',
    state: 'active',
    listeners: [{ protocol: 'tcp', port: 80, targetPort: 30_001 }],
    sourceRanges: [],
    proxyProtocol: 'none',
    targets: [],
    ...some,
  });
  it('names the address, and whether nodes may act for it', () => {
    expect(statusOf(balancer({})).ingress).toEqual([{ ip: '198.18.0.3', ipMode: 'VIP', ports: [{ port: 80, protocol: 'TCP' }] }]);
    expect(statusOf(balancer({ proxyProtocol: 'v1' })).ingress?.[0]?.ipMode).toBe('Proxy');
  });
  it('of one on loopback names the ports that really answer, once they do', () => {
    const loopback = balancer({ loopbackPorts: { 'tcp/80': 40_080 } });
    expect(statusOf(loopback).ingress).toEqual([
      { ip: '127.0.0.1', ipMode: 'Proxy', ports: [{ port: 40_080, protocol: 'TCP' }] },
    ]);
    expect(isComplete(loopback)).toBe(true);
    expect(isComplete(balancer({ loopbackPorts: {} }))).toBe(false);
    expect(isComplete(balancer({ state: 'provisioning' }))).toBe(false);
  });
});
