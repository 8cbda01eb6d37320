// What runs first inside an instance's new namespaces: net + mnt + uts + ipc + pid + cgroup. Its PID 1 is the pause program, which reaps orphans
// and whose death is a power failure. Pure text.
import { join } from 'node:path';

export type CgroupVersion = 1 | 2;

export interface InitOptions {
  hostname: string;
  /** The instance's disk: what programs keep at fixed paths is in it. */
  disk: string;
  /** The cloud's own files about the instance; shown in the command line of PID 1. */
  dir: string;
  pausePath: string;
  boots: number;
  cgroupVersion: CgroupVersion;
  /** Version 1: mounted controllers, e.g. `cpu`, `memory`; combined mounts as `cpu,cpuacct`. */
  controllers: readonly string[];
}

/** Printed when PID 1 is about to become the pause program. */
export const readyWord = 'ready';

/** The command line of PID 1. Its arguments only tell a later process of the cloud what it is, and which of its boots this was. */
export const initCommand = (pausePath: string, dir: string, boots: number): string[] => [pausePath, dir, `boots=${boots}`];

const sh = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Mounts every controller anew, so that the instance's own cgroup is the root of what it sees. Order matters: before `make-rshared`. */
function cgroupMounts({ dir: own, cgroupVersion, controllers }: InitOptions): string[] {
  const staging = join(own, 'cgroup');
  if (cgroupVersion === 2) return ['mount -t sysfs sysfs /sys', 'mount -t cgroup2 cgroup2 /sys/fs/cgroup'];
  return [
    `mkdir -p ${sh(staging)}`,
    `mount -t tmpfs -o mode=755 cgroup ${sh(staging)}`,
    ...controllers.map((name) => {
      const dir = join(staging, name);
      return `mkdir ${sh(dir)} && mount -t cgroup -o ${name} cgroup ${sh(dir)}`;
    }),
    `mkdir ${sh(join(staging, 'systemd'))} && mount -t cgroup -o none,name=systemd cgroup ${sh(join(staging, 'systemd'))} || rmdir ${sh(join(staging, 'systemd'))}`,
    'mount -t sysfs sysfs /sys',
    `mount --rbind ${sh(staging)} /sys/fs/cgroup`,
  ];
}

export function initScript(options: InitOptions): string {
  const { hostname, disk, dir, pausePath, boots } = options;
  const own = (name: string, target: string): string =>
    `mkdir -p ${sh(join(disk, name))} ${target} && mount --bind ${sh(join(disk, name))} ${target}`;
  return [
    'set -e',
    `hostname ${sh(hostname)}`,
    ...cgroupMounts(options),
    'mount --make-rshared /',
    // What programs keep at fixed paths is the instance's own.
    own('run/containerd', '/run/containerd'),
    own('lib/cni', '/var/lib/cni'),
    own('run/netns', '/run/netns'),
    'touch /run/xtables.lock',
    `touch ${sh(join(disk, 'xtables.lock'))}`,
    `mount --bind ${sh(join(disk, 'xtables.lock'))} /run/xtables.lock`,
    `[ ! -s ${sh(join(dir, 'resolv.conf'))} ] || mount --bind ${sh(join(dir, 'resolv.conf'))} "$(readlink -f /etc/resolv.conf)"`,
    `echo ${readyWord}`,
    `exec ${initCommand(pausePath, dir, boots).map(sh).join(' ')}`,
  ].join('\n');
}
