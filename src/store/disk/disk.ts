// The few things that the log asks of a file system, and how Node does them. Everything about durability goes through here, so that
// tests can put a disk in its place that is full, slow, or lies.
import { randomBytes } from 'node:crypto';
import { close, constants, fdatasync, open, write } from 'node:fs';
import { open as openHandle, readdir, readFile, rename, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { atomicWrite, isErrno, syncDir } from '#host';
import { zeroBytes } from '../limits.ts';

/** One directory. All methods reject with the file system's error. */
export interface Disk {
  /** The path, for messages. */
  readonly path: string;
  list(): Promise<string[]>;
  /** The whole file; undefined when there is none. */
  read(name: string): Promise<Buffer | undefined>;
  /** Replaces a small file so that it is there whole, old or new, whatever happens. Durable. */
  replace(name: string, data: Buffer): Promise<void>;
  /**
   * Makes a file of that size with `head` at its beginning and zeros after it, all of it on the disk. Durable. `from`: an existing file
   * of that size, which becomes it and is gone; a full disk has room for that.
   */
  prepare(name: string, size: number, head: Buffer, from?: string): Promise<void>;
  /** Opens an existing file for writing. */
  open(name: string): Promise<DiskFile>;
  remove(name: string): Promise<void>;
  /** Bytes that can still be written on this file system. */
  freeBytes(): Promise<number>;
}

export interface DiskFile {
  /** Resolves when all of it is on the disk. */
  write(data: Buffer, position: number): Promise<void>;
  close(): Promise<void>;
}

/** `unsafeNoFsync`: what is written may be lost when the machine stops, though not when the process does. */
export function nodeDisk(directory: string, { unsafeNoFsync = false }: { unsafeNoFsync?: boolean } = {}): Disk {
  const at = (name: string): string => join(directory, name);
  return {
    path: directory,
    list: () => readdir(directory),
    read: (name) => readFile(at(name)).catch(undefinedIfMissing),
    replace: (name, data) => atomicWrite(at(name), data),
    prepare: (name, size, head, from) => prepare(directory, { name, size, head, from, unsafeNoFsync }),
    open: (name) => openFile(at(name), unsafeNoFsync),
    remove: async (name) => rm(at(name), { force: true }),
    async freeBytes() {
      const { bavail, bsize } = await statfs(directory);
      return bavail * bsize;
    },
  };
}

function undefinedIfMissing(error: unknown): undefined {
  if (!isErrno(error, 'ENOENT')) throw error;
}

interface Preparation {
  name: string;
  size: number;
  head: Buffer;
  from: string | undefined;
  unsafeNoFsync: boolean;
}

/** Shared by all files, and made when the first is: each would leave half a megabyte of garbage behind. */
let zeros: Buffer | undefined;

async function prepare(directory: string, { name, size, head, from, unsafeNoFsync }: Preparation): Promise<void> {
  const draft = join(directory, `.${name}.${randomBytes(6).toString('hex')}`);
  try {
    if (from !== undefined) await rename(join(directory, from), draft);
    const file = await openHandle(draft, from === undefined ? 'wx' : 'r+', 0o600);
    try {
      zeros ??= Buffer.alloc(zeroBytes);
      await file.write(head, 0, head.length, 0);
      if (unsafeNoFsync) await file.truncate(size);
      for (let at = head.length; at < size && !unsafeNoFsync; ) {
        const { bytesWritten } = await file.write(zeros, 0, Math.min(zeros.length, size - at), at);
        at += bytesWritten;
        await file.datasync();
      }
      if (!unsafeNoFsync) await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, join(directory, name));
    if (!unsafeNoFsync) await syncDir(directory);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw error;
  }
}

const openDescriptor = promisify(open);
const closeDescriptor = promisify(close);
const writeDescriptor = promisify(write);
const syncDescriptor = promisify(fdatasync);

/** Linux flushes what is written with this flag in the same call: one way to the disk and back instead of two. */
const { O_RDWR, O_DSYNC = 0 } = constants as Partial<typeof constants> & { O_RDWR: number };
const flushesItself = process.platform === 'linux' && O_DSYNC !== 0;

/** Plain descriptors: a write is all that happens for each batch of requests, and file handles cost more than they help. */
async function openFile(path: string, unsafeNoFsync: boolean): Promise<DiskFile> {
  const descriptor = await openDescriptor(path, flushesItself && !unsafeNoFsync ? O_RDWR | O_DSYNC : O_RDWR);
  return {
    async write(data, position) {
      let done = 0;
      while (done < data.length) {
        const { bytesWritten } = await writeDescriptor(descriptor, data, done, data.length - done, position + done);
        done += bytesWritten;
      }
      if (!flushesItself && !unsafeNoFsync) await syncDescriptor(descriptor);
    },
    close: () => closeDescriptor(descriptor),
  };
}
