// Who listens on a port of this machine, as far as one may see it (proc(5), /proc/net/tcp): for sentences about ports that are taken.
import { readdir, readFile, readlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';

const listening = '0A';

/** Inodes of the sockets that listen on it, at whichever address. Pure. */
export function listenersIn(table: string, port: number): string[] {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '', , state]) => local.endsWith(ending) && state === listening)
    .map((columns) => columns[9] ?? '');
}

async function holds(proc: string, pid: string, sockets: ReadonlySet<string>): Promise<boolean> {
  const folder = join(proc, pid, 'fd');
  const names = await readdir(folder).catch(() => []);
  const targets = await Promise.all(names.map((name) => readlink(join(folder, name)).catch(() => '')));
  return targets.some((target) => sockets.has(target));
}

/** ` by nginx (process 71)`, or an empty text where the process cannot be seen. */
export async function byWhom(port: number, proc = '/proc'): Promise<string> {
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(join(proc, 'net', name), 'utf8').catch(() => '')));
  const sockets = new Set(tables.flatMap((table) => listenersIn(table, port)).map((inode) => `socket:[${inode}]`));
  if (sockets.size === 0) return '';
  for (const pid of (await readdir(proc).catch(() => [])).filter((name) => /^\d+$/.test(name)))
    if (await holds(proc, pid, sockets)) {
      const name = (await readFile(join(proc, pid, 'comm'), 'utf8').catch(() => '')).trim() || 'a program';
      return ` by ${name} (process ${pid})`;
    }
  return '';
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '0.0.0.0' }, () => server.close(() => resolve(true)));
  });

/** Rejects with the first that somebody has already. `who` needs them. */
export async function assertPortsFree(ports: readonly number[], who: string): Promise<void> {
  for (const port of ports)
    if (!(await isFree(port)))
      throw new Error(
        `port ${port} of this machine is taken${await byWhom(port)}, and ${who} needs it: end what listens there (is this machine part of a cluster already?)`,
      );
}
