import { describe, expect, it } from 'vitest';
import { nodeGroup, nodeGroups } from './node-group.ts';
import { canonicalCidr, frontRules, permissionsOf, type Rule, rulesIn, without } from './rules.ts';

const shown = ({ protocol, from, source }: Rule): string => [protocol, from, ...Object.values(source)].join(' ');

describe('rules', () => {
  it('are single, and become permissions again', () => {
    const permissions = [
      {
        IpProtocol: 'tcp',
        FromPort: 80,
        ToPort: 80,
        IpRanges: [{ CidrIp: '10.0.0.0/8', Description: 'x' }, { CidrIp: '11.0.0.0/8' }],
      },
      { IpProtocol: '-1', UserIdGroupPairs: [{ GroupId: 'sg-1', UserId: '1' }], PrefixListIds: [{ PrefixListId: 'pl-1' }] },
      { IpProtocol: 'tcp', FromPort: 1, ToPort: 2, Ipv6Ranges: [{ CidrIpv6: '::/0' }] },
    ];
    const rules = rulesIn(permissions);
    expect(rules.map(shown)).toEqual(['tcp 80 10.0.0.0/8', 'tcp 80 11.0.0.0/8', '-1  sg-1', '-1  pl-1', 'tcp 1 ::/0']);
    expect(rulesIn(permissionsOf(rules))).toEqual(rules);
  });
  it('are the same to EC2 whatever their description, and each comes once', () => {
    const rule = (cidr: string, description?: string): Rule => ({
      protocol: 'tcp',
      from: 1,
      to: 1,
      source: { cidr },
      description,
    });
    expect(without([rule('a/8', 'x'), rule('b/8')], [rule('a/8', 'y')])).toEqual([rule('b/8')]);
    expect(without([rule('a/8', 'x'), rule('a/8', 'y')], [])).toEqual([rule('a/8', 'x')]);
  });
  it.each([
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['192.168.1.255/31', '192.168.1.254/31'],
    ['1.2.3.4/32', '1.2.3.4/32'],
    ['1.2.3.4/0', '0.0.0.0/0'],
    ['FD00::/8', 'fd00::/8'],
  ])('%s is %s to EC2', (given, expected) => expect(canonicalCidr(given)).toBe(expected));
  it('in front of a load balancer: each port from each range, and path MTU discovery', () => {
    const ports = [
      { port: 80, protocol: 'TCP' },
      { port: 443, protocol: 'TCP' },
    ];
    expect(frontRules(ports, ['10.0.0.0/8', '10.9.9.9/8', 'fd00::/8']).map(shown)).toEqual([
      'tcp 80 10.0.0.0/8',
      'tcp 80 fd00::/8',
      'tcp 443 10.0.0.0/8',
      'tcp 443 fd00::/8',
      'icmp 3 10.0.0.0/8',
    ]);
  });
});

describe('the group of a node', () => {
  const instance = (...ids: string[]) => ({
    InstanceId: 'i-1',
    SecurityGroups: ids.map((GroupId) => ({ GroupId, GroupName: 'n' })),
  });
  const isTagged = (id: string): boolean => id.startsWith('sg-k8s');
  it.each<[string, string[], string | undefined]>([
    ['the tagged one', ['sg-1', 'sg-k8s-1', 'sg-2'], 'sg-k8s-1'],
    ['the only one', ['sg-1'], 'sg-1'],
    ['none', [], undefined],
  ])('%s', (_what, ids, expected) => expect(nodeGroup(instance(...ids), isTagged)).toBe(expected));
  it('cannot be told among several', () => {
    expect(() => nodeGroup(instance('sg-k8s-1', 'sg-k8s-2'), isTagged)).toThrow(
      'Multiple tagged security groups found for instance i-1; ensure only the k8s security group is tagged; the tagged groups were sg-k8s-1(n) sg-k8s-2(n)',
    );
    expect(() => nodeGroup(instance('sg-1', 'sg-2'), isTagged)).toThrow(
      'Multiple untagged security groups found for instance i-1',
    );
  });
  it('is counted once', () => {
    expect([...nodeGroups([instance('sg-1'), instance('sg-1'), instance()], isTagged)]).toEqual(['sg-1']);
  });
});
