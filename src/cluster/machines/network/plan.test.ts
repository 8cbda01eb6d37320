import { describe, expect, it } from 'vitest';
import { contains, type Link, type NetworkNode, planNetwork } from './plan.ts';
import { packetRules } from './rules.ts';

const cluster = '10.244.0.0/16';
const node = (name: string, address: string, block: number | string, createdMs = 1): NetworkNode => ({
  name,
  createdMs,
  address,
  podCidr: typeof block === 'number' ? `10.244.${block}.0/24` : block,
});
const eth0: Link = { device: 'eth0', cidr: '10.0.0.1/24', mtu: 1500 };
const self = node('a', '10.0.0.1', 0);

describe('the pod network of a machine', () => {
  it('goes straight to machines on the same link', () => {
    expect(planNetwork([self, node('b', '10.0.0.2', 1)], 'a', [eth0], cluster)).toEqual({
      routes: [{ podCidr: '10.244.1.0/24', via: '10.0.0.2', device: 'eth0', onLink: false }],
      tunnel: undefined,
      peers: [],
      senders: [],
      nodes: ['10.0.0.1', '10.0.0.2'],
      leftOut: [],
    });
  });
  it('goes through VXLAN to others, with room for its heads', () => {
    const plan = planNetwork(
      [self, node('b', '10.0.0.2', 1), node('c', '192.168.7.3', 2)],
      'a',
      [{ ...eth0, mtu: 1400 }],
      cluster,
    );
    expect(plan?.routes[1]).toEqual({ podCidr: '10.244.2.0/24', via: '10.244.2.0', device: 'sagong-vxlan', onLink: true });
    expect(plan?.tunnel).toEqual({
      local: '10.0.0.1',
      device: 'eth0',
      mac: '02:53:0a:00:00:01',
      address: '10.244.0.0',
      mtu: 1350,
    });
    expect(plan?.senders).toEqual(['10.0.0.2', '192.168.7.3']);
    expect(plan?.peers).toEqual([{ address: '10.244.2.0', mac: '02:53:c0:a8:07:03', remote: '192.168.7.3' }]);
  });
  it('uses the link on which the other machine is', () => {
    const eth1: Link = { device: 'eth1', cidr: '172.16.0.1/16', mtu: 9000 };
    const plan = planNetwork([self, node('b', '172.16.3.4', 1)], 'a', [eth0, eth1], cluster);
    expect(plan?.routes).toEqual([{ podCidr: '10.244.1.0/24', via: '172.16.3.4', device: 'eth1', onLink: false }]);
  });
  it('takes an address of one machine alone for no link', () => {
    const plan = planNetwork([self, node('b', '10.0.0.2', 1)], 'a', [{ ...eth0, cidr: '10.0.0.1/32' }], cluster);
    expect(plan?.routes[0]?.device).toBe('sagong-vxlan');
  });
  it('leaves out nodes that have no address or no pods yet, or another family', () => {
    const nodes = [self, node('b', '', 1), node('c', '10.0.0.3', ''), node('d', 'fd00::1', 3)];
    expect(planNetwork(nodes, 'a', [eth0], cluster)?.routes).toEqual([]);
  });
  it.each([
    '10.0.0.9/32',
    '0.0.0.0/0',
    '10.244.0.0/16',
    '10.244.0.0/25',
    '10.244.0.0/24',
    '10.244.1.128/25',
    '10.96.0.0/12',
    'fd00::/8',
    'x',
    '10.244.9.0',
  ])('does not believe a node that says its pods have %s', (cidr) => {
    const plan = planNetwork([node('0-evil', '10.0.0.66', cidr, 2), self, node('b', '10.0.0.2', 1)], 'a', [eth0], cluster);
    expect(plan?.routes.map(({ podCidr }) => podCidr)).toEqual(['10.244.1.0/24']);
    expect(plan?.leftOut).toEqual(['0-evil']);
  });
  it('does not believe a node that says it is this machine', () => {
    expect(planNetwork([node('evil', '10.0.0.1', 9), self], 'a', [eth0], cluster)).toMatchObject({
      routes: [],
      leftOut: ['evil'],
    });
  });
  it.each<[string, NetworkNode[], Link[]]>([
    ['its Node is not there', [], [eth0]],
    ['its Node has no pods yet', [node('a', '10.0.0.1', '')], [eth0]],
    ['its address is on no card', [self], []],
  ])('waits while %s', (_what, nodes, links) => {
    expect(planNetwork(nodes, 'a', links, cluster)).toBeUndefined();
  });
});

it('knows which addresses are in a block', () => {
  expect(contains('10.0.0.0/8', '10.255.1.2')).toBe(true);
  expect(contains('10.0.0.0/24', '10.0.1.0')).toBe(false);
  expect(contains('0.0.0.0/0', '8.8.8.8')).toBe(true);
  expect(contains('10.0.0.0/8', '10.0.0')).toBe(false);
  expect(contains('10.0.0.0/8', 'fd00::1')).toBe(false);
});

it('lets pods keep their addresses towards pods and nodes, and masquerades the rest', () => {
  const rules = packetRules('10.244.0.0/16', ['10.0.0.1'], []).split('\n');
  expect(rules.filter((line) => line.startsWith('-A SAGONG-MASQ'))).toEqual([
    '-A SAGONG-MASQ -d 10.244.0.0/16 -j RETURN',
    '-A SAGONG-MASQ -d 10.0.0.1 -j RETURN',
    '-A SAGONG-MASQ -d 224.0.0.0/4 -j RETURN',
    '-A SAGONG-MASQ -j MASQUERADE',
  ]);
});

it('takes packets of the tunnel from nodes alone, and has no word about the port without one', () => {
  const about = (senders: string[]) =>
    packetRules('10.244.0.0/16', [], senders)
      .split('\n')
      .filter((line) => line.includes('SAGONG-TUNNEL'));
  expect(about(['10.0.0.2'])).toEqual([
    ':SAGONG-TUNNEL - [0:0]',
    '-A SAGONG-TUNNEL -s 10.0.0.2 -j RETURN',
    '-A SAGONG-TUNNEL -j DROP',
  ]);
  expect(about([])).toEqual([':SAGONG-TUNNEL - [0:0]']);
});
