import { describe, expect, it } from 'vitest';
import type { Service } from 'sagong/cloud-provider';
import type { GlobalConfig } from '../../config/schema.ts';
import type { Rule } from '../../security-groups/rules.ts';
import { networkStatus, refuseFailed } from './describe.ts';
import { attributeChange as loadBalancerChange } from './ensure.ts';
import { networkHealthCheck } from './health-check.ts';
import { listenerPlan, servesPort } from './listeners.ts';
import { groupChange, wantedRules } from './node-rules.ts';
import { networkAttributes, networkPlan, type PortMapping, portMappings, subnetMappings } from './plan.ts';
import { attributeChange, healthCheckChange } from './target-groups.ts';
import { targetChange } from './targets.ts';

const prefix = 'service.beta.kubernetes.io/aws-load-balancer-';
const named = (annotations: Record<string, string>) =>
  Object.fromEntries(Object.entries(annotations).map(([key, value]) => [prefix + key, value]));
const service = (annotations: Record<string, string> = {}, spec: Partial<Service['spec']> = {}): Service => ({
  metadata: { name: 'web', namespace: 'shop', uid: 'u', annotations: named({ type: 'nlb', ...annotations }) },
  spec: { type: 'LoadBalancer', ports: [{ name: 'http', port: 80, protocol: 'TCP', nodePort: 30_080 }], ...spec },
});
const config = {
  ClusterServiceLoadBalancerHealthProbeMode: 'ServiceNodePort',
  ClusterServiceSharedLoadBalancerHealthProbePort: 10_256,
  ClusterServiceSharedLoadBalancerHealthProbePath: '/healthz',
} as GlobalConfig;
const shared: GlobalConfig = { ...config, ClusterServiceLoadBalancerHealthProbeMode: 'Shared' };
const local = { externalTrafficPolicy: 'Local', healthCheckNodePort: 32_000 };

describe('the health check', () => {
  it.each<[string, Record<string, string>, Partial<Service['spec']>, GlobalConfig, string]>([
    ['the port of the traffic', {}, {}, config, 'TCP traffic-port - 30 3 3'],
    ['Local', {}, local, config, 'HTTP 32000 /healthz 10 2 2'],
    [
      'Local, but the port of the traffic',
      { 'healthcheck-port': 'traffic-port' },
      local,
      config,
      'HTTP traffic-port /healthz 10 2 2',
    ],
    ['kube-proxy', {}, {}, shared, 'HTTP 10256 /healthz 30 3 3'],
    [
      'kube-proxy, whatever the annotations',
      { 'healthcheck-port': '1', 'healthcheck-protocol': 'tcp' },
      {},
      shared,
      'HTTP 10256 /healthz 30 3 3',
    ],
    [
      'annotated',
      { 'healthcheck-protocol': 'https', 'healthcheck-port': '8080', 'healthcheck-path': '/up' },
      {},
      config,
      'HTTPS 8080 /up 30 3 3',
    ],
    ['numbers', { 'healthcheck-interval': '10', 'healthcheck-healthy-threshold': '5' }, {}, config, 'TCP traffic-port - 10 5 3'],
  ])('%s', (_what, annotations, spec, given, expected) => {
    const check = networkHealthCheck(given, service(annotations, spec));
    const { protocol, port, path = '-', intervalSeconds, healthyThreshold, unhealthyThreshold } = check;
    expect([protocol, port, path, intervalSeconds, healthyThreshold, unhealthyThreshold].join(' ')).toBe(expected);
  });
  it('refuses what AWS does not take', () => {
    expect(() => networkHealthCheck(config, service({ 'healthcheck-protocol': 'udp' }))).toThrow(
      'Unsupported health check protocol UDP',
    );
    expect(() => networkHealthCheck(config, service({ 'healthcheck-port': 'x' }))).toThrow("Invalid health check port 'x'");
  });
  it('is changed in place where it can be', () => {
    const wanted = networkHealthCheck(config, service({}, local));
    const actual = {
      HealthCheckPort: '32000',
      HealthCheckPath: '/healthz',
      HealthyThresholdCount: 2,
      UnhealthyThresholdCount: 2,
    };
    expect(healthCheckChange(wanted, actual)).toBeUndefined();
    expect(healthCheckChange(wanted, { ...actual, UnhealthyThresholdCount: 3 })).toEqual({
      HealthCheckPort: '32000',
      HealthCheckPath: '/healthz',
      HealthyThresholdCount: 2,
      UnhealthyThresholdCount: 2,
    });
  });
});

describe('ports', () => {
  const shown = (annotations: Record<string, string>, ports?: NonNullable<Service['spec']>['ports']) =>
    portMappings(service(annotations, ports && { ports }), config, 'prod').map(
      ({ protocol, port, targetProtocol, nodePort, certificate = '-', tlsPolicy = '-' }) =>
        [protocol, port, targetProtocol, nodePort, certificate, tlsPolicy].join(' '),
    );
  const cert = { 'ssl-cert': 'arn:c' };
  it.each<[string, Record<string, string>, NonNullable<Service['spec']>['ports'], string[]]>([
    ['plain', {}, undefined, ['TCP 80 TCP 30080 - -']],
    ['UDP with a certificate', cert, [{ port: 53, protocol: 'UDP', nodePort: 3 }], ['UDP 53 UDP 3 - -']],
    ['TLS', { ...cert, 'ssl-negotiation-policy': 'P' }, undefined, ['TLS 80 TCP 30080 arn:c P']],
    ['TLS to TLS', { ...cert, 'backend-protocol': 'ssl' }, undefined, ['TLS 80 TLS 30080 arn:c ']],
    ['TLS elsewhere', { ...cert, 'ssl-ports': '443' }, undefined, ['TCP 80 TCP 30080 - -']],
    ['no node port', {}, [{ port: 80, protocol: 'TCP' }], []],
  ])('%s', (_what, annotations, ports, expected) => expect(shown(annotations, ports)).toEqual(expected));
  it('have a target group that is another when something of it changes for good', () => {
    const name = (annotations: Record<string, string>, spec: Partial<Service['spec']> = {}) =>
      portMappings(service(annotations, spec), config, 'prod')[0]?.groupName;
    expect(name({})).toMatch(/^k8s-shop-web-[0-9a-f]{10}$/);
    expect(name({ 'healthcheck-healthy-threshold': '5' })).toBe(name({}));
    expect(new Set([name({}), name({ 'healthcheck-interval': '10' }), name({}, local)]).size).toBe(3);
  });
});

describe('addresses', () => {
  it('are fixed in each subnet', () => {
    expect(subnetMappings(['s-1', 's-2'], { eips: ['e-1', 'e-2'], privateAddresses: undefined })).toEqual([
      { SubnetId: 's-1', AllocationId: 'e-1' },
      { SubnetId: 's-2', AllocationId: 'e-2' },
    ]);
    expect(subnetMappings(['s-1'], { eips: undefined, privateAddresses: ['10.0.0.9'] })).toEqual([
      { SubnetId: 's-1', PrivateIPv4Address: '10.0.0.9' },
    ]);
  });
  it('are as many as subnets', () => {
    const plan = networkPlan(
      service({ 'eip-allocations': 'e-1', 'private-ipv4-addresses': '10.0.0.9, 10.0.0.10' }),
      config,
      'prod',
    );
    expect(() => subnetMappings(['s-1', 's-2'], plan)).toThrow('same number of EIP AllocationIDs (1) and SubnetIDs (2)');
    expect(() => subnetMappings(['s-1'], plan)).toThrow('same number of Private IPv4Addresses (2) and SubnetIDs (1)');
  });
});

describe('attributes', () => {
  it('say where logs go only while they are on', () => {
    expect(networkAttributes(named({ 'access-log-s3-bucket-name': 'b' }))).toEqual({
      'load_balancing.cross_zone.enabled': 'false',
      'access_logs.s3.enabled': 'false',
    });
    expect(networkAttributes(named({ 'access-log-enabled': 'true', 'access-log-s3-bucket-name': 'b' }))).toMatchObject({
      'access_logs.s3.bucket': 'b',
      'access_logs.s3.prefix': '',
    });
    expect(() => networkAttributes(named({ 'cross-zone-load-balancing-enabled': 'maybe' }))).toThrow(
      'error parsing service annotation',
    );
  });
  it('are changed where they differ', () => {
    const present = [{ Key: 'a', Value: 'false' }];
    expect(loadBalancerChange({ a: 'true', b: '' }, present)).toEqual([{ Key: 'a', Value: 'true' }]);
    expect(attributeChange({ a: 'true', unknown: 'true' }, present)).toEqual([{ Key: 'a', Value: 'true' }]);
    expect(attributeChange({ a: 'false' }, present)).toEqual([]);
  });
});

describe('listeners', () => {
  const mapping = (port: number, protocol: PortMapping['protocol'] = 'TCP', more: Partial<PortMapping> = {}): PortMapping => ({
    port,
    protocol,
    nodePort: 30_000 + port,
    targetProtocol: protocol,
    groupName: `g-${port}`,
    health: networkHealthCheck(config, service()),
    ...more,
  });
  const listener = (Port: number, Protocol: 'TCP' | 'UDP' | 'TLS', arn: string, more: object = {}) => ({
    ListenerArn: `l-${Port}`,
    Port,
    Protocol,
    DefaultActions: [{ Type: 'forward' as const, TargetGroupArn: arn }],
    ...more,
  });
  const certificates = { Certificates: [{ CertificateArn: 'c' }], SslPolicy: 'AWS-default' };
  it.each<[string, ReturnType<typeof listener>, PortMapping, boolean]>([
    ['as wanted', listener(80, 'TCP', 'arn'), mapping(80), true],
    ['another target group', listener(80, 'TCP', 'other'), mapping(80), false],
    ['another protocol', listener(80, 'TLS', 'arn', certificates), mapping(80), false],
    [
      'a TLS policy that AWS chose',
      listener(80, 'TLS', 'arn', certificates),
      mapping(80, 'TLS', { certificate: 'c', tlsPolicy: '' }),
      true,
    ],
    [
      'another TLS policy',
      listener(80, 'TLS', 'arn', certificates),
      mapping(80, 'TLS', { certificate: 'c', tlsPolicy: 'P' }),
      false,
    ],
    ['another certificate', listener(80, 'TLS', 'arn', certificates), mapping(80, 'TLS', { certificate: 'd' }), false],
  ])('serve: %s', (_what, present, wanted, expected) => expect(servesPort(present, wanted, 'arn')).toBe(expected));
  it('are made, changed, and removed by port', () => {
    const arns = new Map([80, 443, 53, 8080].map((port) => [`g-${port}`, `arn-${port}`]));
    const present = [
      listener(80, 'TCP', 'arn-80'),
      listener(443, 'TCP', 'old'),
      listener(53, 'TCP', 'arn-53'),
      listener(9, 'TCP', 'x'),
    ];
    const wanted = [mapping(80), mapping(443, 'TLS', { certificate: 'c' }), mapping(53, 'UDP'), mapping(8080)];
    expect(listenerPlan(present, wanted, arns)).toEqual({
      create: [wanted[2], wanted[3]],
      modify: [{ arn: 'l-443', mapping: wanted[1], protocol: 'TLS' }],
      remove: ['l-53', 'l-9'],
    });
  });
});

it('targets on their way out are out', () => {
  const health = (Id: string, Reason?: 'Target.DeregistrationInProgress') => ({
    Target: { Id, Port: 1, AvailabilityZone: 'z' },
    TargetHealth: { ...(Reason && { Reason }) },
  });
  const wanted = ['a', 'b'].map((Id) => ({ Id, Port: 1 }));
  expect(targetChange(wanted, [health('a', 'Target.DeregistrationInProgress'), health('b'), health('c')])).toEqual({
    add: [{ Id: 'a', Port: 1 }],
    remove: [{ Id: 'c', Port: 1 }],
  });
});

describe('rules of nodes', () => {
  const shown = (rules: readonly Rule[]): string[] =>
    rules.map(({ protocol, from, source, description = '' }) =>
      [protocol, from, ...Object.values(source), description.replace('kubernetes.io/rule/nlb/', '')].join(' '),
    );
  const mappings = (spec: Partial<Service['spec']> = {}, given = config) => portMappings(service({}, spec), given, 'prod');
  const subnets = ['10.1.0.0/18'];
  it.each<[string, PortMapping[], string[], string[]]>([
    ['everybody: health checks are among them', mappings(), ['0.0.0.0/0'], ['tcp 30080 0.0.0.0/0 client=lb']],
    ['some', mappings(), ['192.168.0.0/16'], ['tcp 30080 192.168.0.0/16 client=lb', 'tcp 30080 10.1.0.0/18 health=lb']],
    [
      'everybody, another health port',
      mappings(local),
      ['0.0.0.0/0'],
      ['tcp 30080 0.0.0.0/0 client=lb', 'tcp 32000 10.1.0.0/18 health=lb'],
    ],
    [
      'UDP',
      mappings({ ports: [{ port: 53, protocol: 'UDP', nodePort: 30_053 }] }),
      ['0.0.0.0/0'],
      ['udp 30053 0.0.0.0/0 client=lb', 'tcp 30053 10.1.0.0/18 health=lb'],
    ],
    ['clients in the subnet of the health check', mappings(), ['10.1.0.0/18'], ['tcp 30080 10.1.0.0/18 client=lb']],
    ['nobody', [], [], []],
  ])('%s', (_what, given, clients, expected) =>
    expect(shown(wantedRules('lb', { mappings: given, clients, subnets }))).toEqual(expected),
  );

  const rule = (cidr: string, from: number, description: string): Rule => ({
    protocol: 'tcp',
    from,
    to: from,
    source: { cidr },
    description,
  });
  const client = (lb: string, cidr: string) => rule(cidr, 30_080, `kubernetes.io/rule/nlb/client=${lb}`);
  const mtu = (cidr: string): Rule => ({ ...rule(cidr, 3, 'kubernetes.io/rule/nlb/mtu'), protocol: 'icmp', to: 4 });
  it('come with path MTU discovery, which all load balancers share', () => {
    const mine = client('lb', '1.0.0.0/8');
    expect(groupChange('lb', [], [mine])).toEqual({ add: [mine, mtu('1.0.0.0/8')], remove: [] });
    expect(groupChange('lb', [mine, mtu('1.0.0.0/8')], [mine])).toEqual({ add: [], remove: [] });
    expect(groupChange('lb', [mine, mtu('1.0.0.0/8')], [])).toEqual({ add: [], remove: [mine, mtu('1.0.0.0/8')] });
  });
  it('leave those of others', () => {
    const other = { ...client('other', '1.0.0.0/8'), from: 31_000, to: 31_000 };
    const user = rule('9.0.0.0/8', 22, 'ssh');
    const present = [client('lb', '1.0.0.0/8'), other, user, mtu('1.0.0.0/8')];
    expect(groupChange('lb', present, [])).toEqual({ add: [], remove: [present[0]] });
    expect(groupChange('lb', [user], [])).toEqual({ add: [], remove: [] });
  });
});

it.each([
  ['active', 'host'],
  ['provisioning', 'host'],
  ['active_impaired', 'host'],
] as const)('%s: host %s', (Code, expected) =>
  expect(networkStatus({ DNSName: 'host', State: { Code } }).ingress?.[0]?.hostname).toBe(expected),
);
it('one that has failed has no host, and is told of', () => {
  const failed = { LoadBalancerName: 'a1', DNSName: 'host', State: { Code: 'failed', Reason: 'no room' } } as const;
  expect(networkStatus(failed)).toEqual({});
  expect(() => refuseFailed(failed)).toThrow('load balancer a1 has failed: no room');
});
