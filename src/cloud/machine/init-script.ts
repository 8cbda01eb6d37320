// What runs first inside an instance's new namespaces: net + mnt + uts + ipc + pid + cgroup. Its PID 1 is the pause program, which reaps orphans
// and whose death is a power failure. Pure text.
import type { CgroupLayout } from './cgroups.ts';

export interface InitOptions {
  hostname: string;
  /** The instance's disk: what programs keep at fixed paths is in it. */
  disk: string;
  /** The cloud's own files about the instance; shown in the command line of PID 1. */
  dir: string;
  pausePath: string;
  boots: number;
  /** The machine's /etc/resolv.conf, links resolved; absent: it has none. */
  resolvConf: string | undefined;
  layout: CgroupLayout;
}

/** Printed when PID 1 is about to become the pause program. */
export const readyWord = 'ready';

/** Files of the cloud about an instance, in its folder. */
export const files = { resolvConf: 'resolv.conf', mounts: 'fstab', cgroups: 'cgroup' };
/** What programs keep at fixed paths is the instance's own: folders of its disk, by where they are seen. */
export const ownFolders: readonly [string, string][] = [
  ['run/containerd', '/run/containerd'],
  ['lib/cni', '/var/lib/cni'],
  ['run/netns', '/run/netns'],
];
export const lockFile = { own: 'xtables.lock', seen: '/run/xtables.lock' };

const sh = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
/** As fstab(5) wants it. */
const field = (text: string): string =>
  text.replaceAll(/[\\ \t\n]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
const entry = (source: string, target: string, type: string, options: string): string =>
  `${field(source)} ${field(target)} ${type} ${options} 0 0`;
const bind = (own: string, seen: string): string => entry(own, seen, 'none', 'bind');

/** Every controller is mounted anew, so that the instance's own cgroup is the root of what it sees. */
function cgroupMounts({ dir, layout }: InitOptions): string[] {
  const sys = entry('sagong-sys', '/sys', 'sysfs', 'defaults');
  if (layout.version === 2) return [sys, entry('sagong-cgroup', '/sys/fs/cgroup', 'cgroup2', 'defaults')];
  const staging = `${dir}/${files.cgroups}`;
  const mount = (name: string, options: string): string =>
    entry(`sagong-${name}`, `${staging}/${name}`, 'cgroup', `${options},X-mount.mkdir`);
  return [
    entry('sagong-cgroup', staging, 'tmpfs', 'mode=755'),
    ...layout.controllers.map((name) => mount(name, name)),
    ...(layout.systemd ? [mount('systemd', 'none,name=systemd')] : []),
    sys,
    entry(staging, '/sys/fs/cgroup', 'none', 'rbind'),
  ];
}

/** The instance's mounts in order, as fstab(5): one program mounts them all. What is mounted, and on what, must be there. */
export function mountTable(options: InitOptions): string {
  const { disk, dir, resolvConf } = options;
  const lines = [
    ...cgroupMounts(options),
    ...ownFolders.map(([own, seen]) => bind(`${disk}/${own}`, seen)),
    bind(`${disk}/${lockFile.own}`, lockFile.seen),
    ...(resolvConf === undefined ? [] : [bind(`${dir}/${files.resolvConf}`, resolvConf)]),
  ];
  return `${lines.join('\n')}\n`;
}

/** Instances are made for being nodes, as the images of such machines are: they forward, and bridged packets pass their rules. */
const settings = [
  'echo 1 > /proc/sys/net/ipv4/ip_forward',
  'echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet',
  'for path in /proc/sys/net/ipv4/conf/*/rp_filter; do echo 0 > $path; done',
  '[ ! -e /proc/sys/net/bridge/bridge-nf-call-iptables ] || echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables',
];

/** The command line of PID 1. Its arguments only tell a later process of the cloud what it is, and which of its boots this was. */
export const initCommand = (pausePath: string, dir: string, boots: number): string[] => [pausePath, dir, `boots=${boots}`];

/** Needs the file of `mountTable`. */
export const initScript = ({ hostname, dir, pausePath, boots }: InitOptions): string =>
  [
    'set -e',
    `hostname ${sh(hostname)}`,
    ...settings,
    `mount --all --fstab ${sh(`${dir}/${files.mounts}`)}`,
    // After the mounts: were they made in a shared tree, taking them away later would reach further than meant.
    'mount --make-rshared /',
    `echo ${readyWord}`,
    `exec ${initCommand(pausePath, dir, boots).map(sh).join(' ')}`,
  ].join('\n');
