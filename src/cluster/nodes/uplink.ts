// The nodes' way out of the machine: a veth pair between the machine and the lan with link-local addresses, and masquerading at both of
// its ends, so that the machine needs no route to nodes or pods. On the machine everything carries the cluster's mark: one link, and one
// chain each in the tables nat and filter, named `SAGONG-<id>`.
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { Exec } from '#utils';
import { must } from './commands.ts';
import { commandTimeoutMs } from './limits.ts';

export interface Uplink {
  /** Of the machine's end, on the machine. */
  link: string;
  /** The machine's address as the nodes see it. */
  machine: string;
  /** The nodes' address as the machine sees it. */
  lan: string;
}

const linkOf = (id: string): string => `sg${id}up`;
const isUplink = (link: string): boolean => /^sg[0-9a-f]{6}up$/.test(link);
const chainOf = (id: string): string => `SAGONG-${id}`;
const lanLink = 'uplink';
const prefixLength = 30;
const forwardSwitch = '/proc/sys/net/ipv4/ip_forward';
/** Says that forwarding was off before the first uplink; gone at the next boot, as the switch is. */
const forwardMark = '/run/sagong-ip-forward-was-off';

/** A pair of addresses from 169.254.0.0/16 (RFC 3927) that starts the search at the cluster's mark. Undefined: all are taken. Pure. */
export function freePair(id: string, taken: ReadonlySet<string>): { machine: string; lan: string } | undefined {
  const blocks = 253 * 64;
  for (let step = 0; step < blocks; step++) {
    const block = (Number.parseInt(id, 16) + step) % blocks;
    // The first and last 256 addresses are reserved; 169.254.169.x is where clouds have services of their own.
    const third = 1 + Math.floor(block / 64);
    const fourth = (block % 64) * 4;
    const pair = { machine: `169.254.${third}.${fourth + 1}`, lan: `169.254.${third}.${fourth + 2}` };
    if (third !== 169 && !taken.has(pair.machine) && !taken.has(pair.lan)) return pair;
  }
  return undefined;
}

/** The chain's rules and the rule that leads to it, by table. */
const tables = (id: string, { link, lan }: Uplink) =>
  [
    { table: 'nat', from: 'POSTROUTING', rules: [['-s', lan, '!', '-o', link, '-j', 'MASQUERADE']] },
    {
      table: 'filter',
      from: 'FORWARD',
      rules: [
        ['-i', link, '-s', lan, '-j', 'ACCEPT'],
        ['-o', link, '-m', 'conntrack', '--ctstate', 'RELATED,ESTABLISHED', '-j', 'ACCEPT'],
      ],
    },
  ].map((entry) => ({ ...entry, chain: chainOf(id) }));

const iptables = (table: string, ...args: string[]): string[] => ['-w', '5', '-t', table, ...args];

/** Connects the lan with the machine. Rejects when that cannot be done; `removeUplink` then takes away what is there. */
export async function createUplink(exec: Exec, id: string, lanNetns: string): Promise<Uplink> {
  const addresses = await must(exec, 'ip', ['-4', '-o', 'addr', 'show']);
  const taken = new Set([...addresses.matchAll(/inet ([\d.]+)/g)].map(([, address = '']) => address));
  const pair = freePair(id, taken);
  if (!pair) throw new Error('no link-local address is free');
  const uplink: Uplink = { link: linkOf(id), ...pair };
  await must(exec, 'ip', ['link', 'add', uplink.link, 'type', 'veth', 'peer', 'name', lanLink, 'netns', lanNetns]);
  await must(exec, 'ip', ['addr', 'add', `${uplink.machine}/${prefixLength}`, 'dev', uplink.link]);
  await must(exec, 'ip', ['link', 'set', uplink.link, 'up']);
  await must(
    exec,
    'ip',
    ['-n', lanNetns, '-batch', '-'],
    `addr add ${uplink.lan}/${prefixLength} dev ${lanLink}\nlink set ${lanLink} up\nroute add default via ${uplink.machine}\n`,
  );
  const inLan = [`--net=/run/netns/${lanNetns}`, 'iptables'];
  await must(exec, 'nsenter', [...inLan, ...iptables('nat', '-A', 'POSTROUTING', '-o', lanLink, '-j', 'MASQUERADE')]);
  for (const { table, from, chain, rules } of tables(id, uplink)) {
    await must(exec, 'iptables', iptables(table, '-N', chain));
    for (const rule of rules) await must(exec, 'iptables', iptables(table, '-A', chain, ...rule));
    await must(exec, 'iptables', iptables(table, '-I', from, '-j', chain));
  }
  await forward();
  return uplink;
}

/** Takes away the cluster's link and rules, also what a crashed process or a failed start left. Safe to repeat. */
export async function removeUplink(exec: Exec, id: string): Promise<void> {
  const links = await uplinks(exec);
  if (links.includes(linkOf(id))) await must(exec, 'ip', ['link', 'del', linkOf(id)]);
  for (const { table, from } of tables(id, { link: linkOf(id), machine: '', lan: '' })) {
    const call = (...args: string[]) => exec('iptables', iptables(table, ...args), { timeoutMs: commandTimeoutMs });
    if ((await call('-S', chainOf(id))).code !== 0) continue;
    await call('-D', from, '-j', chainOf(id));
    await call('-F', chainOf(id));
    await must(exec, 'iptables', iptables(table, '-X', chainOf(id)));
  }
  if (links.every((link) => link === linkOf(id))) await stopForwarding();
}

async function uplinks(exec: Exec): Promise<string[]> {
  const shown = await must(exec, 'ip', ['-o', 'link', 'show', 'type', 'veth']);
  return [...shown.matchAll(/^\d+: ([^:@\s]+)/gm)].map(([, name = '']) => name).filter(isUplink);
}

async function forward(): Promise<void> {
  if ((await readFile(forwardSwitch, 'utf8')).trim() !== '0') return;
  await mkdir('/run', { recursive: true });
  await writeFile(forwardMark, '');
  await writeFile(forwardSwitch, '1');
}

async function stopForwarding(): Promise<void> {
  const was = await access(forwardMark).then(
    () => true,
    () => false,
  );
  if (!was) return;
  await writeFile(forwardSwitch, '0');
  await rm(forwardMark, { force: true });
}
