import type { Service } from 'sagong/cloud-provider';
import { describe, expect, it } from 'vitest';
import { nodeWith, serviceWith } from '../../test-server/world.ts';
import { backendsOf } from './network.ts';
import { type RequestContext, requestFor } from './request.ts';

const base = 'service.beta.kubernetes.io/do-loadbalancer-';
const prefixed = (short: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(short).map(([key, value]) => [base + key, value]));
const context = (more: Partial<RequestContext> = {}): RequestContext => ({
  defaultType: 'REGIONAL_NETWORK',
  backends: backendsOf([nodeWith('a', { '10.0.0.1': 'InternalIP', '192.0.2.1': 'ExternalIP' })], 'REGIONAL_NETWORK', 'EXTERNAL'),
  certificateId: '',
  clusterId: '',
  vpcId: '',
  ...more,
});
const request = (
  annotations: Record<string, string> = {},
  spec: Partial<Service['spec']> = {},
  more: Partial<RequestContext> = {},
) => requestFor(serviceWith(prefixed(annotations), spec), context(more));

describe('the request for a load balancer', () => {
  it('is this one without annotations', () => {
    expect(request({}, {}, { clusterId: 'c1', vpcId: 'v1' })).toEqual({
      name: 'a5a0c5d2e111142228333944445555666'.slice(0, 32),
      type: 'REGIONAL_NETWORK',
      network: 'EXTERNAL',
      network_stack: 'IPV4',
      forwarding_rules: [{ entry_protocol: 'tcp', entry_port: 80, target_protocol: 'tcp', target_port: 80 }],
      health_check: {
        protocol: 'http',
        port: 10_256,
        path: '/healthz',
        proxy_protocol: false,
        check_interval_seconds: 3,
        response_timeout_seconds: 5,
        unhealthy_threshold: 3,
        healthy_threshold: 5,
      },
      sticky_sessions: { type: 'none' },
      algorithm: 'round_robin',
      redirect_http_to_https: false,
      enable_proxy_protocol: false,
      enable_backend_keepalive: false,
      disable_lets_encrypt_dns_records: false,
      firewall: { allow: [], deny: [] },
      vpc_uuid: 'v1',
      tags: ['k8s:c1'],
    });
  });
  it.each<[string, Record<string, string>, Partial<Service['spec']>, object]>([
    ['a name', { name: 'front.door' }, {}, { name: 'front.door' }],
    ['the kind', { type: 'REGIONAL' }, {}, { type: 'REGIONAL', network_stack: 'DUALSTACK' }],
    ['the network', { network: 'INTERNAL' }, {}, { network: 'INTERNAL', network_stack: 'IPV4' }],
    ['a size by slug', { 'size-slug': 'lb-medium' }, {}, { size: 'lb-medium' }],
    ['a size by number', { 'size-unit': '3' }, {}, { size_unit: 3 }],
    ['a size of nothing', { 'size-unit': '' }, {}, { name: expect.any(String) }],
    ['an algorithm', { algorithm: 'least_connections' }, {}, { algorithm: 'least_connections' }],
    ['an algorithm that is none', { algorithm: 'dice' }, {}, { algorithm: 'round_robin' }],
    [
      'sticky sessions',
      { 'sticky-sessions-type': 'cookies', 'sticky-sessions-cookie-name': 'DO-LB', 'sticky-sessions-cookie-ttl': '300' },
      {},
      { sticky_sessions: { type: 'cookies', cookie_name: 'DO-LB', cookie_ttl_seconds: 300 } },
    ],
    ['a redirection', { 'redirect-http-to-https': 'true' }, {}, { redirect_http_to_https: true }],
    ["Go's booleans", { 'enable-proxy-protocol': 'T' }, {}, { enable_proxy_protocol: true }],
    ['kept connections', { 'enable-backend-keepalive': '1' }, {}, { enable_backend_keepalive: true }],
    ['no DNS records', { 'disable-lets-encrypt-dns-records': 'true' }, {}, { disable_lets_encrypt_dns_records: true }],
    ['an idle time', { 'http-idle-timeout-seconds': '90' }, {}, { http_idle_timeout_seconds: 90 }],
    [
      'access rules',
      { 'allow-rules': 'ip:1.2.3.4, cidr:2.3.0.0/16', 'deny-rules': 'ip:5.6.7.8' },
      {},
      { firewall: { allow: ['ip:1.2.3.4', 'cidr:2.3.0.0/16'], deny: ['ip:5.6.7.8'] } },
    ],
    [
      'source ranges, before access rules, with their host bits cleared',
      { 'allow-rules': 'ip:1.2.3.4' },
      { loadBalancerSourceRanges: ['10.1.2.3/16', ' 192.168.7.9/32', '2001:DB8::/48'] },
      { firewall: { allow: ['cidr:10.1.0.0/16', 'cidr:192.168.7.9/32', 'cidr:2001:db8::/48'], deny: [] } },
    ],
    ['a subnet', { 'subnet-uuid': ' s-1 ' }, {}, { subnet_uuid: 's-1' }],
  ])('takes over %s', (_name, annotations, spec, expected) => {
    expect(request(annotations, spec)).toMatchObject(expected);
  });
  it.each<[string, Record<string, string>, Partial<Service['spec']>, string]>([
    ['a kind that is none', { type: 'GLOBAL' }, {}, 'only LB types supported are (REGIONAL, REGIONAL_NETWORK)'],
    ['a network that is none', { network: 'MOON' }, {}, 'only LB networks supported are (EXTERNAL, INTERNAL)'],
    ['a stack that is none', { 'network-stack': 'IPV6' }, {}, 'only LB network stacks supported are (IPV4, DUALSTACK)'],
    ['a slug that is none', { 'size-slug': 'lb-huge' }, {}, 'invalid LB size slug provided: lb-huge'],
    ['a size that is no number', { 'size-unit': 'big' }, {}, 'invalid LB size unit "big" provided: strconv.Atoi: parsing "big"'],
    ['a negative size', { 'size-unit': '-1' }, {}, 'LB size unit must be non-negative. -1 provided'],
    ['two sizes', { 'size-slug': 'lb-small', 'size-unit': '2' }, {}, 'only one of LB size slug and size unit can be provided'],
    [
      'cookies without a name',
      { 'sticky-sessions-type': 'cookies' },
      {},
      'sticky session cookie name not specified, but required',
    ],
    [
      'cookies without a life',
      { 'sticky-sessions-type': 'cookies', 'sticky-sessions-cookie-name': 'x' },
      {},
      'sticky session cookie ttl not specified, but required',
    ],
    [
      'a boolean that is none',
      { 'redirect-http-to-https': 'yes' },
      {},
      `failed to get HTTP-to-HTTPS configuration setting: cannot convert value "yes" for annotation "${base}redirect-http-to-https" to bool`,
    ],
    ['an idle time that is none', { 'http-idle-timeout-seconds': '-4' }, {}, "HTTP idle timeout seconds value '-4'"],
    ['a range that is none', {}, { loadBalancerSourceRanges: ['10.0.0.0/33'] }, 'invalid CIDR address: 10.0.0.0/33'],
    [
      'a range without a length',
      {},
      { loadBalancerSourceRanges: ['10.0.0.0'] },
      '(expected format for an IP address is 10.0.0.0/24)',
    ],
  ])('refuses %s', (_name, annotations, spec, message) => {
    expect(() => request(annotations, spec)).toThrow(message);
  });
});

describe('its health check', () => {
  const check = (annotations: Record<string, string>, spec: Partial<Service['spec']> = {}) =>
    request(annotations, spec).health_check;
  const override = { 'override-health-check': '' };

  it.each<[string, Record<string, string>, Partial<Service['spec']>, object]>([
    [
      "asks the Service's own port for local traffic",
      {},
      { externalTrafficPolicy: 'Local', healthCheckNodePort: 31_234 },
      { protocol: 'http', port: 31_234, path: '/healthz', proxy_protocol: false },
    ],
    [
      'leaves other annotations aside',
      { 'healthcheck-path': '/x', 'healthcheck-port': '80' },
      {},
      { port: 10_256, path: '/healthz' },
    ],
    ['asks the first port when it is overridden', override, {}, { protocol: 'tcp', port: 30_080 }],
    [
      'asks over http as soon as there is a path',
      { ...override, 'healthcheck-path': '/x' },
      {},
      { protocol: 'http', path: '/x' },
    ],
    ['asks over what it is told', { ...override, 'healthcheck-protocol': 'https' }, {}, { protocol: 'https' }],
    [
      'asks where it is told, by the port of the Service',
      { ...override, 'healthcheck-port': '443' },
      {
        ports: [
          { port: 80, nodePort: 30_080, protocol: 'TCP' },
          { port: 443, nodePort: 30_443, protocol: 'TCP' },
        ],
      },
      { port: 30_443 },
    ],
    [
      'asks the port of TCP where UDP has the same number',
      { ...override, 'healthcheck-port': '53' },
      {
        ports: [
          { port: 53, nodePort: 30_053, protocol: 'UDP' },
          { port: 53, nodePort: 30_054, protocol: 'TCP' },
        ],
      },
      { port: 30_054 },
    ],
    [
      'takes its times over',
      {
        'healthcheck-check-interval-seconds': '10',
        'healthcheck-response-timeout-seconds': '11',
        'healthcheck-unhealthy-threshold': '4',
        'healthcheck-healthy-threshold': '6',
      },
      {},
      { check_interval_seconds: 10, response_timeout_seconds: 11, unhealthy_threshold: 4, healthy_threshold: 6 },
    ],
  ])('asks, by default and %s', (_name, annotations, spec, expected) => {
    expect(check(annotations, spec)).toMatchObject(expected);
  });
  it('leaves the PROXY protocol to the load balancer when it is overridden', () => {
    expect(check(override)).not.toHaveProperty('proxy_protocol');
  });
  it.each<[string, Record<string, string>, Partial<Service['spec']>, string]>([
    [
      'several ports',
      { ...override, 'healthcheck-port': '80,443' },
      {},
      'only supports a single port, but found multiple: [80 443]',
    ],
    [
      'a port the Service has not',
      { ...override, 'healthcheck-port': '81' },
      {},
      'specified health check port 81 does not exist on service default/web',
    ],
    [
      'a port of UDP',
      { ...override, 'healthcheck-port': '53' },
      { ports: [{ port: 53, protocol: 'UDP', nodePort: 30_053 }] },
      'health check port: 53, cannot be of protocol type UDP',
    ],
    [
      'UDP alone',
      override,
      { ports: [{ port: 53, protocol: 'UDP', nodePort: 30_053 }] },
      'no health check port of protocol TCP found',
    ],
    ['a port that is none', { ...override, 'healthcheck-port': 'x' }, {}, 'failed to get health check port: strconv.Atoi'],
    [
      'a protocol that is none',
      { ...override, 'healthcheck-protocol': 'udp' },
      {},
      'invalid protocol "udp" specified in annotation',
    ],
    [
      'a time that is none',
      { 'healthcheck-check-interval-seconds': '1s' },
      {},
      'failed to parse health check interval annotation',
    ],
  ])('refuses %s', (_name, annotations, spec, message) => {
    expect(() => check(annotations, spec)).toThrow(message);
  });
});
