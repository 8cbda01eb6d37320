import { describe, expect, it } from 'vitest';
import type { Instance } from '../model/index.ts';
import { cloud, network, other, service, settings } from './test-support/fixtures.ts';
import { resolveName } from './index.ts';

describe('networks', () => {
  it('come with a main route table and a default group, and go with them', () => {
    const it = cloud();
    const { id } = it.do('createVpc', { cidr: '10.0.0.0/16' });
    expect([it.world.routeTables.size, it.world.securityGroups.size]).toEqual([1, 1]);
    it.do('deleteVpc', { vpcId: id });
    expect([it.world.vpcs, it.world.routeTables, it.world.securityGroups].map(({ size }) => size)).toEqual([0, 0, 0]);
  });
  it.each([
    ['createVpc', { cidr: '10.0.0.1/16' }, '400 InvalidParameterValue cidr'],
    ['createVpc', { cidr: '10.0.0.0/8' }, '400 InvalidParameterValue cidr'],
    ['createVpc', { cidr: '198.18.0.0/16' }, '400 InvalidParameterValue cidr'],
    ['createSubnet', { vpcId: 'VPC', zone: 'moon', cidr: '10.77.1.0/24' }, '400 InvalidParameterValue zone'],
    ['createSubnet', { vpcId: 'VPC', zone: 'local-1a', cidr: '10.78.1.0/24' }, '400 InvalidParameterValue cidr'],
    ['createSubnet', { vpcId: 'VPC', zone: 'local-1a', cidr: '10.77.0.128/25' }, '409 SubnetConflict'],
    ['createSubnet', { vpcId: 'vpc-0', zone: 'local-1a', cidr: '10.77.1.0/24' }, '404 VpcNotFound'],
    ['deleteVpc', { vpcId: 'VPC' }, '409 DependencyViolation'],
    ['deleteRouteTable', { routeTableId: 'TABLE' }, '409 DependencyViolation'],
    [
      'putRoute',
      { routeTableId: 'TABLE', destination: '10.77.0.0/16', target: { kind: 'internet-gateway' } },
      '409 RouteAlreadyExists',
    ],
    [
      'putRoute',
      { routeTableId: 'TABLE', destination: 'x', target: { kind: 'internet-gateway' } },
      '400 InvalidParameterValue destination',
    ],
    [
      'putRoute',
      { routeTableId: 'TABLE', destination: '0.0.0.0/0', target: { kind: 'instance', id: 'i-0' } },
      '404 InstanceNotFound',
    ],
    ['deleteRoute', { routeTableId: 'TABLE', destination: '0.0.0.0/0' }, '404 RouteNotFound'],
    ['deleteRoute', { routeTableId: 'TABLE', destination: '10.77.0.0/16' }, '400 InvalidParameterValue destination'],
  ] as const)('%s %j: %s', (operation, input, expected) => {
    const it = network();
    const text = JSON.stringify(input).replaceAll('VPC', it.vpc.id).replaceAll('TABLE', it.table.id);
    expect(it.refusal(operation, JSON.parse(text))).toBe(expected);
  });
  it('are bounded in number, and seen by their owners and services only', () => {
    const it = network();
    it.do('createVpc', { cidr: '10.0.0.0/16' });
    expect(it.refusal('createVpc', { cidr: '10.0.0.0/16' })).toBe('409 LimitExceeded');
    expect(it.refusal('deleteVpc', { vpcId: it.vpc.id }, other)).toBe('404 VpcNotFound');
    expect(it.refusal('deleteVpc', { vpcId: it.vpc.id }, service)).toBe('403 AccessDenied');
    expect(it.read<{ items: unknown[] }>('listVpcs', {}, other).items).toEqual([]);
    expect(it.read<{ items: unknown[] }>('listVpcs', {}, service).items).toHaveLength(2);
  });
});

describe('lists', () => {
  it('filter by field and tag, and go on where a page ended', () => {
    const it = network();
    for (let index = 0; index < 5; index++) it.run(`n${index}`, { tags: { even: String(index % 2 === 0), all: 'x' } });
    type Page = { items: Instance[]; nextToken?: string };
    expect(it.read<Page>('listInstances', { tags: { even: 'true', all: 'x' } }).items.map(({ name }) => name)).toEqual([
      'n0',
      'n2',
      'n4',
    ]);
    expect(it.read<Page>('listInstances', { name: 'n3' }).items).toHaveLength(1);
    const first = it.read<Page>('listInstances', { limit: 2 });
    const second = it.read<Page>('listInstances', { limit: 3, nextToken: first.nextToken });
    expect([...first.items, ...second.items].map(({ name }) => name)).toEqual(['n0', 'n1', 'n2', 'n3', 'n4']);
    expect(second.nextToken).toBeUndefined();
    expect(() => it.read('listInstances', { nextToken: '%' })).toThrow(expect.objectContaining({ field: 'nextToken' }));
  });
  it('show tags as they were changed', () => {
    const it = network();
    expect(it.do('changeTags', { resourceId: it.vpc.id, set: { a: '1', b: '2' }, remove: ['b'] })).toEqual({ tags: { a: '1' } });
    expect(it.refusal('changeTags', { resourceId: it.vpc.id }, other)).toBe('404 VpcNotFound');
    expect(it.refusal('changeTags', { resourceId: 'vpc-0' })).toBe('404 ResourceNotFound');
  });
});

describe('names', () => {
  it('are found in private zones, by address, in public zones, or elsewhere', () => {
    const it = network();
    const zone = it.do('createDnsZone', { name: 'Example.COM.'.slice(0, -1), vpcIds: [it.vpc.id] });
    const open = it.do('createDnsZone', { name: 'example.com', visibility: 'public' });
    const set = (dnsZoneId: string, type: string, name: string, ...values: string[]) =>
      it.do('putDnsRecord', { dnsZoneId, type, name, values });
    set(zone.id, 'A', 'api.example.com', '10.77.0.9', '10.77.0.10');
    set(zone.id, 'CNAME', 'www.example.com', 'api.example.com');
    set(zone.id, 'CNAME', 'out.example.com', 'elsewhere.test');
    set(zone.id, 'A', '*.apps.example.com', '10.77.0.11');
    set(open.id, 'A', 'api.example.com', '198.18.5.9');
    it.run('a');
    const ask = (name: string, type = 'A', vpcId: string | undefined = it.vpc.id) => {
      const found = resolveName(it.world, settings, vpcId, { name, type });
      return found === 'forward'
        ? found
        : [found.rcode, ...found.answers.map(({ data }) => data), ...(found.beyond ? [found.beyond] : [])];
    };
    expect(ask('API.example.com')).toEqual(['NOERROR', '10.77.0.9', '10.77.0.10']);
    expect(resolveName(it.world, settings, undefined, { name: 'api.example.com', type: 'A' })).toMatchObject({
      answers: [{ data: '198.18.5.9' }],
    });
    expect(ask('www.example.com')).toEqual(['NOERROR', 'api.example.com', '10.77.0.9', '10.77.0.10']);
    expect(ask('out.example.com')).toEqual(['NOERROR', 'elsewhere.test', 'elsewhere.test']);
    expect(ask('api.example.com', 'AAAA')).toEqual(['NOERROR']);
    expect(ask('x.y.apps.example.com')).toEqual(['NOERROR', '10.77.0.11']);
    expect(ask('apps.example.com')).toEqual(['NOERROR']);
    expect(ask('none.example.com')).toEqual(['NXDOMAIN']);
    expect(ask('ip-10-77-0-4.local-1.compute.internal')).toEqual(['NOERROR', '10.77.0.4']);
    expect(ask('ip-10-77-0-5.local-1.compute.internal')).toEqual(['NXDOMAIN']);
    expect(ask('4.0.77.10.in-addr.arpa', 'PTR')).toEqual(['NOERROR', 'ip-10-77-0-4.local-1.compute.internal']);
    expect(ask('elsewhere.test')).toBe('forward');
    expect(it.refusal('putDnsRecord', { dnsZoneId: zone.id, type: 'A', name: 'www.example.com', values: ['1.2.3.4'] })).toBe(
      '409 RecordConflict',
    );
    expect(it.refusal('putDnsRecord', { dnsZoneId: zone.id, type: 'MX', name: 'a.example.com', values: ['a'] })).toBe(
      '400 InvalidParameterValue type',
    );
    it.do('deleteDnsRecord', { dnsZoneId: zone.id, type: 'A', name: 'api.example.com' });
  });
});
