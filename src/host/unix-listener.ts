// Who listens at the path of a unix socket, as the kernel has it (proc(5), /proc/net/unix): also when the file of the socket is gone.
import { readdir, readFile, readlink } from 'node:fs/promises';
import { isErrno } from './files.ts';

/** The flag of a socket that takes connections. */
const accepting = 0x10000;

/** The inodes of sockets that take connections at `path`, in the form of /proc/net/unix: a line for each, the path last. */
export function listeningInodes(table: string, path: string): string[] {
  return table.split('\n').flatMap((line) => {
    const [, flags = '', inode, at] = /^\S+: \S+ \S+ (\S+) \S+ \S+ +(\d+) (.*)$/.exec(line) ?? [];
    return inode !== undefined && at === path && (Number.parseInt(flags, 16) & accepting) !== 0 ? [inode] : [];
  });
}

/** Links of a process's descriptors. Those of another user's process cannot be seen, and one that has ended has none. */
async function descriptorsOf(pid: string): Promise<string[]> {
  const dir = `/proc/${pid}/fd`;
  const names = await readdir(dir).catch(() => []);
  return Promise.all(names.map((name) => readlink(`${dir}/${name}`).catch(() => '')));
}

/** The process that listens at the path of a unix socket. Undefined where there is none, or where this user or system cannot tell. */
export async function listenerOf(path: string): Promise<number | undefined> {
  const table = await readFile('/proc/net/unix', 'utf8').catch((error: unknown) => {
    if (isErrno(error, 'ENOENT')) return '';
    throw error;
  });
  const sockets = new Set(listeningInodes(table, path).map((inode) => `socket:[${inode}]`));
  if (sockets.size === 0) return undefined;
  for (const pid of await readdir('/proc'))
    if (/^\d+$/.test(pid) && (await descriptorsOf(pid)).some((link) => sockets.has(link))) return Number(pid);
  return undefined;
}
