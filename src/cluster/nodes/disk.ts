// Files on the disk of a node, read and written by this machine's programs. Pods that see the disk may have put anything there: links to files of the machine,
// pipes that keep a reader waiting, content that never ends.
import { readdir } from 'node:fs/promises';
import { atomicWrite, Descriptor, holding, type InsideOptions, isErrno, openInside, OutsideError } from '#host';
import { diskFileBytesMax } from './limits.ts';

/** Gives undefined for what is not there, and for a folder that is reached through a link. */
async function inFolder<T>(
  disk: string,
  folder: string,
  use: (held: Descriptor) => Promise<T>,
  options: Pick<InsideOptions, 'make'> = {},
): Promise<T | undefined> {
  try {
    return await holding(Descriptor.at(disk), (root) => holding(openInside(root, folder, { ...options, noLinks: true }), use));
  } catch (error) {
    if (error instanceof OutsideError || isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}

/** The names of what is in a folder of the disk. */
export const namesOnDisk = async (disk: string, folder: string): Promise<string[]> =>
  (await inFolder(disk, folder, ({ path }) => readdir(path))) ?? [];

/** The content of a file of the disk; undefined for what is not there, is no regular file, or is longer than what is kept there. */
export const readOnDisk = (disk: string, folder: string, name: string): Promise<string | undefined> =>
  inFolder(disk, folder, (held) =>
    holding(held.child(name), async (file) => {
      if (!file.info.isFile()) return undefined;
      const handle = await file.openForReading();
      try {
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(diskFileBytesMax + 1), 0, diskFileBytesMax + 1, 0);
        return bytesRead > diskFileBytesMax ? undefined : buffer.toString('utf8', 0, bytesRead);
      } finally {
        await handle.close();
      }
    }),
  );

/** Calls `use` with a path of the socket, good until that is done. Gives undefined for what is not there, and for what is no socket but leads to one. */
export async function atSocketOnDisk<T>(
  disk: string,
  folder: string,
  name: string,
  use: (path: string) => Promise<T>,
): Promise<T | undefined> {
  let used: Promise<T> | undefined;
  await inFolder(disk, folder, (held) =>
    holding(held.child(name), async ({ info, foreignPath }) => {
      if (info.isSocket()) used = use(foreignPath);
      await used?.catch(() => {});
    }),
  );
  return used;
}

/** When the entry was changed last, as the disk says; undefined for what is not there. */
export const changeOnDisk = (disk: string, folder: string, name: string): Promise<number | undefined> =>
  inFolder(disk, folder, (held) => holding(held.child(name), ({ info }) => Number(info.mtimeMs)));

const notOwn = (disk: string, folder: string): Error =>
  new Error(`${[disk, folder].filter(Boolean).join('/')} is no folder of the node's own`);

/** Replaces a file of the disk in a folder that is there. Rejects with a sentence where links lead to it. */
export async function writeOnDisk(disk: string, folder: string, name: string, content: string, mode = 0o600): Promise<void> {
  const written = await inFolder(disk, folder, async (held) => {
    await atomicWrite(held.entry(name), content, { mode });
    return true;
  });
  if (!written) throw notOwn(disk, folder);
}

/** Makes a folder of the disk where it is missing, for nobody else. Rejects with a sentence where links lead to it. */
export async function makeOnDisk(disk: string, folder: string): Promise<void> {
  if (!(await inFolder(disk, folder, ({ info }) => Promise.resolve(info.isDirectory()), { make: 0o700 })))
    throw notOwn(disk, folder);
}
