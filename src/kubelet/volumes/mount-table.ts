// Mounts of volumes, through mount(8) and umount(8).
import { readFile, stat } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import type { Descriptor } from '#host';
import type { Exec } from '#utils';

const unescape = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));

/** The mount points at or under `directory`, the deepest first. */
export async function mountsUnder(directory: string): Promise<string[]> {
  const table = await readFile('/proc/self/mountinfo', 'utf8');
  return table
    .split('\n')
    .map((line) => unescape(line.split(' ')[4] ?? ''))
    .filter((path) => path === directory || path.startsWith(`${directory}/`))
    .sort((a, b) => b.length - a.length);
}

async function run(exec: Exec, command: string, args: string[], cwd?: string): Promise<void> {
  const { code, stderr } = await exec(command, args, { timeoutMs: 30_000, ...(cwd !== undefined && { cwd }) });
  if (code !== 0) throw new Error(`${command} failed: ${stderr.trim() || `exit status ${code}`}`);
}

/** Mounts a file system in memory; `options` are those of mount(8). */
export const mountTmpfs = (exec: Exec, directory: string, options: readonly string[]): Promise<void> =>
  run(exec, 'mount', ['-t', 'tmpfs', ...(options.length > 0 ? ['-o', options.join(',')] : []), 'tmpfs', directory]);

export const unmount = (exec: Exec, directory: string): Promise<void> => run(exec, 'umount', [directory]);

/** Mounts what is held by the descriptor at `target`, whatever has become of its names. */
export async function mountDescriptor(exec: Exec, held: Descriptor, target: string): Promise<void> {
  // mount(8) must not resolve the path itself: what it would find by name may be something else by now.
  await run(exec, 'mount', ['--no-canonicalize', '-o', 'bind', held.foreignPath, target]);
  if (held.isSame(await stat(target, { bigint: true }))) return;
  await unmount(exec, target);
  throw new Error('another object was mounted than the one that was opened');
}

/** Mounts any file system. Options too long for one page of memory, of images with many layers, are said relative to the folder they share. */
export async function mountFileSystem(
  exec: Exec,
  { type, source, options }: { type: string; source: string; options: readonly string[] },
  directory: string,
): Promise<void> {
  if (type === 'bind')
    return run(exec, 'mount', ['-o', ['bind', ...options.filter((name) => !/^r?bind$/.test(name))].join(','), source, directory]);
  const layers =
    options
      .find((option) => option.startsWith('lowerdir='))
      ?.slice('lowerdir='.length)
      .split(':') ?? [];
  const folder = sharedFolder(layers);
  const short = options.map((option) =>
    option.startsWith('lowerdir=') ? `lowerdir=${layers.map((path) => relative(folder, path)).join(':')}` : option,
  );
  await run(exec, 'mount', ['-t', type, '-o', (layers.length > 1 ? short : options).join(','), source, directory], folder);
}

/** The deepest folder that all paths are in; `/` where they share no other. */
function sharedFolder(paths: readonly string[]): string {
  let folder = dirname(paths[0] ?? '/');
  while (folder !== '/' && !paths.every((path) => path.startsWith(`${folder}/`))) folder = dirname(folder);
  return folder;
}
