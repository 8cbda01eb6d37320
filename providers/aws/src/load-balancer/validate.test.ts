import { describe, expect, it } from 'vitest';
import type { Node, Service } from 'sagong/cloud-provider';
import { annotation, booleanIn, integerIn, isInternal, isTlsPort, listIn, pairsIn } from '../annotations.ts';
import { targetNodes } from './target-nodes.ts';
import { checkService, kindOf, presentKind } from './validate.ts';

const prefix = 'service.beta.kubernetes.io/aws-load-balancer-';
const service = (annotations: Record<string, string> = {}, spec: Partial<Service['spec']> = {}, hostname?: string): Service => ({
  metadata: {
    name: 'web',
    annotations: Object.fromEntries(Object.entries(annotations).map(([key, value]) => [prefix + key, value])),
  },
  spec: { sessionAffinity: 'None', ports: [{ port: 80, protocol: 'TCP', nodePort: 30_080 }], ...spec },
  status: { loadBalancer: hostname === undefined ? {} : { ingress: [{ hostname }] } },
});

describe('kinds', () => {
  it.each([
    [undefined, 'classic'],
    ['nlb', 'network'],
    ['external', 'elsewhere'],
    ['nlb-ip', 'elsewhere'],
    ['other', 'classic'],
  ])('of type %s: %s', (type, kind) => expect(kindOf(service(type === undefined ? {} : { type }))).toBe(kind));
  it.each([
    ['a1.us-east-1.elb.amazonaws.com', 'classic'],
    ['internal-a1.cn-north-1.elb.amazonaws.com.cn', 'classic'],
    ['a1.elb.us-east-1.amazonaws.com', 'network'],
    [undefined, undefined],
  ])('of host %s: %s', (host, kind) => expect(presentKind(service({}, {}, host))).toBe(kind));
});

describe('what is refused', () => {
  const udp = { port: 53, protocol: 'UDP', nodePort: 30_053 };
  const classic = 'a1.us-east-1.elb.amazonaws.com';
  const network = 'a1.elb.us-east-1.amazonaws.com';
  const attributes = 'target-group-attributes';
  it.each<[string, Service]>([
    ['unsupported load balancer affinity: ClientIP', service({}, { sessionAffinity: 'ClientIP' })],
    ['requested load balancer with no ports', service({}, { ports: [] })],
    [
      'mixed protocol is not supported for LoadBalancer',
      service({ type: 'nlb' }, { ports: [udp, { port: 53, protocol: 'TCP' }] }),
    ],
    ['Protocol UDP not supported by LoadBalancer', service({}, { ports: [udp] })],
    ['Protocol SCTP not supported by LoadBalancer', service({ type: 'nlb' }, { ports: [{ port: 1, protocol: 'SCTP' }] })],
    ['the Service has IPv6 addresses only', service({}, { ipFamilies: ['IPv6'] })],
    ['no port of the Service has a node port', service({}, { ports: [{ port: 80, protocol: 'TCP' }] })],
    ['LoadBalancerIP cannot be specified for AWS ELB', service({}, { loadBalancerIP: '1.2.3.4' })],
    [`"${annotation.type}" after creation for NLB`, service({ type: 'nlb' }, {}, classic)],
    [`"${annotation.type}" after creation for Classic Load Balancer`, service({}, {}, network)],
    ['is not supported by NLB', service({ type: 'nlb', 'extra-security-groups': 'sg-1' })],
    ['target group attributes annotation is only supported for NLB', service({ [attributes]: 'x=y' })],
    ['the attribute "x" is not supported by the controller or is invalid', service({ type: 'nlb', [attributes]: 'x=y' })],
    [
      'attribute value is empty for "preserve_client_ip.enabled"',
      service({ type: 'nlb', [attributes]: 'preserve_client_ip.enabled' }),
    ],
    [
      'invalid attribute value for "proxy_protocol_v2.enabled": on',
      service({ type: 'nlb', [attributes]: 'proxy_protocol_v2.enabled=on' }),
    ],
    [
      '"preserve_client_ip.enabled" is set twice',
      service({ type: 'nlb', [attributes]: 'preserve_client_ip.enabled=true,preserve_client_ip.enabled=false' }),
    ],
    [
      "client IP preservation can't be disabled for UDP ports",
      service({ type: 'nlb', [attributes]: 'preserve_client_ip.enabled=false' }, { ports: [udp] }),
    ],
  ])('is refused: %s', (problem, given) => expect(() => checkService(given, kindOf(given))).toThrow(problem));
  it.each<[string, Service]>([
    ['classic', service({}, {}, classic)],
    ['UDP behind a network load balancer', service({ type: 'nlb' }, { ports: [udp] }, network)],
    ['attributes', service({ type: 'nlb', [attributes]: 'preserve_client_ip.enabled=false,proxy_protocol_v2.enabled=true' })],
  ])('nothing of %s', (_what, given) => expect(() => checkService(given, kindOf(given))).not.toThrow());
});

describe('annotations', () => {
  it('hold lists and pairs', () => {
    expect(listIn(' a, ,b,')).toEqual(['a', 'b']);
    expect(pairsIn('Key1=Val1, Key2=,Key3,=x')).toEqual({ Key1: 'Val1', Key2: '', Key3: '' });
    expect([listIn(undefined), pairsIn(undefined)]).toEqual([[], {}]);
  });
  it('hold words and numbers, or say which one does not', () => {
    expect(['true', 'T', '1', 'false', 'F', '0', ''].map((x) => booleanIn({ x }, 'x'))).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
      undefined,
    ]);
    expect(integerIn({ x: '60' }, 'x')).toBe(60);
    expect(() => booleanIn({ x: 'yes' }, 'x')).toThrow('error parsing service annotation: x=yes');
    expect(() => integerIn({ x: '1m' }, 'x')).toThrow('error parsing service annotation: x=1m');
  });
  it.each([
    [undefined, false],
    ['', false],
    ['false', false],
    ['true', true],
    ['0.0.0.0/0', true],
  ])('internal: %s is %s', (value, expected) =>
    expect(isInternal(value === undefined ? {} : { [annotation.internal]: value })).toBe(expected),
  );
  const cert = { [annotation.certificate]: 'arn' };
  it.each<[string, Record<string, string>, boolean]>([
    ['without a certificate', {}, false],
    ['all ports', cert, true],
    ['*', { ...cert, [annotation.tlsPorts]: '*' }, true],
    ['by number', { ...cert, [annotation.tlsPorts]: '80, 443' }, true],
    ['by name', { ...cert, [annotation.tlsPorts]: 'https' }, true],
    ['others', { ...cert, [annotation.tlsPorts]: '8443,admin' }, false],
  ])('TLS: %s', (_what, annotations, expected) => expect(isTlsPort(annotations, { name: 'https', port: 443 })).toBe(expected));
});

it('nodes are chosen by all labels', () => {
  const node = (name: string, labels?: Record<string, string>): Node => ({ metadata: { name, ...(labels && { labels }) } });
  const nodes = [node('a', { pool: 'x', gpu: '' }), node('b', { pool: 'x' }), node('c', { pool: 'y', gpu: '1' }), node('d')];
  const names = (labels: string) =>
    targetNodes(service({ 'target-node-labels': labels }), nodes).map(({ metadata }) => metadata.name);
  expect([names('pool=x'), names('pool=x,gpu'), names('gpu'), names('')]).toEqual([
    ['a', 'b'],
    ['a'],
    ['a', 'c'],
    ['a', 'b', 'c', 'd'],
  ]);
});
