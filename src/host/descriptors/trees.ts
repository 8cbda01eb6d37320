// Goes through directories that others may write in at the same time, and removes them, without ever following a link or leaving the mount.
import { randomBytes } from 'node:crypto';
import { opendir, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { isErrno } from '../files.ts';
import { limits } from '../limits.ts';
import { Descriptor, holding } from './descriptor.ts';
import { tooDeep } from './inside.ts';

const ignoreMissing = (error: unknown): undefined => {
  if (!isErrno(error, 'ENOENT')) throw error;
};

/**
 * Calls `visit` with everything at and below `held`, directories before what is in them. A link is visited with `held` as its parent and its name.
 * What vanishes meanwhile is left out. Rejects with ENAMETOOLONG for a tree that is deeper than paths can be.
 */
export async function walkTree(top: Descriptor, visit: TreeVisitor): Promise<void> {
  const mount = await top.mountId();
  const into = async (directory: Descriptor, depth: number): Promise<void> => {
    if (depth > limits.treeDepthMax) throw tooDeep();
    for await (const { name } of await opendir(directory.path)) {
      const child = await directory.child(name).catch(ignoreMissing);
      if (child === undefined) continue;
      try {
        const below = child.info.isDirectory();
        if (below && (await child.mountId()) !== mount) continue;
        await visit(child, { directory, name });
        if (below) await into(child, depth + 1);
      } finally {
        await child.close();
      }
    }
  };
  await visit(top, undefined);
  if (top.info.isDirectory()) await into(top, 1);
}

export type TreeVisitor = (held: Descriptor, place: { directory: Descriptor; name: string } | undefined) => Promise<void> | void;

/** Takes away one tree. What lies too deep for descriptors of all its parents is moved up first. */
class Removal {
  readonly #top: Descriptor;
  readonly #mount: string;
  readonly #lifted: string[] = [];

  constructor(top: Descriptor, mount: string) {
    this.#top = top;
    this.#mount = mount;
  }
  async run(): Promise<void> {
    await this.#empty(this.#top, 0);
    for (let name = this.#lifted.pop(); name !== undefined; name = this.#lifted.pop()) await this.#remove(this.#top, name, 1);
  }
  async #remove(parent: Descriptor, name: string, depth: number): Promise<void> {
    for (let round = 1; ; round++) {
      if (await unlinked(parent, name)) return;
      const child = await parent.child(name).catch(ignoreMissing);
      if (child === undefined) return;
      await holding(Promise.resolve(child), (held) => this.#empty(held, depth));
      try {
        return await rmdir(parent.entry(name));
      } catch (error) {
        if (isErrno(error, 'ENOENT')) return;
        // Somebody puts new things in its place, or into it.
        const again = isErrno(error, 'ENOTEMPTY') || isErrno(error, 'ENOTDIR');
        if (!again || round >= limits.removalRoundsMax) throw error;
      }
    }
  }
  async #empty(directory: Descriptor, depth: number): Promise<void> {
    if (!directory.info.isDirectory()) return;
    if ((await directory.mountId()) !== this.#mount)
      throw Object.assign(new Error('something is mounted in the directory that is to be removed'), { code: 'EBUSY' });
    for await (const { name } of await opendir(directory.path)) {
      if (depth < limits.removalDepthMax) await this.#remove(directory, name, depth + 1);
      else if (!(await unlinked(directory, name))) await this.#lift(directory, name);
    }
  }
  async #lift(directory: Descriptor, name: string): Promise<void> {
    const lifted = `.removed-${randomBytes(12).toString('hex')}`;
    await rename(directory.entry(name), this.#top.entry(lifted)).catch(ignoreMissing);
    this.#lifted.push(lifted);
  }
}

/** Removes what is not a directory; false for one. */
async function unlinked(parent: Descriptor, name: string): Promise<boolean> {
  try {
    await unlink(parent.entry(name));
    return true;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return true;
    if (isErrno(error, 'EISDIR')) return false;
    throw error;
  }
}

/**
 * Removes a file or a directory with all that is in it; nothing there is well, too. Only the directory around it has to be safe from others. Rejects
 * with EBUSY when something is mounted inside, and with ENOTEMPTY when others go on writing.
 */
export async function removeTree(path: string): Promise<void> {
  // Elsewhere there are no such descriptors, and no containers that could race.
  if (process.platform !== 'linux') return rm(path, { recursive: true, force: true });
  const around = await Descriptor.at(dirname(path)).catch(ignoreMissing);
  if (around === undefined) return;
  await holding(Promise.resolve(around), async (parent) => {
    const name = basename(path);
    if (await unlinked(parent, name)) return;
    const top = await parent.child(name).catch(ignoreMissing);
    if (top === undefined) return;
    await holding(Promise.resolve(top), async (held) => {
      for (let round = 1; ; round++) {
        await new Removal(held, await parent.mountId()).run();
        try {
          return await rmdir(parent.entry(name));
        } catch (error) {
          if (isErrno(error, 'ENOENT')) return;
          if (!isErrno(error, 'ENOTEMPTY') || round >= limits.removalRoundsMax) throw error;
        }
      }
    });
  });
}
