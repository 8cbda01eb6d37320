// The cloud's way out: a veth pair between the machine, which plays the internet, and the edge. The machine routes the public addresses into it, and
// masquerades what goes on from it. On the machine everything carries the cloud's mark: one link, and one chain each in the tables nat and
// filter, named `SAGONG-<mark>`.
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { Exec } from '#utils';
import { edgeNetns, edgeUplink, uplinkLink } from '../model/index.ts';
import { inNetns, must } from './commands.ts';
import { edgeAddressOf } from './plan/index.ts';

const isUplink = (link: string): boolean => /^sg[0-9a-f]{6}up$/.test(link);
const chainOf = (mark: string): string => `SAGONG-${mark}`;
const forwardSwitch = '/proc/sys/net/ipv4/ip_forward';
/** Says that forwarding was off before the first uplink; gone at the next boot, as the switch is. */
const forwardMark = '/run/sagong-ip-forward-was-off';

/** A pair of addresses from 169.254.128.0/17 (RFC 3927; the lower half is between edge and routers). Undefined: all are taken. Pure. */
export function freePair(mark: string, taken: ReadonlySet<string>): { machine: string; edge: string } | undefined {
  const blocks = 127 * 64;
  for (let step = 0; step < blocks; step++) {
    const block = (Number.parseInt(mark, 16) + step) % blocks;
    // The last 256 addresses are reserved; 169.254.169.x is where clouds have services of their own.
    const third = 128 + Math.floor(block / 64);
    const fourth = (block % 64) * 4;
    const pair = { machine: `169.254.${third}.${fourth + 1}`, edge: `169.254.${third}.${fourth + 2}` };
    if (third !== 169 && !taken.has(pair.machine) && !taken.has(pair.edge)) return pair;
  }
  return undefined;
}

/** The hooks and chains on the machine, as `iptables-save` shows them. Pure. */
export function uplinkRules(mark: string, publicCidr: string): { table: string; hook: string; rules: string[] }[] {
  const link = uplinkLink(mark);
  return [
    { table: 'nat', hook: `POSTROUTING -j ${chainOf(mark)}`, rules: [`-s ${publicCidr} ! -o ${link} -j MASQUERADE`] },
    {
      table: 'filter',
      hook: `FORWARD -j ${chainOf(mark)}`,
      rules: [`-s ${publicCidr} -i ${link} -j ACCEPT`, `-o ${link} -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT`],
    },
  ];
}

/** What concerns uplinks on the machine. */
interface Found {
  /** Uplinks of all clouds. */
  links: string[];
  addresses: Set<string>;
  /** The machine's routes for the public addresses, and the edge's way out. */
  routes: string;
  edgeRoutes: string;
  rules: string[];
}

async function look(exec: Exec, mark: string, publicCidr?: string): Promise<Found> {
  const output = await must(
    exec,
    'sh',
    ['-s'],
    [
      'ip -o link show type veth; echo =====',
      'ip -4 -o addr show; echo =====',
      `${publicCidr ? `ip -4 route show ${publicCidr}; ` : ''}echo =====`,
      `ip -n ${edgeNetns(mark)} -4 route show default dev ${edgeUplink} 2>/dev/null; echo =====`,
      'iptables-save',
    ].join('\n'),
  );
  const [links = '', addresses = '', routes = '', edgeRoutes = '', rules = ''] = output.split('=====\n');
  return {
    links: [...links.matchAll(/^\d+: ([^:@\s]+)/gm)].map(([, name = '']) => name).filter(isUplink),
    addresses: new Set([...addresses.matchAll(/inet ([\d.]+)/g)].map(([, address = '']) => address)),
    routes,
    edgeRoutes,
    rules: rules.split('\n'),
  };
}

/** Whether everything of the uplink is there. */
const isWhole = ({ routes, edgeRoutes, rules }: Found, mark: string, publicCidr: string): boolean =>
  routes.includes(` dev ${uplinkLink(mark)} `) &&
  edgeRoutes !== '' &&
  uplinkRules(mark, publicCidr).every(({ hook, rules: own }) =>
    [`-A ${hook}`, ...own.map((rule) => `-A ${chainOf(mark)} ${rule}`)].every((line) => rules.includes(line)),
  );

export interface UplinkOptions {
  exec: Exec;
  mark: string;
  publicCidr: string;
  dir: string;
}

/** Connects the edge, which must be there, with the machine. Keeps an uplink that is whole. Rejects when the machine does not allow it. */
export async function ensureUplink({ exec, mark, publicCidr, dir }: UplinkOptions): Promise<void> {
  const found = await look(exec, mark, publicCidr);
  if (isWhole(found, mark, publicCidr)) return;
  await remove(exec, mark, found);
  const elsewhere = found.routes.split('\n').find((route) => route !== '' && !route.includes(` dev ${uplinkLink(mark)} `));
  if (elsewhere !== undefined) throw new Error(`this machine has another route for the public addresses: ${elsewhere.trim()}`);
  const pair = freePair(mark, found.addresses);
  if (!pair) throw new Error('no link-local address is free');
  const link = uplinkLink(mark);
  const lines = [
    `link add ${link} type veth peer name ${edgeUplink} netns ${edgeNetns(mark)}`,
    `addr add ${pair.machine}/30 dev ${link}`,
    `link set ${link} up`,
    `route add ${publicCidr} via ${pair.edge} dev ${link}`,
  ];
  await must(exec, 'ip', ['-batch', '-'], `${lines.join('\n')}\n`);
  const edge = [
    `addr add ${pair.edge}/30 dev ${edgeUplink}`,
    `link set ${edgeUplink} up`,
    `route add default via ${pair.machine} dev ${edgeUplink} src ${edgeAddressOf(publicCidr)}`,
  ];
  const restore = uplinkRules(mark, publicCidr).flatMap(({ table, hook, rules }) => [
    `*${table}`,
    `:${chainOf(mark)} - [0:0]`,
    ...rules.map((rule) => `-A ${chainOf(mark)} ${rule}`),
    `-I ${hook}`,
    'COMMIT',
  ]);
  await Promise.all([
    inNetns(exec, edgeNetns(mark), `ip -batch - <<'END-OF-INPUT'\n${edge.join('\n')}\nEND-OF-INPUT\n`, dir),
    must(exec, 'iptables-restore', ['-w', '5', '--noflush'], `${restore.join('\n')}\n`),
    forward(),
  ]);
}

/** Takes away the cloud's link and rules, also what a crashed process or a failed start left. Safe to repeat. */
export async function removeUplink(exec: Exec, mark: string): Promise<void> {
  const found = await look(exec, mark);
  await remove(exec, mark, found);
  if (found.links.every((link) => link === uplinkLink(mark))) await stopForwarding();
}

async function remove(exec: Exec, mark: string, { links, rules }: Found): Promise<void> {
  if (links.includes(uplinkLink(mark))) await must(exec, 'ip', ['link', 'del', uplinkLink(mark)]);
  const restore = uplinkRules(mark, '0.0.0.0/0').flatMap(({ table, hook }) => {
    const first = rules.indexOf(`*${table}`);
    const own = first < 0 ? [] : rules.slice(first, rules.indexOf('COMMIT', first));
    if (!own.some((line) => line.startsWith(`:${chainOf(mark)} `))) return [];
    const hooks = own.filter((line) => line === `-A ${hook}`).map(() => `-D ${hook}`);
    return [`*${table}`, `:${chainOf(mark)} - [0:0]`, ...hooks, `-X ${chainOf(mark)}`, 'COMMIT'];
  });
  if (restore.length > 0) await must(exec, 'iptables-restore', ['-w', '5', '--noflush'], `${restore.join('\n')}\n`);
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
