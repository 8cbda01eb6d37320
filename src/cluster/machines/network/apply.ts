// Makes the machine's routes, tunnel and rules those of the plan. Every step may be repeated.
import { networkInterfaces } from 'node:os';
import { readFile, writeFile } from 'node:fs/promises';
import type { Exec } from '#utils';
import { podBridge, podNetworkName } from '../../nodes/containerd-config.ts';
import { hostPortRules } from './host-ports.ts';
import { contains, type Link, type NetworkPlan, type Tunnel, tunnelDevice, tunnelPort } from './plan.ts';
import { forwardChain, jumps, masqueradeChain, packetRules, tunnelChain } from './rules.ts';

/** The protocol number of routes that Sagong makes (rtm_protocol). Routes of others are never changed. */
const routeProtocol = '83';
const vxlanId = 83;
const timeoutMs = 10_000;

async function must(exec: Exec, program: string, args: readonly string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await exec(program, [...args], { timeoutMs, ...(input !== undefined && { input }) });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr.trim() || `exit code ${code}`}`);
  return stdout;
}

const attempt = async (exec: Exec, program: string, args: readonly string[]): Promise<boolean> =>
  (await exec(program, [...args], { timeoutMs })).code === 0;

/** Addresses of this machine, without those of loopback, pods and the tunnel. */
export async function machineLinks(): Promise<Link[]> {
  const found: Link[] = [];
  for (const [device, addresses = []] of Object.entries(networkInterfaces())) {
    if (device === 'lo' || device === tunnelDevice || device.startsWith('cni') || device.startsWith('veth')) continue;
    const text = await readFile(`/sys/class/net/${device}/mtu`, 'utf8').catch(() => '1500');
    for (const { family, cidr } of addresses) if (family === 'IPv4' && cidr) found.push({ device, cidr, mtu: Number(text) });
  }
  return found;
}

async function ensureTunnel(exec: Exec, tunnel: Tunnel): Promise<void> {
  const { local, device, mac, address, mtu } = tunnel;
  const { stdout } = await exec('ip', ['-d', '-o', 'link', 'show', tunnelDevice], { timeoutMs });
  const same = [`local ${local} `, `dev ${device} `, `link/ether ${mac} `].every((part) => stdout.includes(part));
  if (!same) {
    if (stdout !== '') await must(exec, 'ip', ['link', 'del', tunnelDevice]);
    const kind = [
      'type',
      'vxlan',
      'id',
      String(vxlanId),
      'dstport',
      String(tunnelPort),
      'local',
      local,
      'dev',
      device,
      'nolearning',
    ];
    await must(exec, 'ip', ['link', 'add', tunnelDevice, 'address', mac, 'mtu', String(mtu), ...kind]);
  }
  await must(exec, 'ip', ['addr', 'replace', `${address}/32`, 'dev', tunnelDevice]);
  await must(exec, 'ip', ['link', 'set', tunnelDevice, 'mtu', String(mtu), 'up']);
}

/** First words of each line: what is there. */
const firstWords = (text: string): string[] => text.split('\n').flatMap((line) => line.trim().split(/\s+/)[0] || []);

async function syncPeers(exec: Exec, { peers }: NetworkPlan): Promise<void> {
  const macs = new Set(peers.map(({ mac }) => mac));
  const entries = await must(exec, 'bridge', ['fdb', 'show', 'dev', tunnelDevice]);
  const stale = firstWords(entries).filter((mac) => mac.startsWith('02:53:') && !macs.has(mac));
  const fdb = [
    ...stale.map((mac) => `fdb del ${mac} dev ${tunnelDevice}`),
    ...peers.map(({ mac, remote }) => `fdb replace ${mac} dev ${tunnelDevice} dst ${remote} self permanent`),
  ];
  await must(exec, 'bridge', ['-batch', '-'], `${fdb.join('\n')}\n`);
  const addresses = new Set(peers.map(({ address }) => address));
  const neighbours = firstWords(await must(exec, 'ip', ['neigh', 'show', 'dev', tunnelDevice, 'nud', 'permanent']));
  const lines = [
    ...neighbours.filter((address) => !addresses.has(address)).map((address) => `neigh del ${address} dev ${tunnelDevice}`),
    ...peers.map(({ address, mac }) => `neigh replace ${address} lladdr ${mac} dev ${tunnelDevice} nud permanent`),
  ];
  await must(exec, 'ip', ['-batch', '-'], `${lines.join('\n')}\n`);
}

async function syncRoutes(exec: Exec, { routes }: NetworkPlan): Promise<void> {
  const wanted = new Set(routes.map(({ podCidr }) => podCidr));
  const present = firstWords(await must(exec, 'ip', ['-4', 'route', 'show', 'proto', routeProtocol]));
  const lines = [
    ...present.filter((podCidr) => !wanted.has(podCidr)).map((podCidr) => `route del ${podCidr} proto ${routeProtocol}`),
    ...routes.map(
      ({ podCidr, via, device, onLink }) =>
        `route replace ${podCidr} via ${via} dev ${device}${onLink ? ' onlink' : ''} proto ${routeProtocol}`,
    ),
  ];
  if (lines.length > 0) await must(exec, 'ip', ['-4', '-batch', '-'], `${lines.join('\n')}\n`);
}

async function ensureJumps(exec: Exec, podCidr: string): Promise<void> {
  for (const { table, chain, first, rule } of jumps(podCidr))
    if (!(await attempt(exec, 'iptables', ['-w', '-t', table, '-C', chain, ...rule])))
      await must(exec, 'iptables', ['-w', '-t', table, first ? '-I' : '-A', chain, ...rule]);
}

/** Packets of pods are routed, and those between pods of one bridge pass the rules of Services. */
async function prepareKernel(): Promise<void> {
  await writeFile('/proc/sys/net/ipv4/ip_forward', '1');
  await writeFile('/proc/sys/net/bridge/bridge-nf-call-iptables', '1').catch(() => {});
}

export async function applyNetwork(exec: Exec, plan: NetworkPlan, podCidr: string): Promise<void> {
  await prepareKernel();
  if (plan.tunnel) {
    await ensureTunnel(exec, plan.tunnel);
    await syncPeers(exec, plan);
  } else await attempt(exec, 'ip', ['link', 'del', tunnelDevice]);
  await syncRoutes(exec, plan);
  await must(exec, 'iptables-restore', ['-w', '--noflush'], packetRules(podCidr, plan.nodes, plan.senders));
  await ensureJumps(exec, podCidr);
}

/** Everything of it, also when only a part is there. */
export async function removeNetwork(exec: Exec, podCidr: string): Promise<void> {
  await attempt(exec, 'ip', ['-4', 'route', 'flush', 'proto', routeProtocol]);
  await attempt(exec, 'ip', ['link', 'del', tunnelDevice]);
  await removeBridge(exec, podCidr);
  for (const { table, chain, rule } of jumps(podCidr))
    while (await attempt(exec, 'iptables', ['-w', '-t', table, '-D', chain, ...rule]));
  for (const [table, chain] of [
    ['nat', masqueradeChain],
    ['filter', forwardChain],
    ['filter', tunnelChain],
  ] as const)
    for (const action of ['-F', '-X']) await attempt(exec, 'iptables', ['-w', '-t', table, action, chain]);
  await removeHostPorts(exec);
}

/** Others call theirs the same: ours has an address of our pods. */
async function removeBridge(exec: Exec, podCidr: string): Promise<void> {
  const { stdout } = await exec('ip', ['-4', '-o', 'addr', 'show', podBridge], { timeoutMs });
  const addresses = [...stdout.matchAll(/ inet ([\d.]+)\//g)].map(([, address = '']) => address);
  if (addresses.some((address) => contains(podCidr, address))) await attempt(exec, 'ip', ['link', 'del', podBridge]);
}

/** What the CNI plugin for host ports leaves when its pods did not end by it. */
async function removeHostPorts(exec: Exec): Promise<void> {
  const { stdout } = await exec('iptables-save', ['-t', 'nat'], { timeoutMs });
  const input = hostPortRules(stdout, podNetworkName);
  if (input !== undefined) await exec('iptables-restore', ['-w', '--noflush'], { timeoutMs, input });
}
