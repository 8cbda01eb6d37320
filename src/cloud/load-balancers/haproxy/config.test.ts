import { describe, expect, it } from 'vitest';
import type { BalancerPlan, Place } from '../plan.ts';
import {
  configOf,
  parseProcesses,
  parseServerStates,
  proxiesOf,
  refusedProxies,
  serverCommands,
  serversMatch,
} from './config.ts';

const place = (name: string, number: number): Place => ({
  instanceId: `i-${name}`,
  link: `v-${name}`,
  address: `10.0.0.${number}`,
  initPid: 1,
});
const [a, b] = [place('a', 11), place('b', 12)];
const balancer = (more: Partial<BalancerPlan> = {}): BalancerPlan => ({
  id: 'lb-1',
  kind: 'proxy',
  address: '198.18.0.5',
  internetFacing: true,
  listeners: [
    { protocol: 'tcp', port: 80, targetPort: 30080 },
    { protocol: 'udp', port: 80 },
  ],
  proxyProtocol: 'none',
  sourceRanges: ['0.0.0.0/0'],
  affinityTimeoutSeconds: undefined,
  healthCheck: undefined,
  targets: [a, b],
  unused: [],
  ...more,
});
const options = { ownAccount: true, emptyDir: '/data/empty', threads: 2 };
const config = (more: Partial<BalancerPlan>, healthy: readonly Place[]) =>
  configOf(
    proxiesOf([balancer(more)], () => healthy),
    options,
  );

describe('HAProxy configuration', () => {
  it('has a frontend for each TCP listener, in its own order', () => {
    expect(config({}, [a, b]).text.split('server self\n')[1]).toBe(
      `
frontend lb-1_80
  bind 198.18.0.5:80
  default_backend lb-1_80
backend lb-1_80
  balance roundrobin
  server i-a 10.0.0.11:30080
  server i-b 10.0.0.12:30080
`,
    );
    expect(proxiesOf([balancer({ kind: 'network' })], () => [a])).toEqual([]);
  });

  it.each<[string, Partial<BalancerPlan>, string[]]>([
    ['PROXY protocol 1', { proxyProtocol: 'v1' }, ['default-server send-proxy', 'server i-a 10.0.0.11:30080 send-proxy']],
    ['PROXY protocol 2', { proxyProtocol: 'v2' }, ['server i-a 10.0.0.11:30080 send-proxy-v2']],
    ['affinity', { affinityTimeoutSeconds: 90 }, ['stick-table type ip size 100000 expire 90s peers self', 'stick on src']],
    ['no other port', { listeners: [{ protocol: 'tcp', port: 22 }] }, ['bind 198.18.0.5:22', 'server i-a 10.0.0.11:22']],
  ])('%s', (_, more, lines) => {
    const { text } = config(more, [a]);
    for (const line of lines) expect(text).toContain(`  ${line}\n`);
  });

  it.each<[string, Partial<BalancerPlan>, readonly Place[], boolean]>([
    ['other servers', {}, [b], true],
    ['other ranges, which packet rules know', { sourceRanges: [] }, [a], true],
    ['another port', { listeners: [{ protocol: 'tcp', port: 81, targetPort: 30080 }] }, [a], false],
    ['affinity', { affinityTimeoutSeconds: 1 }, [a], false],
    ['PROXY protocol', { proxyProtocol: 'v1' }, [a], false],
  ])('is changed without a reload for %s', (_, more, healthy, same) => {
    expect(config(more, healthy).structure === config({}, [a]).structure).toBe(same);
  });
});

const header =
  '1\n# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight srv_iweight srv_time_since_last_change srv_check_status srv_check_result srv_check_health srv_check_state srv_agent_state bk_f_forced_id srv_f_forced_id srv_fqdn srv_port srvrecord srv_use_ssl srv_check_port srv_check_addr srv_agent_addr srv_agent_port\n';
const row = (name: string, address: string, operation: number, administration: number, port = 30080): string =>
  `3 lb-1_80 1 ${name} ${address} ${operation} ${administration} 1 1 0 1 0 0 0 0 0 0 - ${port} - 0 0 - - 0\n`;

describe('servers at run time', () => {
  const proxies = proxiesOf([balancer({ proxyProtocol: 'v1' })], () => [a, b]);
  it.each<[string, string, string[], boolean]>([
    ['all there', row('i-a', '10.0.0.11', 2, 0) + row('i-b', '10.0.0.12', 2, 0), [], true],
    [
      'one is new, one is too many',
      row('i-a', '10.0.0.11', 2, 0) + row('i-c', '10.0.0.13', 2, 0),
      [
        'add server lb-1_80/i-b 10.0.0.12:30080 send-proxy',
        'enable server lb-1_80/i-b',
        'set server lb-1_80/i-c state maint',
        'del server lb-1_80/i-c',
      ],
      false,
    ],
    [
      'one comes back while its old connections last',
      row('i-a', '10.0.0.11', 0, 1) + row('i-b', '10.0.0.12', 2, 0),
      ['set server lb-1_80/i-a state ready'],
      false,
    ],
    ['one has another port: only a reload helps', row('i-a', '10.0.0.11', 2, 0, 1) + row('i-b', '10.0.0.12', 2, 0), [], false],
    [
      'one that was removed still has connections',
      row('i-a', '10.0.0.11', 2, 0) + row('i-b', '10.0.0.12', 2, 0) + row('i-c', '10.0.0.13', 0, 1),
      ['del server lb-1_80/i-c'],
      true,
    ],
  ])('%s', (_, rows, commands, match) => {
    const states = parseServerStates(header + rows);
    expect(serverCommands(proxies, states)).toEqual(commands);
    expect(serversMatch(proxies, states)).toBe(match);
  });
  it('ends the connections of a removed server where they are to end', () => {
    const healthCheck = {
      ...{ protocol: 'https' as const, port: 6443, intervalMs: 500, timeoutMs: 500, healthyThreshold: 1, unhealthyThreshold: 2 },
      terminateConnections: true,
    };
    const strict = proxiesOf([balancer({ proxyProtocol: 'v1', healthCheck })], () => [a]);
    const rows = row('i-a', '10.0.0.11', 2, 0) + row('i-b', '10.0.0.12', 2, 0);
    expect(serverCommands(strict, parseServerStates(header + rows))).toEqual([
      'set server lb-1_80/i-b state maint',
      'shutdown sessions server lb-1_80/i-b',
      'del server lb-1_80/i-b',
    ]);
  });
  it('reads nothing out of an error', () => {
    expect(parseServerStates("Unknown command: 'x'\n3 4 5\n").size).toBe(0);
  });
});

describe('what HAProxy says', () => {
  it('tells the newest workers from old ones', () => {
    const text =
      '#<PID>          <type>          <reloads>       <uptime>        <version>      \n3197            master          2 [failed: 1]   0d00h10m33s     2.6.12\n# workers\n15385           worker          0               0d00h00m00s     2.6.12\n# old workers\n3200            worker          1               0d00h10m33s     2.6.12\n';
    expect(parseProcesses(text)).toEqual({ reloads: 2, failed: 1, workers: new Set([15385]) });
    expect(parseProcesses('')).toBeUndefined();
  });
  it('names the listeners that it could not open', () => {
    const log =
      '[NOTICE]   (1) : haproxy version is 2.6.12\n[ALERT]    (1) : Binding [/data/haproxy.cfg:33] for frontend lb-2_7777: cannot bind socket (Address already in use) for [198.18.0.6:7777]\n[ALERT]    (1) : [haproxy.main()] Some protocols failed to start their listeners! Exiting.\n';
    expect([...refusedProxies(log)]).toEqual([
      ['lb-2_7777', 'cannot bind socket (Address already in use) for [198.18.0.6:7777]'],
    ]);
  });
});
