import { describe, expect, it } from 'vitest';
import type { Service } from 'sagong/cloud-provider';
import type { GlobalConfig } from '../../config/schema.ts';
import { classicAttributes, sameAttributes } from './attributes.ts';
import { classicHealthCheck, sameHealthCheck } from './health-check.ts';
import { classicListeners, listenerChange, portsWithoutPolicy } from './listeners.ts';
import { admissionChange } from './node-rules.ts';
import { classicPlan, frontGroup } from './plan.ts';
import { proxyChanges } from './policies.ts';

const prefix = 'service.beta.kubernetes.io/aws-load-balancer-';
const named = (annotations: Record<string, string>) =>
  Object.fromEntries(Object.entries(annotations).map(([key, value]) => [prefix + key, value]));
const service = (annotations: Record<string, string> = {}, spec: Partial<Service['spec']> = {}): Service => ({
  metadata: { name: 'web', namespace: 'shop', uid: 'u', annotations: named(annotations) },
  spec: {
    type: 'LoadBalancer',
    ports: [
      { name: 'http', port: 80, protocol: 'TCP', nodePort: 30_080 },
      { name: 'https', port: 443, protocol: 'TCP', nodePort: 30_443 },
    ],
    ...spec,
  },
});
const config = {
  ClusterServiceLoadBalancerHealthProbeMode: 'ServiceNodePort',
  ClusterServiceSharedLoadBalancerHealthProbePort: 10_256,
  ClusterServiceSharedLoadBalancerHealthProbePath: '/healthz',
} as GlobalConfig;
const shared: GlobalConfig = { ...config, ClusterServiceLoadBalancerHealthProbeMode: 'Shared' };

describe('listeners', () => {
  const cert = { 'ssl-cert': 'arn:cert' };
  it.each<[string, Record<string, string>, string[]]>([
    ['plain', {}, ['TCP 80 TCP 30080', 'TCP 443 TCP 30443']],
    ['HTTP', { 'backend-protocol': 'http' }, ['HTTP 80 HTTP 30080', 'HTTP 443 HTTP 30443']],
    ['a certificate', cert, ['SSL 80 TCP 30080 arn:cert', 'SSL 443 TCP 30443 arn:cert']],
    ['a certificate for one port', { ...cert, 'ssl-ports': 'https' }, ['TCP 80 TCP 30080', 'SSL 443 TCP 30443 arn:cert']],
    [
      'HTTPS to HTTP',
      { ...cert, 'ssl-ports': '443', 'backend-protocol': 'http' },
      ['HTTP 80 HTTP 30080', 'HTTPS 443 HTTP 30443 arn:cert'],
    ],
    [
      'HTTPS to HTTPS',
      { ...cert, 'ssl-ports': '443', 'backend-protocol': 'https' },
      ['TCP 80 TCP 30080', 'HTTPS 443 HTTPS 30443 arn:cert'],
    ],
    [
      'SSL to SSL',
      { ...cert, 'ssl-ports': '443', 'backend-protocol': 'ssl' },
      ['TCP 80 TCP 30080', 'SSL 443 SSL 30443 arn:cert'],
    ],
  ])('%s', (_what, annotations, expected) => {
    const shown = classicListeners(service(annotations)).map((each) =>
      [each.Protocol, each.LoadBalancerPort, each.InstanceProtocol, each.InstancePort, each.SSLCertificateId].join(' ').trim(),
    );
    expect(shown).toEqual(expected);
  });
  it('none for a port without a node port', () => {
    expect(classicListeners(service({}, { ports: [{ port: 80, protocol: 'TCP' }] }))).toEqual([]);
  });
  it('refuse an unknown backend protocol', () => {
    expect(() => classicListeners(service({ ...cert, 'backend-protocol': 'gopher' }))).toThrow(
      'Invalid backend protocol gopher for arn:cert in',
    );
  });
  it('change only where they differ, whatever the case AWS writes in', () => {
    const wanted = classicListeners(service());
    const present = [
      { Listener: { Protocol: 'tcp', InstanceProtocol: 'tcp', LoadBalancerPort: 80, InstancePort: 30_080 } },
      { Listener: { Protocol: 'TCP', InstanceProtocol: 'TCP', LoadBalancerPort: 443, InstancePort: 31_443 } },
      { Listener: { Protocol: 'TCP', InstanceProtocol: 'TCP', LoadBalancerPort: 8080, InstancePort: 30_808 } },
      {},
    ];
    expect(listenerChange(wanted, present)).toEqual({ add: [wanted[1]], remove: [443, 8080] });
    expect(listenerChange(wanted, undefined)).toEqual({ add: wanted, remove: [] });
  });
  it('have a TLS policy where they end TLS', () => {
    const listener = (Protocol: string, LoadBalancerPort: number, ...PolicyNames: string[]) => ({
      Listener: { Protocol, LoadBalancerPort, InstancePort: 1 },
      PolicyNames,
    });
    const present = [listener('SSL', 443, 'p'), listener('HTTPS', 8443, 'q'), listener('TCP', 80), listener('ssl', 9443)];
    expect(portsWithoutPolicy(present, 'p')).toEqual([8443, 9443]);
  });
});

describe('the health check', () => {
  const local = { externalTrafficPolicy: 'Local', healthCheckNodePort: 32_000 };
  it.each<[string, Record<string, string>, Partial<Service['spec']>, GlobalConfig, string]>([
    ['the first node port', {}, {}, config, 'TCP:30080'],
    ['a backend with TLS', { 'backend-protocol': 'https' }, {}, config, 'SSL:30080'],
    ['Local', {}, local, config, 'HTTP:32000/healthz'],
    ['Local, but the port of the traffic', { 'healthcheck-port': 'traffic-port' }, local, config, 'HTTP:30080/healthz'],
    ['kube-proxy', {}, {}, shared, 'HTTP:10256/healthz'],
    ['Local, although shared', {}, local, shared, 'HTTP:32000/healthz'],
    [
      'annotated',
      { 'healthcheck-protocol': 'https', 'healthcheck-port': '8080', 'healthcheck-path': '/up' },
      {},
      config,
      'HTTPS:8080/up',
    ],
    ['HTTP without a path', { 'healthcheck-protocol': 'HTTP' }, {}, config, 'HTTP:30080/'],
    ['a path that TCP has not', { 'healthcheck-path': '/up' }, {}, config, 'TCP:30080'],
  ])('%s', (_what, annotations, spec, given, target) =>
    expect(classicHealthCheck(given, service(annotations, spec), 30_080)).toEqual({
      Target: target,
      HealthyThreshold: 2,
      UnhealthyThreshold: 6,
      Timeout: 5,
      Interval: 10,
    }),
  );
  it('takes its numbers from annotations, within what AWS allows', () => {
    const numbers = { 'healthcheck-healthy-threshold': '3', 'healthcheck-interval': '30', 'healthcheck-timeout': '9' };
    expect(classicHealthCheck(config, service(numbers), 1)).toMatchObject({ HealthyThreshold: 3, Interval: 30, Timeout: 9 });
    const wrong = (annotations: Record<string, string>) => () => classicHealthCheck(config, service(annotations), 1);
    expect(wrong({ 'healthcheck-interval': '1', 'healthcheck-timeout': '1' })).toThrow(
      'Timeout must be at least 2; Interval must be at least 5',
    );
    expect(wrong({ 'healthcheck-interval': 'x' })).toThrow(`failed to parse annotation ${prefix}healthcheck-interval=x`);
    expect(wrong({ 'healthcheck-port': 'http' })).toThrow("Invalid health check port 'http'");
  });
  it('is compared field by field', () => {
    const wanted = classicHealthCheck(config, service(), 1);
    expect(sameHealthCheck(wanted, { ...wanted })).toBe(true);
    expect(sameHealthCheck(wanted, { ...wanted, Interval: 11 })).toBe(false);
    expect(sameHealthCheck(wanted, undefined)).toBe(false);
  });
});

describe('attributes', () => {
  const plain = classicAttributes({});
  it('are off without annotations', () => {
    expect(plain).toEqual({
      AccessLog: { Enabled: false },
      ConnectionDraining: { Enabled: false },
      ConnectionSettings: { IdleTimeout: 60 },
      CrossZoneLoadBalancing: { Enabled: false },
    });
  });
  const all = classicAttributes(
    named({
      'access-log-enabled': 'true',
      'access-log-emit-interval': '5',
      'access-log-s3-bucket-name': 'logs',
      'access-log-s3-bucket-prefix': 'web',
      'connection-draining-enabled': 'true',
      'connection-draining-timeout': '30',
      'connection-idle-timeout': '120',
      'cross-zone-load-balancing-enabled': 'true',
    }),
  );
  it('come from annotations', () => {
    expect(all).toEqual({
      AccessLog: { Enabled: true, EmitInterval: 5, S3BucketName: 'logs', S3BucketPrefix: 'web' },
      ConnectionDraining: { Enabled: true, Timeout: 30 },
      ConnectionSettings: { IdleTimeout: 120 },
      CrossZoneLoadBalancing: { Enabled: true },
    });
  });
  it('are the same when AWS shows more than was wanted', () => {
    const shown = {
      AccessLog: { Enabled: false, EmitInterval: 60 },
      ConnectionDraining: { Enabled: false, Timeout: 300 },
      ConnectionSettings: { IdleTimeout: 60 },
      CrossZoneLoadBalancing: { Enabled: false },
      AdditionalAttributes: [{ Key: 'elb.http.desyncmitigationmode', Value: 'defensive' }],
    };
    expect(sameAttributes(plain, shown)).toBe(true);
    expect(sameAttributes(all, shown)).toBe(false);
    expect(sameAttributes(plain, { ...shown, CrossZoneLoadBalancing: { Enabled: true } })).toBe(false);
    expect(sameAttributes(plain, { ...shown, ConnectionSettings: { IdleTimeout: 61 } })).toBe(false);
    expect(sameAttributes(plain, undefined)).toBe(false);
  });
});

it('the PROXY protocol is switched where it is not as wanted, also at ports no longer used', () => {
  const on = 'k8s-proxyprotocol-enabled';
  const backends = [
    { InstancePort: 1, PolicyNames: [on] },
    { InstancePort: 2, PolicyNames: [] },
    { InstancePort: 3, PolicyNames: [on] },
  ];
  expect([...proxyChanges([1, 2, 4], backends, true)]).toEqual([
    [2, true],
    [3, false],
    [4, true],
  ]);
  expect([...proxyChanges([1, 2, 4], backends, false)]).toEqual([
    [1, false],
    [3, false],
  ]);
  expect([...proxyChanges([1], undefined, false)]).toEqual([]);
});

describe('the plan', () => {
  it('knows groups, tags and rules', () => {
    const plan = classicPlan(service({ 'additional-resource-tags': 'a=b', internal: 'true' }), config);
    expect(plan).toMatchObject({ name: 'au', internal: true, tags: { a: 'b', 'kubernetes.io/service-name': 'shop/web' } });
    expect(plan.groups).toMatchObject({
      given: [],
      managed: { name: 'k8s-elb-au', description: 'Security group for Kubernetes ELB au (shop/web)', tags: { a: 'b' } },
    });
    expect(plan.groups.managed.rules).toHaveLength(3);
  });
  it('takes the group of the configuration unless the Service names others', () => {
    const given = { ...config, ElbSecurityGroup: 'sg-all' };
    expect(classicPlan(service(), given).groups.given).toEqual(['sg-all']);
    const annotations = { 'security-groups': 'sg-1,sg-2', 'extra-security-groups': 'sg-3' };
    expect(classicPlan(service(annotations), given).groups).toMatchObject({ given: ['sg-1', 'sg-2'], extra: ['sg-3'] });
  });
  it('takes the PROXY protocol for all backends or for none', () => {
    expect(classicPlan(service({ 'proxy-protocol': '*' }), config).proxyProtocol).toBe(true);
    expect(() => classicPlan(service({ 'proxy-protocol': '80' }), config)).toThrow("only value supported currently is '*'");
  });
});

describe('groups', () => {
  const isTagged = (id: string): boolean => id === 'sg-own';
  it.each<[string, string[], string[], string[], string | undefined]>([
    ['the first named one', ['sg-2', 'sg-1', 'sg-own'], ['sg-1', 'sg-2'], [], 'sg-1'],
    ["the cluster's own", ['sg-x', 'sg-own'], [], ['sg-x'], 'sg-own'],
    ['one that is no extra one', ['sg-x', 'sg-y'], [], ['sg-x'], 'sg-y'],
    ['an extra one', ['sg-x'], [], ['sg-x'], 'sg-x'],
    ['none', [], ['sg-1'], [], undefined],
  ])('in front: %s', (_what, present, given, extra, expected) =>
    expect(frontGroup(present, { given, extra }, isTagged)).toBe(expected),
  );
  const tags = [{ Key: 'kubernetes.io/cluster/prod', Value: 'owned' }];
  it('of nodes are opened where nodes are, and closed where none is', () => {
    const admitting = (GroupId: string, tagged: boolean) => ({
      GroupId,
      ...(tagged && { Tags: tags }),
      IpPermissions: [{ IpProtocol: '-1', UserIdGroupPairs: [{ GroupId: 'sg-lb' }] }],
    });
    const other = { GroupId: 'sg-o', IpPermissions: [{ IpProtocol: 'tcp', UserIdGroupPairs: [{ GroupId: 'sg-lb' }] }] };
    const present = [admitting('sg-a', true), admitting('sg-b', true), admitting('sg-c', false), other];
    const change = admissionChange(new Set(['sg-a', 'sg-n', 'sg-o']), present, 'sg-lb', ({ Tags }) => Tags !== undefined);
    expect(change).toEqual({ open: ['sg-n', 'sg-o'], close: ['sg-b'] });
  });
  it('of nodes that stand in front themselves keep the rule by which their members reach each other', () => {
    const own = { GroupId: 'sg-a', Tags: tags, IpPermissions: [{ IpProtocol: '-1', UserIdGroupPairs: [{ GroupId: 'sg-a' }] }] };
    expect(admissionChange(new Set(), [own], 'sg-a', () => true)).toEqual({ open: [], close: [] });
  });
});
