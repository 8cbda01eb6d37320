// What runs first inside a node's new namespaces. A node is net + mnt + uts + ipc + pid + cgroup namespaces around one containerd;
// its PID 1 is the pause program, which reaps orphans and whose death is a power failure. Pure text.
import { join } from 'node:path';

export type CgroupVersion = 1 | 2;

export interface InitOptions {
  nodeName: string;
  nodeDir: string;
  pausePath: string;
  cgroupVersion: CgroupVersion;
  /** Version 1: mounted controllers, e.g. `cpu`, `memory`; combined mounts as `cpu,cpuacct`. */
  controllers: readonly string[];
}

const sh = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Mounts every controller anew, so that the node's own cgroup is the root of what it sees. Order matters: before `make-rshared`. */
function cgroupMounts({ nodeDir, cgroupVersion, controllers }: InitOptions): string[] {
  const staging = join(nodeDir, 'cgroup');
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
  const { nodeName, nodeDir, pausePath } = options;
  const own = (name: string, target: string): string =>
    `mkdir -p ${sh(join(nodeDir, name))} ${target} && mount --bind ${sh(join(nodeDir, name))} ${target}`;
  return [
    'set -e',
    `hostname ${sh(nodeName)}`,
    ...cgroupMounts(options),
    'mount --make-rshared /',
    // What programs keep at fixed paths is the node's own.
    own('run/containerd', '/run/containerd'),
    own('lib/cni', '/var/lib/cni'),
    own('run/netns', '/run/netns'),
    'touch /run/xtables.lock',
    `touch ${sh(join(nodeDir, 'xtables.lock'))}`,
    `mount --bind ${sh(join(nodeDir, 'xtables.lock'))} /run/xtables.lock`,
    `[ ! -s ${sh(join(nodeDir, 'resolv.conf'))} ] || mount --bind ${sh(join(nodeDir, 'resolv.conf'))} "$(readlink -f /etc/resolv.conf)"`,
    // The last argument only marks the process as this cluster's.
    `exec ${sh(pausePath)} ${sh(nodeDir)}`,
  ].join('\n');
}
