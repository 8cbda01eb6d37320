// The file system of an instance: a root of its own, so that what its programs write, and what its containers mount from "the host", is the instance's and
// neither the machine's nor another instance's. Programs and settings of the machine are seen through overlays (https://docs.kernel.org/filesystems/overlayfs.html):
// a write makes a copy on the instance's disk. Everything else (`/var`, `/tmp`, `/home`, `/root`, ...) is empty at first and on its disk. Pure.

import type { UserData } from '../model/index.ts';

/** Folders of a machine's root that hold its programs and settings, where it has them. */
const systemFolders = ['usr', 'etc', 'opt', 'bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32', 'boot', 'nix', 'gnu', 'snap'];
/** Settings of the machine that an instance does not have: those of the machine's own kubelet, container networks and registries. */
const notInherited = ['etc/kubernetes', 'etc/cni', 'etc/containerd/certs.d'];
/** The mounts of container engines on these files are not the machine's settings: an instance has files of its own there. */
const ownFiles = ['/etc/hosts', '/etc/hostname', '/etc/resolv.conf'];
const ownFolders: readonly [path: string, mode: number][] = [
  ...['var', 'var/lib', 'var/log', 'var/cache', 'var/spool', 'run', 'proc', 'sys', 'dev', 'home', 'srv', 'mnt', 'media'].map(
    (path) => [path, 0o755] as [string, number],
  ),
  ['root', 0o700],
  ['tmp', 0o1777],
  ['var/tmp', 0o1777],
];
/** Relative: mounts are made before the root is the root. */
const ownLinks: readonly [path: string, target: string][] = [
  ['var/run', '../run'],
  ['var/lock', '../run/lock'],
];

/** What the machine's own root is like. */
export interface MachineRoot {
  /** Names in `/`; a link with where it leads. */
  entries: ReadonlyMap<string, 'folder' | { link: string }>;
  /** Where file systems are mounted. */
  mountPoints: readonly string[];
}

export type FurtherMount = NonNullable<UserData['mounts']>[number] & { isFile?: boolean };

export interface RootOptions {
  /** The instance's disk, seen inside at the same path. */
  disk: string;
  /** Paths of the machine that are seen inside at the same place, for reading. */
  shows: readonly string[];
  /** Folders of the machine, and files where that is said, that are seen inside at other places. */
  mounts?: readonly FurtherMount[];
  /** Copied into the root, to the same path. */
  pausePath: string;
  machine: MachineRoot;
}

export interface RootPlan {
  /** Made before the first mount. */
  folders: readonly (readonly [path: string, mode: number])[];
  /** Made where there is nothing yet. */
  links: readonly (readonly [path: string, target: string])[];
  /** Lines of fstab(5): those through which the machine's folders are seen, and all that are made in them. */
  overlays: readonly string[];
  mounts: readonly string[];
  /** Files of the machine, mounted after all else: what they are mounted on has to be made first. */
  files: readonly Required<FurtherMount>[];
  /** Folders that are read-only with all that is mounted below them, except for what is below the others. */
  readOnly: readonly (readonly [path: string, except: readonly string[]])[];
  /** Where mounts and files go that may be below an overlay; those who make them follow links. */
  targets: readonly string[];
  /** Removed once, after the mounts of the first boot. */
  notInherited: readonly string[];
}

/** The folder in which the new root is put together. */
export const rootOf = (disk: string): string => `${disk}/root`;
const changesOf = (name: string): string => `changes/${name}`;

/** A field as fstab(5) wants it. */
const field = (text: string): string =>
  text.replaceAll(/[\\ \t\n]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
export const fstabEntry = (source: string, target: string, type: string, options: string): string =>
  `${field(source)} ${field(target)} ${type} ${options} 0 0`;

const below = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** Paths of overlays are relative to the disk, from where they are mounted: the text of an option could not carry every path. */
const overlay = (root: string, name: string): string =>
  fstabEntry(
    'sagong-overlay',
    `${root}/${name}`,
    'overlay',
    `lowerdir=/${name},upperdir=${changesOf(name)}/upper,workdir=${changesOf(name)}/work`,
  );

export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));

/** Folders and mounts of the machine to be seen inside; what an overlay shows already is not among them. */
function shownFolders(
  { shows, machine }: RootOptions,
  inOverlay: (path: string) => boolean,
  hidden: readonly string[],
): string[] {
  const mounts = machine.mountPoints.filter(
    (path) =>
      inOverlay(path) && parentOf(path) !== '' && !ownFiles.includes(path) && !hidden.some((folder) => below(path, folder)),
  );
  const others = shows.filter((path) => path !== '/' && !inOverlay(path));
  return [...new Set([...mounts, ...others])].sort();
}

/** Files and terminals in `/dev` are the instance's; what is no file there, but leads to a device, is put there by the first script. */
const deviceMounts = (root: string, machine: MachineRoot): string[] => [
  fstabEntry('sagong-dev', `${root}/dev`, 'tmpfs', 'nosuid,mode=755,size=64m'),
  fstabEntry('sagong-pts', `${root}/dev/pts`, 'devpts', 'nosuid,noexec,newinstance,ptmxmode=0666,mode=0620,gid=5,X-mount.mkdir'),
  fstabEntry('sagong-shm', `${root}/dev/shm`, 'tmpfs', 'nosuid,nodev,mode=1777,X-mount.mkdir'),
  ...(machine.mountPoints.includes('/dev/mqueue')
    ? [fstabEntry('sagong-mqueue', `${root}/dev/mqueue`, 'mqueue', 'nosuid,nodev,noexec,X-mount.mkdir')]
    : []),
];

export function rootPlan(options: RootOptions): RootPlan {
  const { disk, pausePath, machine, mounts = [] } = options;
  const root = rootOf(disk);
  const system = systemFolders.filter((name) => machine.entries.get(name) === 'folder');
  const inOverlay = (path: string): boolean => system.some((name) => below(path, `/${name}`));
  // Disks of other instances and the files of the cloud, should they lie in a folder that is seen through an overlay.
  const hidden = [...new Set([parentOf(disk), parentOf(pausePath)])].filter(inOverlay);
  const links = [...machine.entries].flatMap(([name, entry]): [string, string][] =>
    entry !== 'folder' && systemFolders.includes(name) ? [[name, entry.link]] : [],
  );
  const bind = (path: string, how: string): string => fstabEntry(path, `${root}${path}`, 'none', `${how},X-mount.mkdir`);
  const folders = mounts.filter(({ isFile }) => !isFile);
  const shown = shownFolders(options, inOverlay, hidden);
  return {
    folders: [
      [root, 0o755],
      ...[...ownFolders, ...system.map((name) => [name, 0o755] as const)].map(
        ([path, mode]) => [`${root}/${path}`, mode] as const,
      ),
      ...system.flatMap((name) => ['upper', 'work'].map((part) => [`${disk}/${changesOf(name)}/${part}`, 0o755] as const)),
    ],
    links: [...links, ...ownLinks].map(([path, target]) => [`${root}/${path}`, target]),
    overlays: system.map((name) => overlay(root, name)),
    mounts: [
      ...deviceMounts(root, machine),
      fstabEntry('sagong-run', `${root}/run`, 'tmpfs', 'nosuid,nodev,mode=755'),
      ...shown.map((path) => bind(path, 'bind,ro')),
      ...hidden.map((path) => fstabEntry('sagong-hidden', `${root}${path}`, 'tmpfs', 'mode=755')),
      bind(disk, 'bind'),
      fstabEntry(`${disk}/logs`, `${root}/var/log`, 'none', 'bind'),
      ...folders.map(({ source, target, readOnly }) =>
        fstabEntry(source, `${root}${target}`, 'none', `${readOnly ? 'rbind,ro' : 'rbind'},rprivate,X-mount.mkdir`),
      ),
    ],
    targets: [
      ...[disk, parentOf(pausePath), ...shown, ...hidden],
      // A link in the place of a file goes.
      ...mounts.map(({ target, isFile }) => (isFile ? parentOf(target) : target)),
    ].map((path) => `${root}${path}`),
    files: mounts
      .filter(({ isFile }) => isFile)
      .map(({ source, target, readOnly = false }) => ({ source, target: `${root}${target}`, readOnly, isFile: true })),
    readOnly: folders
      .filter(({ readOnly }) => readOnly)
      .map(({ target }) => [
        `${root}${target}`,
        folders.filter((one) => !one.readOnly && below(one.target, target)).map((one) => `${root}${one.target}`),
      ]),
    notInherited: notInherited.map((path) => `${root}/${path}`),
  };
}

/** An instance's own names, as hosts(5). */
export const hostsFile = (hostname: string, address: string): string =>
  `127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n${address} ${hostname}\n`;

/** The folders of the root that the paths of a command lead through. They are what a program sees that does not say what it needs. */
export const foldersOf = (command: readonly string[], disk: string): string[] => [
  ...new Set(command.filter((word) => word.startsWith('/') && !below(word, disk)).map((word) => `/${word.split('/')[1] ?? ''}`)),
];
