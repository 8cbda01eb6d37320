// Logs of containers as files: a pod that mounts the directory of all logs may put links into it, so links below it are never followed.
import { type FileHandle, unlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Descriptor, holding, isErrno, openInside } from '#host';

/** Does something in the directory that a log is in. */
export async function inLogDirectory<T>(logPath: string, work: (directory: Descriptor) => Promise<T>): Promise<T> {
  const container = dirname(logPath);
  const pod = dirname(container);
  const below = `${basename(pod)}/${basename(container)}`;
  return holding(Descriptor.at(dirname(pod)), (root) => holding(openInside(root, below, { noLinks: true }), work));
}

/** Opens a log. Rejects when it does not exist or is not a regular file. */
export const openLog = (logPath: string): Promise<FileHandle> =>
  inLogDirectory(logPath, (directory) => holding(directory.child(basename(logPath)), (log) => log.openForReading()));

/** A log that is not there is well, too. */
export const removeLog = (logPath: string): Promise<void> =>
  inLogDirectory(logPath, (directory) => unlink(directory.entry(basename(logPath)))).catch((error: unknown) => {
    if (!isErrno(error, 'ENOENT')) throw error;
  });
