// Keeps container logs small: a log that has grown too large is renamed, the runtime opens a new one, old ones are compressed and then removed
// (upstream pkg/kubelet/logs/container_log_manager.go).
import { open, readdir, rename, rm, unlink } from 'node:fs/promises';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { CriClient } from '#cri';
import { type Descriptor, holding, isErrno } from '#host';
import type { Clock } from '#utils';
import { inLogDirectory } from './log-file.ts';

const twoDigits = (value: number): string => String(value).padStart(2, '0');

/** `20060102-150405`. */
const stamp = (time: Date): string =>
  `${time.getFullYear()}${twoDigits(time.getMonth() + 1)}${twoDigits(time.getDate())}-${[time.getHours(), time.getMinutes(), time.getSeconds()].map(twoDigits).join('')}`;

async function compress(directory: Descriptor, name: string): Promise<void> {
  const temporary = directory.entry(`${name}.tmp`);
  await rm(temporary, { force: true });
  const from = await holding(directory.child(name), (held) => held.openForReading());
  try {
    const to = await open(temporary, 'wx', 0o640);
    await pipeline(from.createReadStream({ autoClose: false }), createGzip(), to.createWriteStream());
  } finally {
    await from.close();
  }
  await rename(temporary, directory.entry(`${name}.gz`));
  await unlink(directory.entry(name));
}

/** Names of a log's rotated files, oldest first. */
async function rotated(directory: Descriptor, log: string): Promise<string[]> {
  const files = (await readdir(directory.path)).filter((file) => file.startsWith(`${log}.`) && !file.endsWith('.tmp'));
  return files.sort();
}

interface Rotation {
  directory: Descriptor;
  log: string;
  filesMax: number;
  /** Makes the runtime open the log by its name again. */
  reopen(): Promise<void>;
}

async function rotateOne({ directory, log, filesMax, reopen }: Rotation, now: Date): Promise<void> {
  const old = await rotated(directory, log);
  // The current file and the one about to be rotated count too.
  for (const file of old.slice(0, Math.max(0, old.length - (filesMax - 2)))) await unlink(directory.entry(file));
  for (const file of await rotated(directory, log)) if (!file.endsWith('.gz')) await compress(directory, file);
  const aside = directory.entry(`${log}.${stamp(now)}`);
  await rename(directory.entry(log), aside);
  try {
    await reopen();
  } catch (error) {
    await rename(aside, directory.entry(log));
    throw error;
  }
}

/** Looks at every running container's log. */
export async function rotateLogs({ runtime: cri }: CriClient, clock: Clock, bytesMax: number, filesMax: number): Promise<void> {
  for (const { id, state } of await cri.listContainers()) {
    if (state !== 'CONTAINER_RUNNING') continue;
    const { logPath } = await cri.containerStatus(id);
    const log = basename(logPath);
    await inLogDirectory(logPath, async (directory) => {
      const bytes = await holding(directory.child(log), ({ info }) => (info.isFile() ? info.size : 0n));
      const reopen = (): Promise<void> => cri.reopenContainerLog(id);
      if (bytes > BigInt(bytesMax)) await rotateOne({ directory, log, filesMax, reopen }, new Date(clock.now()));
    }).catch((error: unknown) => {
      if (!isErrno(error, 'ENOENT')) throw error;
    });
  }
}
