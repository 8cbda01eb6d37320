import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ProxyEndpoint, ServicePort } from '../model.ts';
import { type NftRules, nftRules } from './rules.ts';
import { ProxyTable } from './table.ts';

const options = { masqueradeMark: '0x4000', masqueradeAll: false, clusterCidr: '10.244.0.0/16' };
const port = (more: Partial<ServicePort> = {}): ServicePort => ({
  name: 'ns/web:http',
  namespace: 'ns',
  serviceName: 'web',
  portName: 'http',
  protocol: 'TCP',
  clusterIp: '10.96.0.9',
  port: 80,
  nodePort: 0,
  externalIps: [],
  loadBalancerIps: [],
  loadBalancerSourceRanges: [],
  affinitySeconds: 0,
  externalLocal: false,
  internalLocal: false,
  healthCheckNodePort: 0,
  ...more,
});
const endpoint = (ip: string, local = true): ProxyEndpoint => ({
  address: `${ip}:8080`,
  ip,
  port: 8080,
  local,
  ready: true,
  serving: true,
  terminating: false,
  zoneHints: [],
  nodeHints: [],
});
const here = endpoint('10.244.1.2');
const there = endpoint('10.244.2.3', false);

/** What nft would hold after these transactions; refuses what nft refuses. */
function replay(...texts: string[]): string[] {
  const objects = new Map<string, Map<string, string>>();
  const usedBy = (text: string): string[] => [...text.matchAll(/(?:@|goto |jump )([\w-]+)/g)].map(([, name = '']) => name);
  const made = new Set<string>();
  for (const [at, line] of texts.flatMap((text, at) => text.split('\n').map((line) => [at, line] as const))) {
    if (line === '') continue;
    const [, verb, kind, name = '', rest = ''] = /^(\w+) (\w+) ip kube-proxy ?(\S*) ?(.*)$/.exec(line) ?? [];
    const found = objects.get(name);
    for (const used of usedBy(rest)) if (!objects.has(used)) throw new Error(`no ${used}: ${line}`);
    const [, mapped] = / map @([\w-]+)$/.exec(rest) ?? [];
    if (mapped && !made.has(`${at} ${mapped}`)) throw new Error(`conflicting protocols specified: tcp vs. th: ${line}`);
    if (kind === 'map') made.add(`${at} ${name}`);
    if (kind === 'table') {
      if (verb === 'delete') objects.clear();
    } else if (verb === 'add' && (kind === 'map' || kind === 'set' || kind === 'chain')) objects.set(name, found ?? new Map());
    else if (!found) throw new Error(`no ${name}: ${line}`);
    else if (verb === 'flush') found.clear();
    else if (kind === 'rule') found.set(String(found.size), rest);
    else if (kind === 'element')
      for (const element of rest.slice(2, -2).split(', ')) {
        const [key = ''] = element.split(' : ');
        if ((verb === 'add') === found.has(key)) throw new Error(`${key}: ${line}`);
        if (verb === 'add') found.set(key, element);
        else found.delete(key);
      }
    else {
      objects.delete(name);
      for (const all of objects.values())
        for (const text of all.values()) if (usedBy(text).includes(name)) throw new Error(`${name} is in use: ${line}`);
    }
  }
  return [...objects].map(([name, all]) => `${name}: ${[...all.values()].sort().join(' | ')}`).sort();
}

describe('the maps', () => {
  it('send a cluster address to its endpoints, one by one', () => {
    const { elements, chains } = nftRules(port(), { cluster: [here, there], local: [here] }, options);
    expect(elements).toEqual({
      'cluster-ips': { '10.96.0.9': '' },
      'hairpin-connections': { '10.244.1.2 . 10.244.1.2': '', '10.244.2.3 . 10.244.2.3': '' },
      'endpoints-2': { '10.96.0.9 . tcp . 80 . 0': '10.244.1.2 . 8080', '10.96.0.9 . tcp . 80 . 1': '10.244.2.3 . 8080' },
      'service-ips': { '10.96.0.9 . tcp . 80': 'goto internal-pick-2' },
    });
    expect(chains['internal-pick-2']).toEqual(['ip saddr != 10.244.0.0/16 jump mark-for-masquerade', 'goto pick-2']);
    expect(Object.keys(chains).sort()).toEqual(['internal-pick-2', 'pick-2']);
  });
  it('refuse what has no endpoints, and drop what has them elsewhere', () => {
    const spec = { nodePort: 30_080, externalLocal: true, internalLocal: true };
    expect(nftRules(port(spec), { cluster: [], local: [] }, options).elements).toEqual({
      'cluster-ips': { '10.96.0.9': '' },
      'no-endpoint-services': { '10.96.0.9 . tcp . 80': 'goto reject-chain' },
      'no-endpoint-nodeports': { 'tcp . 30080': 'goto reject-chain' },
    });
    const { elements, chains } = nftRules(port(spec), { cluster: [there], local: [] }, options);
    expect(elements['no-endpoint-nodeports']).toEqual({ 'tcp . 30080': 'goto drop-chain' });
    expect(elements['service-nodeports']).toEqual({ 'tcp . 30080': 'goto external-nodeport-pick-1-none' });
    expect(chains['external-nodeport-pick-1-none']).toEqual([
      'ip saddr 10.244.0.0/16 goto nodeport-pick-1',
      'fib saddr type local jump mark-for-masquerade',
      'fib saddr type local goto nodeport-pick-1',
    ]);
  });
  it('let only some sources in to a load balancer, none of them twice', () => {
    const sources = ['203.0.113.0/24', '203.0.113.7/32', '203.0.113.0/24', 'not one', '2001:db8::/32'];
    const { elements } = nftRules(
      port({ loadBalancerIps: ['198.18.0.9'], loadBalancerSourceRanges: sources }),
      { cluster: [here], local: [here] },
      options,
    );
    expect(elements['firewall-ips']).toEqual({ '198.18.0.9 . tcp . 80': '' });
    expect(elements['firewall-allowed']).toEqual({ '198.18.0.9 . tcp . 80 . 203.0.113.0/24': '' });
  });
  it('remember clients of a service with affinity by endpoint', () => {
    const { chains, sets } = nftRules(port({ affinitySeconds: 60 }), { cluster: [here, there], local: [here] }, options);
    const [name = ''] = Object.keys(chains).filter((one) => one.startsWith('KUBE-SVC-'));
    expect(chains[name]?.at(-1)).toMatch(/^numgen random mod 2 vmap \{ 0 : goto KUBE-SEP-\w+, 1 : goto KUBE-SEP-\w+ \}$/);
    expect(chains[name]?.[0]).toMatch(/^ip saddr @clients-60-KUBE-SEP-\w+ goto KUBE-SEP-\w+$/);
    const remembering = ['set', 'type ipv4_addr; flags dynamic,timeout; timeout 60s; size 65535;'];
    expect(Object.values(sets)).toEqual([remembering, remembering]);
  });
});

const some = <T>(...of: T[]) => fc.constantFrom(...of);
const rules = fc
  .record({
    clusterIp: some('10.96.0.1', '10.96.0.2'),
    nodePort: some(0, 30_080, 30_081),
    externalIps: fc.subarray(['192.0.2.1', '192.0.2.2']),
    affinitySeconds: some(0, 0, 60),
    externalLocal: fc.boolean(),
    internalLocal: fc.boolean(),
    endpoints: fc.subarray([here, there, endpoint('10.244.1.9')]),
  })
  .map(({ endpoints, ...more }) =>
    nftRules(port(more), { cluster: endpoints, local: endpoints.filter(({ local }) => local) }, options),
  );
const states = fc.array(fc.dictionary(some('a', 'b', 'c'), rules, { maxKeys: 3 }), { minLength: 1, maxLength: 5 });

describe('transactions', () => {
  it('come to the same whatever the way, and every step is one that nft takes', () => {
    fc.assert(
      fc.property(states, (way) => {
        const table = new ProxyTable(options);
        const texts = way.map((ports) => table.to(new Map(Object.entries(ports))));
        const fresh = new ProxyTable(options).to(new Map(Object.entries(way.at(-1) as Record<string, NftRules>)));
        expect(replay(...texts)).toEqual(replay(fresh));
      }),
      { numRuns: 80 },
    );
  });
  it('are empty where nothing changed, and small where little did', () => {
    const one = nftRules(port(), { cluster: [here], local: [here] }, options);
    const ports = new Map(
      Array.from({ length: 500 }, (_, index) => [
        `p${index}`,
        nftRules(port({ port: index + 1 }), { cluster: [here], local: [here] }, options),
      ]),
    );
    const table = new ProxyTable(options);
    table.to(ports);
    expect(table.to(new Map(ports))).toBe('');
    const more = table.to(
      new Map([...ports, ['one', nftRules(port({ port: 9_999 }), { cluster: [here], local: [here] }, options)]]),
    );
    expect(more.trim().split('\n')).toHaveLength(2);
    expect(Object.keys(one.sets)).toEqual(['endpoints-1']);
  });
});
