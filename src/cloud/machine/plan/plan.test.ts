import { describe, expect, it } from 'vitest';
import {
  emptyWorld,
  type Instance,
  type InstanceState,
  type NetworkInterface,
  type Route,
  type SecurityGroupRule,
  type World,
} from '../../model/index.ts';
import { changes, emptyState, isEmpty, leftoverLinks, observeCommand, parseState, plan, without } from './index.ts';
import { stableNumbers } from './numbers.ts';
import { routerLinks } from './view.ts';
import type { NamespacePlan, NamespaceState } from './types.ts';

const mark = 'abc123';
const base = { ownerId: '1', tags: {}, createdAt: '2026-01-01T00:00:00Z' };
const any: SecurityGroupRule[] = [{ protocol: 'all', cidr: '0.0.0.0/0' }];

const byId = <T extends { id: string }>(...items: T[]): Map<string, T> => new Map(items.map((item) => [item.id, item]));
const nic = (id: string, address: string, more: Partial<NetworkInterface> = {}): NetworkInterface => ({
  ...base,
  id,
  vpcId: 'vpc-1',
  subnetId: 'subnet-1',
  zone: 'a',
  description: '',
  privateAddress: address,
  securityGroupIds: ['sg-1'],
  sourceDestCheck: true,
  requesterManaged: false,
  ...more,
});
const instance = (id: string, interfaceIds: string[], state: InstanceState = 'running'): Instance => ({
  ...base,
  id,
  name: id,
  type: 't',
  zone: 'a',
  region: 'r',
  vpcId: 'vpc-1',
  subnetId: 'subnet-1',
  state,
  privateAddress: '10.0.1.5',
  privateDnsName: id,
  interfaceIds,
});
const route = (destination: string, target: Route['target'], state: Route['state'] = 'active'): Route => ({
  destination,
  target,
  state,
  name: '',
});
const attached = (instanceId: string, deviceIndex = 0) => ({ attachment: { instanceId, deviceIndex } });

function world(more: Partial<World> = {}, routes: Route[] = []): World {
  return {
    ...emptyWorld,
    vpcs: byId({ ...base, id: 'vpc-1', name: 'one', cidr: '10.0.0.0/16' }),
    subnets: byId({ ...base, id: 'subnet-1', name: 's', vpcId: 'vpc-1', zone: 'a', cidr: '10.0.1.0/24', routeTableId: 'rtb-1' }),
    routeTables: byId({
      ...base,
      id: 'rtb-1',
      vpcId: 'vpc-1',
      main: true,
      routes: [route('10.0.0.0/16', { kind: 'local' }), ...routes],
    }),
    securityGroups: byId({ ...base, id: 'sg-1', vpcId: 'vpc-1', name: 'g', description: '', ingress: any, egress: any }),
    interfaces: byId(
      nic('eni-1', '10.0.1.5', attached('i-1')),
      nic('eni-2', '10.0.1.6', attached('i-2')),
      nic('eni-3', '10.0.1.7'),
    ),
    instances: byId(instance('i-1', ['eni-1']), instance('i-2', ['eni-2'], 'stopped')),
    ...more,
  };
}
const planOf = (value: World) => plan(value, mark, '198.18.0.0/24');
const part = (value: World, name: string): NamespacePlan => {
  const found = planOf(value).get(`sagong-${mark}-${name}`);
  if (!found) throw new Error(`no ${name}`);
  return found;
};
const router = (value: World): NamespacePlan => part(value, 'vpc-1');
const { edge, router: link } = routerLinks(world()).get('vpc-1') ?? { edge: '', router: '' };

describe('the plan of a machine', () => {
  it('has a place for the edge, each VPC, each instance with power and each interface without an instance', () => {
    expect([...planOf(world()).keys()]).toEqual(['edge', 'vpc-1', 'i-1', 'eni-3'].map((name) => `sagong-${mark}-${name}`));
    expect([...planOf(emptyWorld).keys()]).toEqual([`sagong-${mark}-edge`]);
  });

  it('gives an instance its interfaces by device index, and one way out', () => {
    const two = world({
      interfaces: byId(nic('eni-1', '10.0.1.5', attached('i-1')), nic('eni-2', '10.0.1.6', attached('i-1', 1))),
    });
    expect(part(two, 'i-1')).toMatchObject({
      addresses: new Set(['eth0 10.0.1.5/24', 'eth1 10.0.1.6/24']),
      routes: new Map([['254 default', 'default via 10.0.1.1 dev eth0 table 254']]),
    });
    expect(router(two).links).toEqual(
      new Map([
        ['v-1', { netns: `sagong-${mark}-i-1`, link: 'eth0' }],
        ['v-2', { netns: `sagong-${mark}-i-1`, link: 'eth1' }],
      ]),
    );
  });

  it('lets the router hold gateways and name server, and route to each interface by itself', () => {
    const { addresses, routes } = router(world());
    expect(addresses).toEqual(new Set([`edge ${link}/30`, 'lo 10.0.0.2/32', 'lo 10.0.1.1/32']));
    expect([...routes.values()]).toEqual([
      `default via ${edge} dev edge table 254`,
      'unreachable 10.0.0.0/16 table 254',
      '10.0.1.5 dev v-1 src 10.0.1.1 table 254',
      '10.0.1.7 dev v-3 src 10.0.1.1 table 254',
    ]);
  });

  const table = [...router(world()).rules].flatMap((rule) => /iif v-1 lookup (\d+)/.exec(rule)?.[1] ?? [])[0] ?? '';
  it.each<[string, Route, string | undefined]>([
    ['local', route('10.0.0.0/16', { kind: 'local' }), undefined],
    ['internet gateway', route('0.0.0.0/0', { kind: 'internet-gateway' }), `default via ${edge} dev edge table ${table}`],
    ['instance', route('10.244.0.0/24', { kind: 'instance', id: 'i-1' }), `10.244.0.0/24 via 10.0.1.5 dev v-1 table ${table}`],
    [
      'interface',
      route('10.244.0.0/24', { kind: 'interface', id: 'eni-3' }),
      `10.244.0.0/24 via 10.0.1.7 dev v-3 table ${table}`,
    ],
    [
      'black hole',
      route('10.244.0.0/24', { kind: 'instance', id: 'i-1' }, 'blackhole'),
      `blackhole 10.244.0.0/24 table ${table}`,
    ],
    ['stopped', route('10.244.0.0/24', { kind: 'instance', id: 'i-2' }), `blackhole 10.244.0.0/24 table ${table}`],
    ['unknown', route('10.244.0.0/24', { kind: 'interface', id: 'eni-9' }), `blackhole 10.244.0.0/24 table ${table}`],
  ])('makes a route of a table: %s', (_, value, expected) => {
    expect([...router(world({}, [value])).routes.values()].filter((text) => text.endsWith(`table ${table}`))).toEqual(
      expected === undefined ? [] : [expected],
    );
  });

  it("looks into an interface's table after the VPC's own addresses and nowhere else", () => {
    expect([...router(world()).rules].filter((rule) => !rule.includes('v-3'))).toEqual([
      'pref 100 lookup 254 suppress_prefixlength 0',
      `pref 200 iif edge lookup ${table} suppress_prefixlength 0`,
      'pref 300 iif edge unreachable',
      `pref 200 iif v-1 lookup ${table}`,
      'pref 300 iif v-1 unreachable',
    ]);
  });

  it('translates public addresses one to one, and all others to the router', () => {
    const open = world({ interfaces: byId(nic('eni-1', '10.0.1.5', { ...attached('i-1'), publicAddress: '198.18.0.9' })) });
    expect(router(open).tables.get('nat')?.chains).toEqual(
      new Map([
        ['VPC-DNAT', ['-d 198.18.0.9/32 -i edge -j DNAT --to-destination 10.0.1.5']],
        ['VPC-PUBLIC', ['-s 10.0.1.5/32 -j SNAT --to-source 198.18.0.9']],
        ['VPC-SNAT', ['-o edge -j VPC-PUBLIC', `-o edge -j SNAT --to-source ${link}`]],
      ]),
    );
    expect([...part(open, 'edge').routes.values()]).toEqual([
      'unreachable 198.18.0.0/24 table 254',
      `198.18.0.9 via ${link} dev r-1 table 254`,
    ]);
  });
});

describe('security groups', () => {
  const filter = (ingress: SecurityGroupRule[], egress: SecurityGroupRule[] = any) =>
    router(
      world({ securityGroups: byId({ ...base, id: 'sg-1', vpcId: 'vpc-1', name: 'g', description: '', ingress, egress }) }),
    ).tables.get('filter')?.chains ?? new Map<string, string[]>();

  it.each<[string, SecurityGroupRule, string]>([
    ['all', { protocol: 'all', cidr: '0.0.0.0/0' }, '-j ACCEPT'],
    ['prefix', { protocol: 'icmp', cidr: '10.1.0.0/16' }, '-p icmp -s 10.1.0.0/16 -j ACCEPT'],
    ['all ports', { protocol: 'tcp', cidr: '0.0.0.0/0' }, '-p tcp -j ACCEPT'],
    ['port', { protocol: 'tcp', fromPort: 80, toPort: 80, cidr: '0.0.0.0/0' }, '-p tcp -m tcp --dport 80 -j ACCEPT'],
    [
      'ports',
      { protocol: 'udp', fromPort: 5, toPort: 9, cidr: '10.1.1.1/32' },
      '-p udp -m udp --dport 5:9 -s 10.1.1.1/32 -j ACCEPT',
    ],
    ['ports to the last', { protocol: 'udp', fromPort: 5, cidr: '0.0.0.0/0' }, '-p udp -m udp --dport 5:65535 -j ACCEPT'],
    ['group', { protocol: 'all', groupId: 'sg-1' }, '-j VPC-FROM-1'],
  ])('let in: %s', (_, rule, expected) => {
    expect(filter([rule]).get('VPC-IN-1')).toEqual([expected]);
  });

  it('know members by their links, on both ways, and no unknown group', () => {
    const chains = filter(
      [
        { protocol: 'all', groupId: 'sg-1' },
        { protocol: 'all', groupId: 'sg-9' },
      ],
      [{ protocol: 'tcp', groupId: 'sg-1' }],
    );
    expect(chains.get('VPC-IN-1')).toEqual(['-j VPC-FROM-1']);
    expect(chains.get('VPC-FROM-1')).toEqual(['-i v-1 -j ACCEPT', '-i v-3 -j ACCEPT']);
    expect(chains.get('VPC-OUT-1')).toEqual(['-p tcp -j VPC-TO-1']);
    expect(chains.get('VPC-TO-1')).toEqual(['v-1', 'v-3'].map((name) => `-o ${name} -j MARK --set-xmark 0x40000000/0x40000000`));
  });

  it('are asked after load balancers, checks and known connections, and drop the rest', () => {
    const chains = filter([]);
    expect(chains.get('VPC-FORWARD')?.map((rule) => rule.replace(/0x40000000\/0x40000000/, 'OUT'))).toEqual([
      '-m connmark --mark 0x5a60/0xffff -j ACCEPT',
      '-j VPC-CHECK',
      '-m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
      '-i edge -o edge -j DROP',
      '-i edge -j MARK --set-xmark OUT',
      '-j VPC-OUT',
      '-m mark ! --mark OUT -j DROP',
      '-o edge -j ACCEPT',
      '-j VPC-IN',
      '-j DROP',
    ]);
    expect(chains.get('VPC-CHECK')?.slice(0, 2)).toEqual(['! -s 10.0.1.5/32 -i v-1 -j DROP', '! -d 10.0.1.5/32 -o v-1 -j DROP']);
    const off = world({ interfaces: byId(nic('eni-1', '10.0.1.5', { ...attached('i-1'), sourceDestCheck: false })) });
    expect(router(off).tables.get('filter')?.chains.get('VPC-CHECK')).toEqual([]);
  });
});

describe('changes', () => {
  const grown = world({
    interfaces: byId(...world().interfaces.values(), nic('eni-4', '10.0.1.8', attached('i-4'))),
    instances: byId(...world().instances.values(), instance('i-4', ['eni-4'])),
  });

  it('are none when all is as wanted', () => {
    for (const want of planOf(grown).values()) expect(isEmpty(changes(want, want))).toBe(true);
  });

  it('begin with rules and make links before what needs them', () => {
    const { ip, rules, sysctls } = changes(emptyState, router(world()));
    expect(sysctls).toContainEqual(['ipv4/ip_forward', '1']);
    expect(rules).toContain('-A FORWARD -j VPC-FORWARD\n');
    const order = [
      'link add v-1',
      'link set v-1 up',
      'addr replace 10.0.1.1/32 dev lo label lo:vpc',
      'route replace 10.0.1.5',
      'rule add',
    ];
    const places = order.map((start) => ip.findIndex((line) => line.startsWith(start)));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places).not.toContain(-1);
    expect(ip).toContain(`route replace default via ${edge} dev edge table 254 proto 77 onlink`);
  });

  it('only add for another instance', () => {
    const { ip, rules, sysctls, linkSysctls } = changes(router(world()), router(grown));
    expect(ip).toEqual([
      `link add v-4 type veth peer name eth0 netns sagong-${mark}-i-4`,
      `link set v-4 alias sagong-${mark}-i-4/eth0`,
      'link set v-4 up',
      'route replace 10.0.1.8 dev v-4 src 10.0.1.1 table 254 proto 77',
      expect.stringMatching(/^rule add pref 200 iif v-4 lookup \d+ protocol 77$/),
      'rule add pref 300 iif v-4 unreachable protocol 77',
    ]);
    expect(rules.split('\n')).toEqual([
      '*filter',
      '-A VPC-CHECK ! -s 10.0.1.8/32 -i v-4 -j DROP',
      '-A VPC-CHECK ! -d 10.0.1.8/32 -o v-4 -j DROP',
      '-A VPC-OUT -i v-4 -j VPC-OUT-1',
      '-A VPC-IN -o v-4 -j VPC-IN-1',
      'COMMIT',
      '',
    ]);
    expect([sysctls, linkSysctls.map(([path]) => path)]).toEqual([[], ['ipv4/conf/v-4/proxy_arp', 'ipv4/neigh/v-4/proxy_delay']]);
  });

  it('take away what an instance had', () => {
    const [before, after] = [router(grown), router(world())];
    const links = leftoverLinks(before, after, new Set());
    expect(links).toEqual(['v-4']);
    const { ip, rules } = changes(without(before, new Set(links)), after);
    // Address and routes vanish with the link.
    expect(ip).toEqual([
      expect.stringMatching(/^rule del pref 200 iif v-4 /),
      'rule del pref 300 iif v-4 unreachable protocol 77',
    ]);
    expect(rules).toContain(':VPC-IN - [0:0]\n');
    expect(rules).not.toContain('VPC-IN-1 -');
  });

  it.each<[string, Partial<NamespaceState>, string[]]>([
    [
      'route with another target',
      { routes: new Map([['254 10.0.1.5', '10.0.1.5 dev v-9 table 254']]) },
      ['route replace 10.0.1.5 dev v-1'],
    ],
    [
      'unknown route',
      { routes: new Map([['9 10.9.0.0/16', 'blackhole 10.9.0.0/16 table 9']]) },
      ['route del 10.9.0.0/16 table 9 proto 77'],
    ],
    ['unknown address', { addresses: new Set(['lo 10.0.9.1/32']) }, ['addr del 10.0.9.1/32 dev lo label lo:vpc']],
    ["others' address", { addresses: new Set(['eth0 10.0.9.1/32']) }, []],
  ])('put right: %s', (_, wrong, expected) => {
    const want = router(world());
    const have: NamespaceState = {
      ...want,
      ...(wrong.routes && { routes: new Map([...want.routes, ...wrong.routes]) }),
      ...(wrong.addresses && { addresses: new Set([...want.addresses, ...wrong.addresses]) }),
    };
    const lines = changes(have, want).ip.filter((line) => line !== 'link set lo up');
    expect(lines.map((line, i) => line.slice(0, expected[i]?.length))).toEqual(expected);
  });

  it('remake a link that leads elsewhere, or to a namespace that goes', () => {
    const want = router(world());
    const to = want.links.get('v-1')?.netns ?? '';
    expect(leftoverLinks(want, want, new Set([to]))).toEqual(['v-1']);
    expect(leftoverLinks({ ...want, links: new Map([['v-1', { netns: to, link: 'eth1' }]]) }, want, new Set())).toEqual(['v-1']);
    expect(leftoverLinks({ ...want, links: new Map([['v-1', undefined]]) }, want, new Set())).toEqual(['v-1']);
    expect(leftoverLinks(want, undefined, new Set())).toEqual(['v-1', 'v-3']);
  });

  it('empty and delete chains of groups that are gone', () => {
    const { rules } = changes(router(world()), router(world({ securityGroups: new Map() })));
    expect(rules).toContain(':VPC-IN-1 - [0:0]\n');
    expect(rules).toContain('-X VPC-IN-1\n');
    expect(rules.indexOf(':VPC-IN - [0:0]')).toBeGreaterThan(-1);
  });
});

describe('what is found on the machine', () => {
  const output = [
    JSON.stringify([
      {
        ifname: 'lo',
        addr_info: [
          { family: 'inet', local: '127.0.0.1', prefixlen: 8, label: 'lo' },
          { family: 'inet', local: '10.0.1.1', prefixlen: 32, label: 'lo:vpc' },
          { family: 'inet', local: '10.0.1.200', prefixlen: 32, label: 'lo:lb' },
        ],
      },
      { ifname: 'edge', addr_info: [{ family: 'inet', local: '169.254.1.2', prefixlen: 30, label: 'edge' }] },
      { ifname: 'v-1', ifalias: 'sagong-abc123-i-1/eth0', addr_info: [{ family: 'inet6', local: 'fe80::1', prefixlen: 64 }] },
      { ifname: 'v-2', addr_info: [] },
    ]),
    '[{"type":"6","dst":"10.9.0.0/16","table":"1000","protocol":"77","flags":[]},{"type":"7","dst":"10.0.0.0/16","protocol":"77","flags":[]},{"dst":"10.0.1.5","dev":"v-1","protocol":"77","scope":"253","prefsrc":"10.0.1.1","flags":[]},{"dst":"default","gateway":"169.254.1.1","dev":"edge","table":"1000","protocol":"77","flags":["onlink"]}]',
    '[{"priority":0,"src":"all","table":"255"},{"priority":100,"src":"all","table":"254","suppress_prefixlen":0,"protocol":"77"},{"priority":200,"src":"all","iif":"v-1","iif_detached":null,"table":"1000","protocol":"77"},{"priority":300,"src":"all","iif":"v-1","action":"7","protocol":"77"},{"priority":10,"src":"all","table":"5","protocol":"78"}]',
    '*filter\n:FORWARD ACCEPT [0:0]\n:VPC-IN - [0:0]\n:OTHER - [0:0]\n-A FORWARD -j OTHER\n-A FORWARD -j VPC-FORWARD\n-A VPC-IN -j DROP\nCOMMIT\n',
  ].join('\n=====\n');

  it('is in the words of the plan, without what is of others', () => {
    expect(parseState(output, false).links).toEqual(new Map());
    expect(parseState(output, true)).toEqual({
      links: new Map([
        ['v-1', { netns: 'sagong-abc123-i-1', link: 'eth0' }],
        ['v-2', undefined],
      ]),
      addresses: new Set(['lo 10.0.1.1/32', 'edge 169.254.1.2/30']),
      sysctls: new Map(),
      routes: new Map([
        ['1000 10.9.0.0/16', 'blackhole 10.9.0.0/16 table 1000'],
        ['254 10.0.0.0/16', 'unreachable 10.0.0.0/16 table 254'],
        ['254 10.0.1.5', '10.0.1.5 dev v-1 src 10.0.1.1 table 254'],
        ['1000 default', 'default via 169.254.1.1 dev edge table 1000'],
      ]),
      rules: new Set([
        'pref 100 lookup 254 suppress_prefixlength 0',
        'pref 200 iif v-1 lookup 1000',
        'pref 300 iif v-1 unreachable',
      ]),
      tables: new Map([['filter', { hooks: ['FORWARD -j VPC-FORWARD'], chains: new Map([['VPC-IN', undefined]]) }]]),
    });
    expect(observeCommand).toContain('proto 77');
  });

  it('may be nothing', () => {
    expect(parseState('[]\n=====\n[]\n=====\n=====\n', true)).toEqual(emptyState);
  });
});

it('numbers stay when others come and go, and are never shared', () => {
  const ids = Array.from({ length: 40 }, (_, i) => `vpc-${i}`);
  const all = stableNumbers(ids, 50);
  expect(new Set(all.values()).size).toBe(40);
  expect(Math.max(...all.values())).toBeLessThan(50);
  const roomy = stableNumbers(ids, 1_000_000);
  for (const id of ids) expect(stableNumbers([id], 1_000_000).get(id)).toBe(roomy.get(id));
});
