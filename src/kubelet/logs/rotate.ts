// Keeps container logs small: a log that has grown too large is renamed, the runtime opens a new one, old ones are compressed and then removed
// (upstream pkg/kubelet/logs/container_log_manager.go).
import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { ContainerdRuntime } from '../runtime/containerd/index.ts';

const twoDigits = (value: number): string => String(value).padStart(2, '0');

/** `20060102-150405`. */
const stamp = (time: Date): string =>
  `${time.getFullYear()}${twoDigits(time.getMonth() + 1)}${twoDigits(time.getDate())}-${[time.getHours(), time.getMinutes(), time.getSeconds()].map(twoDigits).join('')}`;

async function compress(path: string): Promise<void> {
  const temporary = `${path}.tmp`;
  await pipeline(createReadStream(path), createGzip(), createWriteStream(temporary));
  await rename(temporary, `${path}.gz`);
  await rm(path);
}

/** Rotated files of a log, oldest first. */
async function rotated(path: string): Promise<string[]> {
  const name = `${basename(path)}.`;
  const files = (await readdir(dirname(path))).filter((file) => file.startsWith(name) && !file.endsWith('.tmp'));
  return files.sort().map((file) => join(dirname(path), file));
}

async function rotateOne(runtime: ContainerdRuntime, id: string, path: string, filesMax: number, now: Date): Promise<void> {
  const old = await rotated(path);
  // The current file and the one about to be rotated count too.
  for (const file of old.slice(0, Math.max(0, old.length - (filesMax - 2)))) await rm(file, { force: true });
  for (const file of await rotated(path)) if (!file.endsWith('.gz')) await compress(file);
  const aside = `${path}.${stamp(now)}`;
  await rename(path, aside);
  try {
    await runtime.cri.runtime.reopenContainerLog(id);
  } catch (error) {
    await rename(aside, path);
    throw error;
  }
}

/** Looks at every running container's log. */
export async function rotateLogs(runtime: ContainerdRuntime, bytesMax: number, filesMax: number): Promise<void> {
  for (const { id, state } of await runtime.cri.runtime.listContainers()) {
    if (state !== 'CONTAINER_RUNNING') continue;
    const { logPath } = await runtime.cri.runtime.containerStatus(id);
    const size = await stat(logPath).then(
      (info) => info.size,
      () => 0,
    );
    if (size > bytesMax) await rotateOne(runtime, id, logPath, filesMax, new Date(Date.now()));
  }
}
