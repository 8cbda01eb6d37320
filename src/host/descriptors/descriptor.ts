// A file, directory or link held by a descriptor (openat(2), proc(5) "/proc/[pid]/fd"). Whoever may write in a directory can rename and replace its
// entries between two system calls of ours, so a path that was checked may name something else a moment later. A descriptor always stands for the
// object that was opened, and each step from a directory to an entry is one that follows no link. Linux only.
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open, readFile, readlink } from 'node:fs/promises';

/** Only a reference to the object: opening a device, pipe or socket this way does nothing to it. Node does not export it. */
const referenceOnly = 0o10000000;

export class Descriptor {
  /** What the object was when it was opened; its type never changes. */
  readonly info: BigIntStats;
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle, info: BigIntStats) {
    this.#handle = handle;
    this.info = info;
  }
  static async #open(path: string, flags: number): Promise<Descriptor> {
    const handle = await open(path, referenceOnly | flags);
    try {
      return new Descriptor(handle, await handle.stat({ bigint: true }));
    } catch (error) {
      await handle.close();
      throw error;
    }
  }
  /** Opens what the path names, links followed: only for paths that nobody but us can change. */
  static at(path: string): Promise<Descriptor> {
    return Descriptor.#open(path, 0);
  }

  /** The entry of this directory; a link is held itself. Rejects with ENOENT, or ENOTDIR when this is no directory. */
  child(name: string): Promise<Descriptor> {
    return Descriptor.#open(this.entry(name), constants.O_NOFOLLOW);
  }
  /** A path of the object for the calls of `node:fs`, good while the descriptor is open. Not of a link: it would be followed. */
  get path(): string {
    return `/proc/self/fd/${this.#handle.fd}`;
  }
  /** A path to the open file that also other programs can use, while this process has it open. */
  get foreignPath(): string {
    return `/proc/${process.pid}/fd/${this.#handle.fd}`;
  }
  /** A path of an entry for calls that do not follow a link at its end: lstat, lchown, readlink, mkdir, unlink, rmdir, rename. */
  entry(name: string): string {
    if (name === '' || name === '.' || name === '..' || name.includes('/'))
      throw new Error(`${JSON.stringify(name)} is not the name of an entry`);
    return `${this.path}/${name}`;
  }
  /** Where the object was when it was asked. */
  realPath(): Promise<string> {
    return readlink(this.path);
  }
  /** The mount that the object was reached through (proc(5) fdinfo): two directories of one file system may be of two mounts. */
  async mountId(): Promise<string> {
    const text = await readFile(`/proc/self/fdinfo/${this.#handle.fd}`, 'utf8');
    return /^mnt_id:\s*(\d+)$/m.exec(text)?.[1] ?? '';
  }
  /** Reads the content. Rejects for all that is not a regular file: a pipe would keep the reader waiting. */
  async openForReading(): Promise<FileHandle> {
    if (!this.info.isFile()) throw Object.assign(new Error('not a regular file'), { code: 'EINVAL' });
    return open(this.path, constants.O_RDONLY | constants.O_NONBLOCK);
  }
  isSame(other: BigIntStats): boolean {
    return this.info.dev === other.dev && this.info.ino === other.ino;
  }
  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** Does something with a descriptor and closes it in any case. */
export async function holding<T>(opened: Promise<Descriptor>, work: (held: Descriptor) => Promise<T> | T): Promise<T> {
  const held = await opened;
  try {
    return await work(held);
  } finally {
    await held.close();
  }
}
