// The files of an installed npm package and of all it depends on, laid out as npm has them, for an image.
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TarEntry } from './ustar.ts';

export interface PackageFilesOptions {
  /** Folder from which the package is looked for, as Node does. */
  from: string;
  /** The package's own folder, where it is known. */
  root?: string;
  /** Folder of packages in the image, without a slash at its end. */
  target: string;
  /** Packages that are left out. */
  without: readonly string[];
}

interface Manifest {
  /** What belongs to the package; without it, all. */
  files?: string[];
  dependencies?: Record<string, string>;
}

/** What no program reads. */
const skipped = /(\.d\.[cm]?ts|\.map|\.md|\.tsbuildinfo|\.cache)$/;

const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

function filesUnder(folder: string, target: string, only?: ReadonlySet<string>): TarEntry[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === 'node_modules' || (only && !only.has(entry.name))) return [];
    const [path, name] = [join(folder, entry.name), `${target}/${entry.name}`];
    if (entry.isDirectory()) return filesUnder(path, name);
    return entry.isFile() && !skipped.test(entry.name) ? [{ name, mode: 0o644, content: readFileSync(path) }] : [];
  });
}

/** First folders of a package's own list, where it has one that is no pattern. A checkout holds more than the package. */
function belonging({ files }: Manifest): ReadonlySet<string> | undefined {
  const names = files?.map((name) => name.replace(/^\.?\//, '').split('/')[0] ?? '');
  return names?.every((name) => /^[\w.@-]+$/.test(name)) ? new Set([...names, 'package.json']) : undefined;
}

/** The folder of a package as seen from another one, nearest first; and where that lies: how many folders up. */
function find(name: string, from: string): { folder: string; parent: string } | undefined {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name);
    if (existsSync(join(folder, 'package.json'))) return { folder: realpathSync(folder), parent: at };
    if (dirname(at) === at) return undefined;
  }
}

/** Throws when the package, or one that it needs, is not installed. */
export function packageFiles(name: string, { from, root, target, without }: PackageFilesOptions): TarEntry[] {
  const files: TarEntry[] = [];
  /** Folders in the image by folders here. */
  const placed = new Map<string, string>();
  const place = (folder: string, at: string): void => {
    if (placed.has(folder)) return;
    placed.set(folder, at);
    const manifest = manifestOf(folder);
    files.push(...filesUnder(folder, at, belonging(manifest)));
    for (const needed of Object.keys(manifest.dependencies ?? {})) {
      if (without.includes(needed)) continue;
      const found = find(needed, folder);
      if (!found) throw new Error(`${needed}, which ${folder} needs, is not installed`);
      // A package inside another one stays inside it; all others lie side by side.
      place(found.folder, `${placed.get(found.parent)?.concat('/node_modules') ?? target}/${needed}`);
    }
  };
  const own = root === undefined ? find(name, from)?.folder : root;
  if (own === undefined) throw new Error(`the npm package ${name} is not found from ${from}: npm install ${name}`);
  place(own, `${target}/${name}`);
  return files;
}
