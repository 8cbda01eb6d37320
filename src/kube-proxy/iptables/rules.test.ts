import { describe, expect, it } from 'vitest';
import type { Service } from '#api/core/v1';
import type { EndpointSlice } from '#api/discovery/v1';
import { conntrackCommands } from '../conntrack.ts';
import type { Dataplane } from '../dataplane.ts';
import { Tracker } from '../tracker.ts';
import { restoreInput } from './restore.ts';
import { type PortRules, portRules, type RuleOptions } from './rules.ts';

const options: RuleOptions = { masqueradeMark: '0x4000', masqueradeAll: false, clusterCidr: '10.244.0.0/16', randomFully: true };
const node = { name: 'node-1', zone: '' };
const dataplane = {
  rulesOf: (...[port, endpoints, own]: Parameters<Dataplane<PortRules>['rulesOf']>) =>
    portRules(port, endpoints, options, own.address),
};
const web = (spec: Service['spec']): Service => ({
  metadata: { name: 'web', namespace: 'ns' },
  spec: { clusterIP: '10.96.0.9', ports: [{ name: 'http', port: 80, protocol: 'TCP' }], ...spec },
});
const slice = (endpoints: EndpointSlice['endpoints'], protocol = 'TCP'): EndpointSlice => ({
  metadata: { name: 'web-1', namespace: 'ns', labels: { 'kubernetes.io/service-name': 'web' } },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 8080, protocol }],
  endpoints,
});
const pod = (ip: string, nodeName = 'node-1', conditions = {}) => ({ addresses: [ip], nodeName, conditions });

/** A tracker over a world that the test may change. */
function world(service: Service | undefined, slices: EndpointSlice[]) {
  const state = { service, slices };
  const leftOut: number[] = [];
  const source = {
    service: () => state.service,
    slices: () => state.slices,
    leftOut: (_: string, ports: number) => leftOut.push(ports),
  };
  const tracker = new Tracker(source, dataplane, node);
  const update = () => {
    tracker.touch('ns/web');
    return tracker.update();
  };
  const text = () => restoreInput(tracker.rules(), { ...options, healthCheckPorts: [] }).text.split('\n');
  update();
  return { state, tracker, update, text, leftOut };
}

describe('iptables rules', () => {
  it('balance a cluster address over its endpoints, with hairpin masquerade', () => {
    const lines = world(web({}), [slice([pod('10.244.1.2'), pod('10.244.2.3', 'node-2')])]).text();
    const [svc] = lines
      .filter((line) => line.startsWith('-A KUBE-SERVICES') && line.includes('cluster IP'))
      .map((line) => line.split(' ').at(-1) ?? '');
    expect(svc).toMatch(/^KUBE-SVC-[A-Z2-7]{16}$/);
    const own = lines.filter((line) => line.startsWith(`-A ${svc} `));
    expect(own[0]).toBe(
      `-A ${svc} -m comment --comment "ns/web:http cluster IP" -m tcp -p tcp -d 10.96.0.9 --dport 80 ! -s 10.244.0.0/16 -j KUBE-MARK-MASQ`,
    );
    expect(own[1]).toMatch(
      /"ns\/web:http -> 10\.244\.1\.2:8080" -m statistic --mode random --probability 0\.5000000000 -j KUBE-SEP-/,
    );
    expect(own[2]).toMatch(/"ns\/web:http -> 10\.244\.2\.3:8080" -j KUBE-SEP-/);
    const sep = own[2]?.split(' ').at(-1);
    expect(lines).toContain(`-A ${sep} -m comment --comment "ns/web:http" -s 10.244.2.3 -j KUBE-MARK-MASQ`);
    expect(lines).toContain(
      `-A ${sep} -m comment --comment "ns/web:http" -m tcp -p tcp -j DNAT --to-destination 10.244.2.3:8080`,
    );
  });

  it.each<[string, string | undefined, string[], string[]]>([
    [
      'a range that holds the node lets its own load balancer address in',
      '192.168.0.2',
      ['192.168.0.0/24'],
      ['192.168.0.0/24', '1.2.3.4'],
    ],
    ['a range that does not', '192.168.0.2', [' 203.0.113.000/025'], ['203.0.113.0/25']],
    ['any of them', '192.168.0.2', ['203.0.113.0/25', '0.0.0.0/0'], ['203.0.113.0/25', '0.0.0.0/0', '1.2.3.4']],
    ['a node whose address is not known is 127.0.0.1', undefined, ['0.0.0.0/0'], ['0.0.0.0/0', '1.2.3.4']],
    ['such a node, and a range without it', undefined, ['192.168.0.0/24'], ['192.168.0.0/24']],
  ])('limit who reaches a load balancer: %s', (_what, address, loadBalancerSourceRanges, sources) => {
    const { tracker, update, text } = world(
      {
        ...web({ type: 'LoadBalancer', loadBalancerSourceRanges }),
        status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } },
      },
      [slice([pod('10.244.1.2')])],
    );
    tracker.setNode({ ...node, address });
    update();
    const rules = text().filter((line) => /^-A KUBE-FW-/.test(line));
    const chain = rules[0]?.split(' ')[1] ?? '';
    const external = chain.replace('KUBE-FW-', 'KUBE-EXT-');
    expect(rules).toEqual([
      ...sources.map((source) => `-A ${chain} -m comment --comment "ns/web:http loadbalancer IP" -s ${source} -j ${external}`),
      `-A ${chain} -m comment --comment "other traffic to ns/web:http will be dropped by KUBE-PROXY-FIREWALL"`,
    ]);
  });

  it('name chains as upstream does', () => {
    // The chain of the `kubernetes` service, as seen on every cluster.
    const service: Service = {
      metadata: { name: 'kubernetes', namespace: 'default' },
      spec: { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443, protocol: 'TCP' }] },
    };
    const slices: EndpointSlice[] = [
      {
        metadata: { name: 'kubernetes', namespace: 'default' },
        addressType: 'IPv4',
        ports: [{ name: 'https', port: 6443, protocol: 'TCP' }],
        endpoints: [pod('10.0.0.1')],
      },
    ];
    expect(world(service, slices).text().join('\n')).toContain('KUBE-SVC-NPX46M4PTMTKRN6Y');
  });

  it('refuse a service without endpoints', () => {
    const lines = world(web({}), []).text();
    expect(lines).toContain(
      '-A KUBE-SERVICES -m comment --comment "ns/web:http has no endpoints" -m tcp -p tcp -d 10.96.0.9 --dport 80 -j REJECT',
    );
    expect(lines.some((line) => line.includes('KUBE-SVC-'))).toBe(false);
  });

  it('fall back to endpoints that still serve while they terminate', () => {
    const dying = { ready: false, serving: true, terminating: true };
    const lines = world(web({}), [
      slice([pod('10.244.1.2', 'node-1', dying), pod('10.244.1.3', 'node-1', { ready: false })]),
    ]).text();
    expect(lines.filter((line) => line.includes('DNAT')).map((line) => line.split(' ').at(-1))).toEqual(['10.244.1.2:8080']);
  });

  it('tell load balancers of pods that are ready, not of those that end and are still used', () => {
    const service = web({ type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_100 });
    const local = (...endpoints: NonNullable<EndpointSlice['endpoints']>): number | undefined =>
      world(service, [slice(endpoints)]).tracker.healthChecks()[0]?.localEndpoints;
    const dying = { ready: false, serving: true, terminating: true };
    expect(local(pod('10.244.1.2'), pod('10.244.1.3'), pod('10.244.2.4', 'node-2'))).toBe(2);
    expect(local(pod('10.244.1.2'), pod('10.244.1.3', 'node-1', dying))).toBe(1);
    expect(local(pod('10.244.1.3', 'node-1', dying))).toBe(0);
  });

  it('keep the client address under policy Local and drop where no endpoint is local', () => {
    const spec = {
      type: 'NodePort',
      externalTrafficPolicy: 'Local',
      ports: [{ name: 'http', port: 80, nodePort: 30080, protocol: 'TCP' }],
    };
    const here = world(web(spec), [slice([pod('10.244.1.2'), pod('10.244.2.3', 'node-2')])]).text();
    const local = here.find((line) => line.startsWith('-A KUBE-SVL-'));
    expect(local).toContain('cluster IP');
    expect(here.find((line) => line.startsWith('-A KUBE-NODEPORTS') && line.includes('30080'))).toMatch(/-j KUBE-EXT-/);
    const elsewhere = world(web(spec), [slice([pod('10.244.2.3', 'node-2')])]).text();
    expect(elsewhere).toContain(
      '-A KUBE-EXTERNAL-SERVICES -m comment --comment "ns/web:http has no local endpoints" -m tcp -p tcp -m addrtype --dst-type LOCAL --dport 30080 -j DROP',
    );
  });

  it('let pods and the node itself reach endpoints elsewhere under policy Local, and nobody else', () => {
    const service: Service = {
      ...web({ type: 'LoadBalancer', externalTrafficPolicy: 'Local', internalTrafficPolicy: 'Local' }),
      status: { loadBalancer: { ingress: [{ ip: '198.18.0.9', ipMode: 'VIP' }] } },
    };
    const lines = world(service, [slice([pod('10.244.2.3', 'node-2')])]).text();
    const rule = lines.find((line) => line.startsWith('-A KUBE-SERVICES') && line.includes('-d 198.18.0.9'));
    const external = rule?.split(' ').at(-1);
    expect(external).toMatch(/^KUBE-EXT-/);
    const targets = lines.filter((line) => line.startsWith(`-A ${external} `)).map((line) => line.replace(/^.*" /, ''));
    expect(targets).toEqual([
      expect.stringMatching(/^-s 10\.244\.0\.0\/16 -j KUBE-SVC-/),
      '-m addrtype --src-type LOCAL -j KUBE-MARK-MASQ',
      expect.stringMatching(/^-m addrtype --src-type LOCAL -j KUBE-SVC-/),
    ]);
    expect(lines.some((line) => line.startsWith('-A KUBE-SVC-') && line.includes('-> 10.244.2.3:8080'))).toBe(true);
    const drop = '-m comment --comment "ns/web:http has no local endpoints" -m tcp -p tcp -d';
    expect(lines).toContain(`-A KUBE-EXTERNAL-SERVICES ${drop} 198.18.0.9 --dport 80 -j DROP`);
    expect(lines).toContain(`-A KUBE-SERVICES ${drop} 10.96.0.9 --dport 80 -j DROP`);
  });

  it('remember clients for session affinity', () => {
    const lines = world(web({ sessionAffinity: 'ClientIP' }), [slice([pod('10.244.1.2')])]).text();
    expect(lines.some((line) => /-m recent --name (KUBE-SEP-\S+) --rcheck --seconds 10800 --reap -j \1$/.test(line))).toBe(true);
    expect(lines.some((line) => /-m recent --name KUBE-SEP-\S+ --set -m tcp -p tcp -j DNAT/.test(line))).toBe(true);
  });

  it('rewrite only what changed, and delete chains that went', () => {
    const { state, tracker, update } = world(web({}), [slice([pod('10.244.1.2'), pod('10.244.1.3')])]);
    const rules = tracker.rules();
    const first = restoreInput(rules, { ...options, healthCheckPorts: [] });
    update();
    const same = restoreInput(tracker.rules(), { ...options, healthCheckPorts: [] }, { rules, chains: first.chains });
    expect(same.text).not.toContain(':KUBE-SVC-');
    state.slices = [slice([pod('10.244.1.3')])];
    update();
    const less = restoreInput(tracker.rules(), { ...options, healthCheckPorts: [] }, { rules, chains: first.chains });
    expect(less.text.match(/^-X KUBE-SEP-/gm)).toHaveLength(1);
    expect(less.text).toMatch(/^:KUBE-SVC-/m);
    state.service = undefined;
    update();
    const none = restoreInput(tracker.rules(), { ...options, healthCheckPorts: [] }, { rules, chains: first.chains });
    expect(none.text.match(/^-X /gm)).toHaveLength(first.chains.size);
  });

  it('are bounded for one Service: of too many ports the last are not served', () => {
    const ports = Array.from({ length: 4_000 }, (_, at) => ({ name: `p${at}`, port: at + 1 }));
    const loadBalancerSourceRanges = Array.from({ length: 2_000 }, (_, at) => `10.${at >> 8}.${at & 255}.0/24`);
    const { tracker, leftOut } = world(web({ type: 'LoadBalancer', ports, loadBalancerSourceRanges }), []);
    expect(tracker.rules().size).toBe(24);
    expect(leftOut).toEqual([3_976]);
  });

  it('know which UDP flows go stale', () => {
    const udp = web({ ports: [{ name: 'http', port: 80, protocol: 'UDP' }] });
    const { state, update } = world(udp, [slice([pod('10.244.1.2')], 'UDP')]);
    state.slices = [slice([pod('10.244.1.9')], 'UDP')];
    expect(update().flatMap(conntrackCommands)).toEqual([
      ['-D', '-p', 'udp', '--orig-dst', '10.96.0.9', '--dst-nat', '10.244.1.2', '--reply-port-src', '8080'],
    ]);
  });
});
