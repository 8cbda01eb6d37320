// Whether dist/ is what the sources of now build: setup builds again where it is not, and tests load it where it is.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(fileURLToPath(import.meta.url), '..', '..');
const stamp = join(root, 'dist', '.sagong-build');
/** Written by setup: which dependencies it installed. */
const installed = join(root, 'node_modules', '.sagong-lock');

export const hashOf = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex');
export const unchanged = (file, hash) => existsSync(file) && readFileSync(file, 'utf8') === hash;

function* files(dir) {
  for (const entry of readdirSync(dir, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) yield* files(path);
    else yield path;
  }
}

/** What a build leaves out (tsconfig.build.json). */
const onlyOfTests = /\.test\.ts$|\/(suite|test-support)\//;

/** Of everything that a build reads. */
export function hashOfInputs() {
  const inputs = [
    ...files(join(root, 'src')),
    ...readdirSync(join(root, 'providers'))
      .map((name) => join(root, 'providers', name))
      .filter((folder) => existsSync(join(folder, 'src')))
      .flatMap((folder) => [...files(join(folder, 'src')), join(folder, 'package.json')]),
    ...['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/build.mjs'].map((f) =>
      join(root, f),
    ),
  ].filter((path) => !onlyOfTests.test(path));
  return hashOf(
    readFileSync(installed),
    ...inputs.map((path) => `${path.slice(root.length)}:${statSync(path).size}:${hashOf(readFileSync(path))}\n`),
  );
}

/** False also where only `npm ci` or a bare build was run, of which nobody noted what it was made of. */
export const isBuilt = () => existsSync(stamp) && existsSync(installed) && unchanged(stamp, hashOfInputs());
/** Called when a build of these inputs has succeeded. */
export const noteBuilt = (hash) => writeFileSync(stamp, hash);
