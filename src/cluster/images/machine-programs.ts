// Programs of this machine as files of an image: each at its own path, with the libraries that its loader finds for it.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { findProgram } from '../capabilities.ts';
import type { TarEntry } from './ustar.ts';

const entryName = (path: string): string => path.replace(/^\/+/, '');
const fileAt = (path: string): TarEntry => ({ name: entryName(path), mode: 0o755, content: readFileSync(path) });

/** What ldd(1) names; nothing for a static program. */
function librariesOf(program: string): string[] {
  try {
    const text = execFileSync('ldd', [program], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return text.split('\n').flatMap((line) => /(?:=> )?(\/\S+) \(0x/.exec(line)?.[1] ?? []);
  } catch {
    return [];
  }
}

/** The extensions of iptables are loaded by name while it runs, out of a folder beside its libraries. */
const extensionsOf = (real: string, libraries: readonly string[]): string[] => {
  if (!basename(real).startsWith('xtables')) return [];
  const folders = libraries.flatMap((path) => [join('/usr', dirname(path), 'xtables'), join(dirname(path), 'xtables')]);
  const folder = folders.find((path) => existsSync(path));
  return folder === undefined
    ? []
    : readdirSync(folder)
        .filter((name) => name.endsWith('.so'))
        .map((name) => join(folder, name));
};

/** Throws a sentence for a program that this machine does not have. */
export function machinePrograms(names: readonly string[]): TarEntry[] {
  const files = new Map<string, TarEntry>();
  for (const name of names) {
    const found = findProgram(name);
    if (found === undefined) throw new Error(`${name} is not on this machine, and so cannot be put into an image`);
    const real = realpathSync(found);
    if (real !== found) files.set(found, { name: entryName(found), mode: 0o777, linkTo: real });
    if (files.has(real)) continue;
    const libraries = librariesOf(real);
    for (const path of [real, ...libraries, ...extensionsOf(real, libraries)]) files.set(path, fileAt(path));
  }
  return [...files.values()];
}
