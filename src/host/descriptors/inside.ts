// Resolves a path inside a directory that others may write in, so that neither a link nor an entry swapped at the wrong moment leads outside of it:
// what openat2(2) does with RESOLVE_BENEATH, which Node does not offer. CVE-2017-1002101 and CVE-2021-25741 are what happens without.
import { chmod, mkdir, readlink } from 'node:fs/promises';
import { isErrno } from '../files.ts';
import { limits } from '../limits.ts';
import { Descriptor } from './descriptor.ts';

/** The path leads out of its directory, or nowhere because its links go round in circles. */
export class OutsideError extends Error {}

export interface InsideOptions {
  /** Where the directory is: links to absolute paths below it are links inside of it. Absent: such links lead outside. */
  realPath?: string;
  /** Missing parts become directories of this mode. */
  make?: number;
  /** A link anywhere in the path is an error. */
  noLinks?: boolean;
}

/** One part of the path, and whether a link named it: what a link names is never made. */
interface Part {
  name: string;
  linked: boolean;
}

const partsOf = (path: string, linked: boolean): Part[] =>
  path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .map((name) => ({ name, linked }));

class Walk {
  readonly #root: Descriptor;
  readonly #options: InsideOptions;
  /** From below the root down to where the walk is; `..` goes back along it and never asks the file system. */
  readonly #way: Descriptor[] = [];
  #links = 0;

  constructor(root: Descriptor, options: InsideOptions) {
    this.#root = root;
    this.#options = options;
  }
  async end(path: string): Promise<Descriptor> {
    try {
      await this.#go(path);
      return this.#way.pop() ?? (await Descriptor.at(this.#root.path));
    } finally {
      await this.#back(0);
    }
  }
  async #go(path: string): Promise<void> {
    const parts = partsOf(path, false).reverse();
    for (let part = parts.pop(); part; part = parts.pop()) {
      if (part.name === '..') await this.#up();
      else parts.push(...(await this.#step(part)).reverse());
    }
  }
  async #up(): Promise<void> {
    if (this.#way.length === 0) throw new OutsideError('the path leads out of its directory');
    await this.#back(this.#way.length - 1);
  }
  /** Goes to an entry; gives the parts that a link stands for. */
  async #step(part: Part): Promise<Part[]> {
    const here = this.#way.at(-1) ?? this.#root;
    if (this.#way.length >= limits.treeDepthMax) throw tooDeep();
    const found = await this.#childOf(here, part);
    if (!found.info.isSymbolicLink()) {
      this.#way.push(found);
      return [];
    }
    await found.close();
    if (this.#options.noLinks) throw new OutsideError('the path has a link in it');
    if (++this.#links > limits.linksMax) throw new OutsideError('too many links');
    // The text may be that of another link by now: it is walked with the same care whatever it says.
    return this.#follow(await readlink(here.entry(part.name)));
  }
  async #follow(target: string): Promise<Part[]> {
    if (!target.startsWith('/')) return partsOf(target, true);
    const { realPath } = this.#options;
    const below = realPath === undefined ? undefined : relativeTo(realPath, target);
    if (below === undefined) throw new OutsideError('the path leads out of its directory');
    await this.#back(0);
    return partsOf(below, true);
  }
  async #childOf(here: Descriptor, { name, linked }: Part): Promise<Descriptor> {
    const { make } = this.#options;
    try {
      return await here.child(name);
    } catch (error) {
      if (make === undefined || linked || !isErrno(error, 'ENOENT')) throw error;
    }
    const isNew = await mkdir(here.entry(name), { mode: make }).then(() => true, ignoreExisting);
    const made = await here.child(name);
    // Whatever the umask took away. What is no directory came in its place, and is not ours to change.
    if (isNew && made.info.isDirectory()) await chmod(made.path, make);
    return made;
  }
  async #back(length: number): Promise<void> {
    for (const left of this.#way.splice(length).reverse()) await left.close();
  }
}

const ignoreExisting = (error: unknown): boolean => {
  if (!isErrno(error, 'EEXIST')) throw error;
  return false;
};

const relativeTo = (root: string, path: string): string | undefined => {
  const prefix = root.endsWith('/') ? root : `${root}/`;
  return path === root ? '' : path.startsWith(prefix) ? path.slice(prefix.length) : undefined;
};

export const tooDeep = (): Error => Object.assign(new Error('file name too long'), { code: 'ENAMETOOLONG' });

/**
 * Opens what `path` names below `root`. Links are followed as long as they stay inside. Rejects with OutsideError, or with what the file system says.
 */
export const openInside = (root: Descriptor, path: string, options: InsideOptions = {}): Promise<Descriptor> =>
  new Walk(root, options).end(path);
