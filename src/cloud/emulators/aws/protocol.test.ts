import { describe, expect, it } from 'vitest';
import { admitted, restrict } from './admission.ts';
import { permissionsXml, rulesIn } from './ec2/permissions.ts';
import { filtered, pageOf } from './pages.ts';
import { Parameters, tagsIn } from './parameters.ts';
import { element, errorXml, resultXml } from './xml.ts';

describe('parameters', () => {
  const parameters = Parameters.parse(
    'Name=a%20b&Filter.2.Name=x&Filter.1.Name=tag:k&Filter.1.Value.2=two&Filter.1.Value.1=one&Names.member.1=n&Tag.1.Key=k&Tag.1.Value=&Empty=&On=true&Count=12&Bad=1x',
  );
  it('are read by name, list and structure', () => {
    expect(parameters.get('Name')).toBe('a b');
    expect(parameters.list('Names')).toEqual(['n']);
    expect(parameters.parts('Filter').map((filter) => filter.need('Name'))).toEqual(['tag:k', 'x']);
    expect(parameters.parts('Filter')[0]?.list('Value')).toEqual(['one', 'two']);
    expect(tagsIn(parameters, 'Tag')).toEqual({ k: '' });
    expect([parameters.boolean('On'), parameters.boolean('Off'), parameters.integer('Count')]).toEqual([true, undefined, 12]);
  });
  it('that are missing or no number are refused', () => {
    expect(() => parameters.need('Empty')).toThrow('must contain the parameter Empty');
    expect(() => parameters.integer('Bad')).toThrow("Invalid value '1x'");
  });
  it('have bounds, and names of objects are nothing special', () => {
    expect(() => Parameters.parse(Array.from({ length: 10_001 }, (_, index) => `a${index}=`).join('&'))).toThrow('too many');
    expect(() => Parameters.parse(`${'a.'.repeat(20)}b=1`)).toThrow('too deep');
    expect(Parameters.parse('__proto__.x=1').get('toString')).toBeUndefined();
  });
});

describe('answers', () => {
  it('are XML whatever is in them', () => {
    expect(element('a', { b: ['<&"\u0001', 2, true], c: undefined, d: '' }, 'item')).toBe(
      '<a><b><item>&lt;&amp;&quot;\uFFFD</item><item>2</item><item>true</item></b><d></d></a>',
    );
  });
  it('look as each service has them', () => {
    expect(resultXml('ec2', 'X', { y: 1 }, 'id')).toContain('><requestId>id</requestId><y>1</y></XResponse>');
    expect(resultXml('elb', 'X', {}, 'id')).toContain('<XResult></XResult><ResponseMetadata><RequestId>id</RequestId>');
    const error = { code: 'C', message: 'm', status: 400 };
    expect(errorXml('ec2', error, 'id')).toContain('<Response><Errors><Error><Code>C</Code>');
    expect(errorXml('elbv2', error, 'id')).toContain('<Error><Type>Sender</Type><Code>C</Code>');
  });
});

describe('lists', () => {
  const items = ['one', 'two', 'three'].map((name) => ({ name, tags: { k: name } }));
  const fields = { name: ({ name }: { name: string }) => [name] };
  const find = (query: string): string[] => filtered(items, Parameters.parse(query), fields).map(({ name }) => name);
  it('are filtered by any value of every filter', () => {
    expect(find('Filter.1.Name=name&Filter.1.Value.1=one&Filter.1.Value.2=t*')).toEqual(['one', 'two', 'three']);
    expect(find('Filter.1.Name=tag:k&Filter.1.Value.1=t?o&Filter.2.Name=tag-key&Filter.2.Value.1=k')).toEqual(['two']);
    expect(find('Filter.1.Name=name&Filter.1.Value.1=.*')).toEqual([]);
  });
  it.each(['nonsense', 'constructor'])('refuse the filter %s', (name) =>
    expect(() => find(`Filter.1.Name=${name}`)).toThrow(`The filter '${name}' is invalid`),
  );
  it('refuse patterns that try everything', () =>
    expect(() => find('Filter.1.Name=name&Filter.1.Value.1=*a*a*a*a*a*')).toThrow('too many wildcards'));
  it('come in pages', () => {
    const first = pageOf(items, { size: 2 });
    expect(first.items.length).toBe(2);
    expect(pageOf(items, { size: 2, token: first.next })).toEqual({ items: [items[2]], next: undefined });
    expect(() => pageOf(items, { token: 'nonsense' })).toThrow('not valid');
  });
});

describe('rules of security groups', () => {
  const rules = (query: string) => rulesIn(Parameters.parse(query));
  const permission = (query: string) => rules(query.replace(/(^|&)(?=\w)/g, '$1IpPermissions.1.'));
  it('are one for each source', () => {
    expect(
      permission(
        'IpProtocol=tcp&FromPort=80&ToPort=81&IpRanges.1.CidrIp=10.0.0.0/8&IpRanges.1.Description=d&Groups.1.GroupId=sg-1',
      ),
    ).toEqual([
      { protocol: 'tcp', fromPort: 80, toPort: 81, cidr: '10.0.0.0/8', description: 'd' },
      { protocol: 'tcp', fromPort: 80, toPort: 81, groupId: 'sg-1' },
    ]);
    expect(permission('IpProtocol=-1&Groups.1.GroupId=sg-1')).toEqual([{ protocol: 'all', groupId: 'sg-1' }]);
    expect(permission('IpProtocol=6&FromPort=0&ToPort=65535&IpRanges.1.CidrIp=0.0.0.0/0')).toEqual([
      { protocol: 'tcp', cidr: '0.0.0.0/0' },
    ]);
  });
  it('come back as they were given', () => {
    const icmp = permission('IpProtocol=icmp&FromPort=3&ToPort=4&IpRanges.1.CidrIp=0.0.0.0/0&IpRanges.1.Description=mtu');
    expect(permissionsXml(icmp)).toMatchObject([
      { ipProtocol: 'icmp', fromPort: 3, toPort: 4, ipRanges: [{ cidrIp: '0.0.0.0/0', description: 'mtu' }] },
    ]);
    const two = permission('IpProtocol=udp&FromPort=53&ToPort=53&IpRanges.1.CidrIp=10.0.0.0/8&IpRanges.2.CidrIp=11.0.0.0/8');
    expect(permissionsXml(two)).toMatchObject([{ ipProtocol: 'udp', fromPort: 53, toPort: 53, ipRanges: [{}, {}] }]);
  });
  it.each([
    ['IpProtocol=sctp&IpRanges.1.CidrIp=0.0.0.0/0', 'the IP protocol sctp'],
    ['IpProtocol=tcp&FromPort=0&ToPort=9&IpRanges.1.CidrIp=0.0.0.0/0', 'begins at 0'],
    ['IpProtocol=tcp&FromPort=9&ToPort=8&IpRanges.1.CidrIp=0.0.0.0/0', "Invalid value '9-8'"],
    ['IpProtocol=tcp&Ipv6Ranges.1.CidrIpv6=::/0', 'IPv6'],
    ['IpProtocol=tcp', 'IpPermissions'],
  ])('are refused: %s', (query, problem) => expect(() => permission(query)).toThrow(problem));
});

describe('who may use a load balancer', () => {
  const listeners = [80, 443].map((port) => ({ protocol: 'tcp' as const, port, targetPort: port }));
  it('is let in at the ports that rules name', () => {
    const rules = [
      { protocol: 'tcp' as const, fromPort: 80, toPort: 90, cidr: '10.0.0.0/8' },
      { protocol: 'udp' as const, cidr: '11.0.0.0/8' },
      { protocol: 'all' as const, groupId: 'sg-1' },
    ];
    expect(admitted(rules, 'tcp', 80)).toEqual(['10.0.0.0/8']);
    expect(admitted(rules, 'tcp', 91)).toEqual([]);
  });
  it('is whoever all ports let in; a port for nobody is left out', () => {
    const by = (ranges: Record<number, string[]>) => restrict(listeners, ({ port }) => ranges[port] ?? []);
    expect(by({ 80: ['0.0.0.0/0'], 443: ['10.0.0.0/8'] })).toEqual({ listeners, sourceRanges: ['10.0.0.0/8'] });
    expect(by({ 80: ['0.0.0.0/0'] })).toEqual({ listeners: [listeners[0]], sourceRanges: ['0.0.0.0/0'] });
    expect(by({ 80: ['10.0.0.0/8'], 443: ['11.0.0.0/8'] }).sourceRanges).toEqual([]);
  });
});
