// Layers of images as folders: programs of this machine with the libraries they need.
import { chmod, copyFile, cp, mkdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { run } from './process.mjs';

const libraryFolders = ['usr/lib/x86_64-linux-gnu', 'lib/x86_64-linux-gnu', 'usr/lib/aarch64-linux-gnu', 'lib/aarch64-linux-gnu'];
const programFolders = ['usr/bin', 'bin', 'usr/sbin', 'sbin'];

export class Rootfs {
  #folder;
  #extra;

  /** `extra`: a folder with unpacked packages, whose programs and libraries come before those of the machine. */
  static async create(folder, extra) {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    return new Rootfs(folder, extra);
  }
  constructor(folder, extra) {
    this.#folder = folder;
    this.#extra = extra;
  }
  get folder() {
    return this.#folder;
  }
  async #place(path) {
    const at = join(this.#folder, path);
    await mkdir(dirname(at), { recursive: true });
    return at;
  }
  async folders(paths, mode = 0o755) {
    for (const path of paths) {
      const at = join(this.#folder, path);
      await mkdir(at, { recursive: true });
      await chmod(at, mode);
    }
  }
  async file(path, content, mode = 0o644) {
    const at = await this.#place(path);
    await writeFile(at, content);
    await chmod(at, mode);
  }
  async copy(path, source, mode) {
    const at = await this.#place(path);
    await copyFile(source, at);
    if (mode !== undefined) await chmod(at, mode);
  }
  async tree(path, source) {
    await cp(source, await this.#place(path), { recursive: true, verbatimSymlinks: true });
  }
  async link(path, to) {
    const at = await this.#place(path);
    await rm(at, { force: true });
    await symlink(to, at);
  }
  /** A program, by its name or its path, at `path` with all libraries that it is linked with. Throws where it cannot be found. */
  async program(path, source, mode = 0o755) {
    const found = await this.#find(source);
    await rm(join(this.#folder, path), { force: true });
    await this.copy(path, found, mode);
    const libraries = libraryFolders.map((folder) => join(this.#extra, folder)).join(':');
    // Statically linked programs make ldd fail, and need nothing.
    const linked = await run('ldd', [found], { env: { LD_LIBRARY_PATH: libraries }, allowed: [0, 1] });
    if (linked.includes('not found')) throw new Error(`${found} lacks libraries:\n${linked}`);
    for (const [, library] of linked.matchAll(/(?:=> )?(\/\S+) \(0x/g)) {
      const name = basename(library);
      const loader = name.startsWith('ld-linux');
      await this.copy(loader ? join(name.includes('x86-64') ? 'lib64' : 'lib', name) : join('lib', name), await realpath(library), 0o755);
    }
  }
  async #find(source) {
    if (source.startsWith('/')) return realpath(source);
    for (const root of [this.#extra, '/'])
      for (const folder of programFolders) {
        const path = join(root, folder, source);
        if (existsSync(path)) return realpath(path);
      }
    throw new Error(`${source} is on this machine neither installed nor among the packages that were fetched`);
  }
  /** Writes the layer; the same content gives the same bytes. */
  async tar(out) {
    const same = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'];
    await run('tar', [...same, '-cf', out, '-C', this.#folder, '.']);
  }
}
