import { describe, expect, it } from 'vitest';
import { flowsOf, flowsOfIndex, staleFlows, unknownFlows } from './machine/conntrack.ts';
import { foundRules, knownRules, noRules, restoreText } from './machine/restore.ts';
import {
  allocate,
  addressLines,
  edgeLines,
  edgeRoutes,
  otherEnd,
  parseEdge,
  parseRouter,
  routeLines,
  wantedInRouter,
} from './machine/routes.ts';
import { routerRules } from './machine/rules.ts';
import type { BalancerPlan, Place, VpcPlan } from './plan.ts';

const place = (name: string, number: number): Place => ({
  instanceId: `i-${name}`,
  link: `v-${name}`,
  address: `10.0.0.${number}`,
  initPid: number,
});
const a = place('a', 11);
const b = place('b', 12);
const balancer = (more: Partial<BalancerPlan> = {}): BalancerPlan => ({
  id: 'lb-0a',
  kind: 'network',
  address: '198.18.0.5',
  internetFacing: true,
  listeners: [{ protocol: 'tcp', port: 80 }],
  proxyProtocol: 'none',
  sourceRanges: ['0.0.0.0/0'],
  affinityTimeoutSeconds: undefined,
  healthCheck: undefined,
  targets: [a, b],
  unused: [],
  ...more,
});
const vpc = (...balancers: BalancerPlan[]): VpcPlan => ({ vpcId: 'vpc-1', netns: 'router', balancers, places: [a, b] });
const indexes = new Map([
  ['v-a', 1],
  ['v-b', 2],
]);
const rules = (plan: VpcPlan, healthy: readonly Place[] = [a, b]) => routerRules(plan, { indexes, healthy: () => healthy });
const chain = (name: string, plan: VpcPlan, healthy?: readonly Place[]) => rules(plan, healthy).mangle.get(name);

describe('rules of a router', () => {
  it.each<[string, Partial<BalancerPlan>, readonly Place[], string[]]>([
    [
      'each of two with equal chance',
      {},
      [a, b],
      ['-m statistic --mode random --probability 0.5000000000 -g SGLB-T1', '-g SGLB-T2'],
    ],
    ['the only one', {}, [b], ['-g SGLB-T2']],
    ['none', {}, [], []],
    [
      'the one a client had lately',
      { affinityTimeoutSeconds: 60 },
      [a, b],
      [
        '-m recent --rcheck --seconds 60 --reap --name sglb-0a-1 --rsource -g SGLB-0a-1',
        '-m recent --rcheck --seconds 60 --reap --name sglb-0a-2 --rsource -g SGLB-0a-2',
        '-m statistic --mode random --probability 0.5000000000 -g SGLB-0a-1',
        '-g SGLB-0a-2',
      ],
    ],
  ])('picks %s', (_, more, healthy, expected) => {
    expect(chain('SGLB-0a-P', vpc(balancer(more)), healthy)).toEqual(expected);
  });

  it('drops whom no source range names, before anything else', () => {
    const lists = (sourceRanges: string[]) => chain('SGLB-0a', vpc(balancer({ sourceRanges })));
    expect(lists(['10.0.0.0/8', '192.0.2.1/32'])).toEqual([
      '-s 10.0.0.0/8 -g SGLB-0a-L',
      '-s 192.0.2.1/32 -g SGLB-0a-L',
      '-j DROP',
    ]);
    expect(lists([])).toEqual(['-j DROP']);
    expect(chain('SGLB', vpc(balancer()))?.at(-1)).toBe('-d 198.18.0.5/32 -g SGLB-0a');
  });

  it('leaves TCP of proxies to the router itself, and rewrites UDP', () => {
    const listeners = [
      { protocol: 'tcp' as const, port: 53, targetPort: 30053 },
      { protocol: 'udp' as const, port: 53, targetPort: 30054 },
    ];
    const plan = vpc(balancer({ kind: 'proxy', listeners }));
    expect(chain('SGLB-0a-L', plan)).toEqual([
      '-p udp --dport 53 -m connmark ! --mark 0x5a60/0xffff -j SGLB-0a-P',
      '-m connmark --mark 0x5a60/0xffff -j CONNMARK --restore-mark --nfmask 0x7fffffff --ctmask 0x7fffffff',
      '-m mark --mark 0 -j SGLB-ARR',
    ]);
    expect(rules(plan).nat.get('SGLB-0a')).toEqual([
      '-p udp --dport 53 -m mark --mark 0x15a60 -j DNAT --to-destination 10.0.0.11:30054',
      '-p udp --dport 53 -m mark --mark 0x25a60 -j DNAT --to-destination 10.0.0.12:30054',
    ]);
    const tcpOnly = vpc(balancer({ kind: 'proxy' }));
    expect(chain('SGLB-0a-L', tcpOnly)).toEqual(['-m mark --mark 0 -j SGLB-ARR']);
    expect(rules(tcpOnly).nat.has('SGLB-0a')).toBe(false);
  });

  it('writes the target and where the connection came from on it', () => {
    expect(chain('SGLB-T2', vpc(balancer()))).toEqual([
      '-j CONNMARK --set-xmark 0x25a60/0x7fffffff',
      '-i edge -j CONNMARK --set-xmark 0x80000000/0x80000000',
    ]);
  });

  it('uses names that the kernel takes, whatever the ids', () => {
    const long = vpc(balancer({ id: 'lb-0123456789abcdef0', affinityTimeoutSeconds: 5 }));
    const far = new Map([
      ['v-a', 0x7fff],
      ['v-b', 0x7ffe],
    ]);
    const { mangle, nat } = routerRules(long, { indexes: far, healthy: () => [a, b] });
    for (const name of [...mangle.keys(), ...nat.keys()]) expect(name.length).toBeLessThanOrEqual(28);
  });
});

describe('the way from rules to rules', () => {
  const empty = { mangle: new Map(), nat: new Map(), hooks: { mangle: [], nat: [] } };

  it('writes everything once, nothing twice, and only what changed after', () => {
    const before = rules(vpc(balancer()));
    const first = restoreText(empty, before);
    expect(first).toContain('-A PREROUTING -j SGLB\n');
    expect(first.match(/^\*(mangle|nat)$/gm)).toEqual(['*mangle', '*nat']);
    expect(restoreText(knownRules(before), rules(vpc(balancer())))).toBe('');
    expect(restoreText(knownRules(before), rules(vpc(balancer()), [b]))).toBe(
      '*mangle\n:SGLB-0a-P - [0:0]\n-A SGLB-0a-P -g SGLB-T2\nCOMMIT\n',
    );
  });

  it('takes out what was found, also without knowing its rules', () => {
    const saved = [
      '*mangle',
      ':PREROUTING ACCEPT [0:0]',
      ':SGLB - [0:0]',
      ':SGLB-0b - [0:0]',
      ':VPC-X - [0:0]',
      '-A PREROUTING -j SGLB',
      '-A SGLB -d 198.18.0.9/32 -g SGLB-0b',
      'COMMIT',
      '*nat',
      ':PREROUTING ACCEPT [0:0]',
      '-A PREROUTING -j VPC-DNAT',
      'COMMIT',
    ].join('\n');
    const found = foundRules(saved);
    expect(restoreText(found, noRules)).toBe(
      '*mangle\n:SGLB - [0:0]\n:SGLB-0b - [0:0]\n-D PREROUTING -j SGLB\n-X SGLB\n-X SGLB-0b\nCOMMIT\n',
    );
    const text = restoreText(found, rules(vpc(balancer())));
    expect(text).not.toContain('-A PREROUTING -j SGLB\n-A FORWARD');
    expect(text).toContain('-X SGLB-0b\n');
  });
});

const shown = (rulesJson: unknown[], routes: unknown[] = [], lo: unknown[] = []): string =>
  [
    [{ ifname: 'lo', addr_info: lo }],
    [{ ifname: 'edge', addr_info: [{ local: '169.254.1.2', prefixlen: 30 }] }],
    routes,
    rulesJson,
  ]
    .map((part) => `${JSON.stringify(part)}\n`)
    .join('==\n');
const local = { priority: 0, src: 'all', table: '255', protocol: '2' };

describe('addresses, routes and rules', () => {
  it('are made, found again as they were made, and taken away', () => {
    const fresh = parseRouter(shown([local], [], [{ local: '10.0.0.1', prefixlen: 32, label: 'lo:vpc' }]));
    const plan = vpc(balancer());
    const wanted = wantedInRouter(plan, fresh, allocate(fresh, plan).indexes);
    expect(addressLines(fresh, wanted)).toEqual(['addr add 198.18.0.5/32 dev lo label lo:lb scope host']);
    expect(routeLines(fresh, wanted)).toEqual([
      'route replace default via 169.254.1.1 dev edge onlink table 1516240896 proto 78',
      'route replace default via 10.0.0.11 dev v-a onlink table 1516240897 proto 78',
      'route replace default via 10.0.0.12 dev v-b onlink table 1516240898 proto 78',
      'rule add pref 20 lookup 255 protocol 78',
      'rule add pref 10 fwmark 0x80005a60 lookup 1516240896 protocol 78',
      'rule add pref 11 iif lo fwmark 0x5a61 lookup 1516240896 protocol 78',
      'rule add pref 10 fwmark 0x15a60 lookup 1516240897 protocol 78',
      'rule add pref 11 iif lo fwmark 0x15a61 lookup 1516240897 protocol 78',
      'rule add pref 10 fwmark 0x25a60 lookup 1516240898 protocol 78',
      'rule add pref 11 iif lo fwmark 0x25a61 lookup 1516240898 protocol 78',
      'rule del pref 0 lookup 255',
    ]);
    const mark = (priority: number, fwmark: string, table: string, iif?: string) => ({
      priority,
      fwmark,
      fwmask: '0xffffffff',
      table,
      protocol: '78',
      ...(iif && { iif }),
    });
    const found = parseRouter(
      shown(
        [
          { priority: 20, table: '255', protocol: '78' },
          mark(10, '0x80005a60', '1516240896'),
          mark(11, '0x5a61', '1516240896', 'lo'),
          mark(10, '0x15a60', '1516240897'),
          mark(11, '0x15a61', '1516240897', 'lo'),
          mark(10, '0x25a60', '1516240898'),
          mark(11, '0x25a61', '1516240898', 'lo'),
        ],
        [
          { dst: 'default', gateway: '169.254.1.1', dev: 'edge', table: '1516240896' },
          { dst: 'default', gateway: '10.0.0.11', dev: 'v-a', table: '1516240897' },
          { dst: 'default', gateway: '10.0.0.12', dev: 'v-b', table: '1516240898' },
        ],
        [{ local: '198.18.0.5', prefixlen: 32, label: 'lo:lb' }],
      ),
    );
    expect([...addressLines(found, wanted), ...routeLines(found, wanted)]).toEqual([]);
    // A target's instance is gone: its number is free, others keep theirs.
    const less = { ...plan, places: [b] };
    const { indexes: kept, freed } = allocate(found, less);
    expect([[...kept], freed]).toEqual([[['v-b', 2]], [1]]);
    expect(routeLines(found, wantedInRouter(less, found, kept))).toEqual([
      'rule del pref 10 fwmark 0x15a60 lookup 1516240897 protocol 78',
      'rule del pref 11 iif lo fwmark 0x15a61 lookup 1516240897 protocol 78',
      'route del default table 1516240897 proto 78',
    ]);
    const gone = routeLines(found, undefined);
    expect(gone[0]).toBe('rule add pref 0 lookup 255');
    expect(gone).toHaveLength(1 + 7 + 3);
    expect(addressLines(found)).toEqual(['addr del 198.18.0.5/32 dev lo']);
  });

  it.each([
    ['169.254.1.2', 30, '169.254.1.1'],
    ['169.254.1.5', 30, '169.254.1.6'],
    ['169.254.1.4', 30, undefined],
    ['10.0.0.0', 31, '10.0.0.1'],
    ['10.0.0.1', 24, undefined],
  ])('the other end of %s/%i is %s', (address, length, expected) => {
    expect(otherEnd({ address, length })).toBe(expected);
  });

  it('leads public addresses through the edge, and no internal ones', () => {
    const edgeLink = { address: '169.254.1.2', length: 30 };
    const internal = balancer({ id: 'lb-0b', address: '10.0.0.200', internetFacing: false });
    const wanted = new Map(edgeRoutes(vpc(balancer(), internal), { edgeLink }));
    expect(edgeLines(parseEdge('[{"dst":"198.18.0.9","gateway":"169.254.1.2","dev":"r-1"}]'), wanted)).toEqual([
      'route replace 198.18.0.5 via 169.254.1.2 dev r-1 onlink proto 78',
      'route del 198.18.0.9 proto 78',
    ]);
    expect(edgeLines(wanted, wanted)).toEqual([]);
  });
});

describe('connections to forget', () => {
  const udp = balancer({ listeners: [{ protocol: 'udp', port: 53 }] });
  const both = balancer({
    listeners: [
      { protocol: 'udp', port: 53 },
      { protocol: 'tcp', port: 80 },
    ],
  });
  it.each<[string, Parameters<typeof staleFlows>, string[]]>([
    ['new', [undefined, flowsOf(udp, [1])], []],
    ['the same', [flowsOf(udp, [1, 2]), flowsOf(udp, [1, 2])], []],
    ['one more target', [flowsOf(udp, [1]), flowsOf(udp, [1, 2])], []],
    ['a target out', [flowsOf(udp, [1, 2]), flowsOf(udp, [2])], ['-D -p udp --orig-dst 198.18.0.5 --mark 0x15a60/0x7fffffff']],
    ['the first target', [flowsOf(udp, []), flowsOf(udp, [2])], ['-D -p udp --orig-dst 198.18.0.5']],
    ['TCP drains', [flowsOf(balancer(), [1, 2]), flowsOf(balancer(), [2])], []],
    ['a listener out', [flowsOf(both, [1]), flowsOf(udp, [1])], ['-D -p tcp --orig-dst 198.18.0.5 --orig-port-dst 80']],
    ['gone', [flowsOf(both, [1]), undefined], ['-D --orig-dst 198.18.0.5']],
    ['HAProxy has it all', [flowsOf(balancer({ kind: 'proxy' }), [1]), undefined], []],
  ])('%s', (_, [before, after], expected) => {
    expect(staleFlows(before, after)).toEqual(expected);
  });
  it('of unknown balancers and links', () => {
    expect(unknownFlows(flowsOf(udp, [1]))).toEqual(['-D -p udp --orig-dst 198.18.0.5']);
    expect(unknownFlows(flowsOf(balancer(), [1]))).toEqual([]);
    expect(flowsOfIndex(3)).toBe('-D --mark 0x35a60/0x7fffffff');
  });
});
