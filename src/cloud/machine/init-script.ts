// What runs first inside an instance's new namespaces: net + mnt + uts + ipc + pid + cgroup. Its PID 1 is the pause program, which reaps orphans
// and whose death is a power failure. Pure text.
import type { CgroupLayout } from './cgroups.ts';
import { fstabEntry, hostsFile, parentOf, rootOf, type RootPlan } from './root-files.ts';

export interface InitOptions {
  hostname: string;
  /** The instance's disk: what programs keep at fixed paths is in it. */
  disk: string;
  /** The cloud's own files about the instance; shown in the command line of PID 1. */
  dir: string;
  pausePath: string;
  boots: number;
  address: string;
  nameServer: string;
  layout: CgroupLayout;
}

/** Printed when PID 1 is about to become the pause program. */
export const readyWord = 'ready';

/** Files of the cloud about an instance, in its folder. */
export const files = { overlays: 'fstab.overlays', mounts: 'fstab', cgroups: 'cgroup', etc: 'etc', made: 'made' };
/** The instance's own files in `/etc`: written by the cloud at each boot. */
export const ownEtc = (options: Pick<InitOptions, 'hostname' | 'address' | 'nameServer'>): Record<string, string> => ({
  hostname: `${options.hostname}\n`,
  hosts: hostsFile(options.hostname, options.address),
  'resolv.conf': `nameserver ${options.nameServer}\n`,
});

const sh = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Every controller is mounted anew, so that the instance's own cgroup is the root of what it sees. */
function cgroupMounts({ disk, dir, layout }: InitOptions): string[] {
  const root = rootOf(disk);
  const sys = fstabEntry('sagong-sys', `${root}/sys`, 'sysfs', 'defaults');
  if (layout.version === 2) return [sys, fstabEntry('sagong-cgroup', `${root}/sys/fs/cgroup`, 'cgroup2', 'defaults')];
  const staging = `${dir}/${files.cgroups}`;
  const mount = (name: string, options: string): string =>
    fstabEntry(`sagong-${name}`, `${staging}/${name}`, 'cgroup', `${options},X-mount.mkdir`);
  return [
    fstabEntry('sagong-cgroup', staging, 'tmpfs', 'mode=755'),
    ...layout.controllers.map((name) => mount(name, name)),
    ...(layout.systemd ? [mount('systemd', 'none,name=systemd')] : []),
    sys,
    fstabEntry(staging, `${root}/sys/fs/cgroup`, 'none', 'rbind'),
  ];
}

/** The instance's mounts in order, as two files of fstab(5): one program mounts all of one, in the folder of the disk. */
export const mountTables = (options: InitOptions, { overlays, mounts }: RootPlan): { overlays: string; mounts: string } => ({
  overlays: [
    // A root has to be a mount of its own.
    fstabEntry(rootOf(options.disk), rootOf(options.disk), 'none', 'bind'),
    fstabEntry('proc', `${rootOf(options.disk)}/proc`, 'proc', 'nosuid,nodev,noexec'),
    ...cgroupMounts(options),
    ...overlays,
    '',
  ].join('\n'),
  mounts: [...mounts, ''].join('\n'),
});

/** Instances are made for being nodes, as the images of such machines are: they forward, and bridged packets pass their rules. */
const settings = [
  'echo 1 > /proc/sys/net/ipv4/ip_forward',
  'echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet',
  'for path in /proc/sys/net/ipv4/conf/*/rp_filter; do echo 0 > $path; done',
  '[ ! -e /proc/sys/net/bridge/bridge-nf-call-iptables ] || echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables',
];

/** The command line of PID 1. Its arguments only tell a later process of the cloud what it is, and which of its boots this was. */
export const initCommand = (pausePath: string, dir: string, boots: number): string[] => [pausePath, dir, `boots=${boots}`];

/** What is mounted below a folder is not made read-only with it: each is, with the other options that it has. */
function readOnlyBelow([path, except]: RootPlan['readOnly'][number]): string {
  const others = except.map((other) => `${sh(other)}|${sh(`${other}/`)}*) continue;;`).join(' ');
  const each = `${others && `case "$at" in ${others} esac; `}mount -o remount,bind,ro "$at" || exit 1`;
  return `findmnt --submounts --list --noheadings --output TARGET ${sh(path)} | while IFS= read -r at; do ${each}; done`;
}

/** Loop devices up to this one are there before the kernel has them, because it makes their files in the machine's `/dev`. */
const loopsMax = 31;

/**
 * The machine's devices with their names, and no files. Some vanish while they are copied. Where device files cannot be made (in a user namespace) the machine's
 * own folder is shown.
 */
const devices = (folder: string): string[] => [
  `(cd /dev && find . -xdev ! -name ptmx '(' -type b -o -type c -o -type l ')' -print0 | xargs -0 cp -a --parents -t ${sh(folder)}) || :`,
  `[ -c ${sh(`${folder}/null`)} ] || { mount --rbind /dev ${sh(folder)} && mount -t tmpfs -o nosuid,nodev,mode=1777 sagong-shm ${sh(`${folder}/shm`)}; }`,
  `[ -e ${sh(`${folder}/ptmx`)} ] || ln -s pts/ptmx ${sh(`${folder}/ptmx`)}`,
  `if [ -c ${sh(`${folder}/loop-control`)} ]; then n=0; while [ $n -le ${loopsMax} ]; do loop=${sh(`${folder}/loop`)}$n; [ -e "$loop" ] || mknod -m 660 "$loop" b 7 $n || :; n=$((n + 1)); done; fi`,
];

/** What is there already is mounted over; a link goes, for it could lead anywhere. */
const mountFile = ({ source, target, readOnly }: RootPlan['files'][number]): string[] => [
  `mkdir -p ${sh(parentOf(target))}`,
  `[ ! -L ${sh(target)} ] || rm ${sh(target)}`,
  `[ -e ${sh(target)} ] || : > ${sh(target)}`,
  `mount --bind ${sh(source)} ${sh(target)}`,
  ...(readOnly ? [`mount -o remount,bind,ro ${sh(target)}`] : []),
  `mount --make-private ${sh(target)}`,
];

/**
 * Ends where a link leads out of the new root. Its disk was looked at before; in an overlay, links of the machine and of the instance are seen together, and
 * whoever makes what is mounted there follows them. Nothing of the instance runs yet that could change them.
 */
const assertInside = (root: string, paths: readonly string[]): string =>
  `realpath -m -- ${[...new Set(paths)].map(sh).join(' ')} | while IFS= read -r at; do case "$at" in ${sh(root)}|${sh(`${root}/`)}*) ;; *) ` +
  'echo "a link leads out of the disk, to $at; remove it" >&2; exit 1;; esac; done';

/** Takes a folder away at the first boot, unless it is the machine's own, to which a link of the machine leads. */
const removeInside = (root: string, path: string): string =>
  `case "$(realpath -m -- ${sh(path)})" in ${sh(`${root}/`)}*) rm -rf ${sh(path)};; esac`;

/** Makes what is mounted below the new root the root of everything, and takes the machine's away. */
function changeRoot({ disk, dir, pausePath }: InitOptions, plan: RootPlan): string[] {
  const { notInherited, readOnly, files: mounted, targets } = plan;
  const root = rootOf(disk);
  const [made, madeBefore] = [sh(`${dir}/${files.made}`), sh(`${disk}/changes/made`)];
  return [
    `cd ${sh(disk)}`,
    `mount --all --fstab ${sh(`${dir}/${files.overlays}`)}`,
    assertInside(root, targets),
    `mount --all --fstab ${sh(`${dir}/${files.mounts}`)}`,
    ...readOnly.map(readOnlyBelow),
    ...devices(`${root}/dev`),
    ...mounted.flatMap(mountFile),
    // Beside the disk, where nothing of the instance can change it; earlier versions had it on the disk.
    `[ -e ${made} ] || [ -e ${madeBefore} ] || { ${notInherited.map((path) => removeInside(root, path)).join('; ')}; }`,
    `: > ${made}`,
    // A file of the machine's may be a link that leads elsewhere.
    `cp --remove-destination ${sh(`${dir}/${files.etc}`)}/* ${sh(`${root}/etc/`)}`,
    `mkdir -p ${sh(`${root}${parentOf(pausePath)}`)} ${sh(`${root}/run/lock`)}`,
    `cp --remove-destination ${sh(pausePath)} ${sh(`${root}${pausePath}`)}`,
    `cd ${sh(root)}`,
    'mkdir -p .machine',
    'pivot_root . .machine',
    'cd /',
    'umount -l /.machine',
    'rmdir /.machine',
    // After the mounts: were they made in a shared tree, taking them away later would reach further than meant.
    'mount --make-rshared /',
  ];
}

/** The script that is an instance's first process. It needs the files of `mountTables` and those of `ownEtc`. */
export const initScript = (options: InitOptions, plan: RootPlan): string =>
  [
    'set -e',
    `hostname ${sh(options.hostname)}`,
    ...settings,
    ...changeRoot(options, plan),
    `echo ${readyWord}`,
    `exec ${initCommand(options.pausePath, options.dir, options.boots).map(sh).join(' ')}`,
  ].join('\n');
