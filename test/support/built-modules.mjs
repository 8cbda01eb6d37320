// What tests load as it was built (`SAGONG_TEST_BUILT=1`, which scripts/test.mjs sets where dist/ is of these sources): a file of `src` that the
// build compiles is the module of dist/ that became of it, for a vendor's package, too. Node loads those by itself, which takes a fifth of the CPU
// that compiling each of them for each run does, and tests what is shipped. Tests, and what only they use, are compiled as ever.
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const source = /^(|providers\/[^/]+\/)src\/(.+)\.ts$/;

/** The path of what was built of a source, or undefined: for every other file, and for a source that the build leaves out. */
function builtOf(path) {
  const [, owner, name] = (path.startsWith(root) && source.exec(path.slice(root.length))) || [];
  const built = name && `${root}${owner}dist/${name}.js`;
  return built && existsSync(built) ? built : undefined;
}

/** The door of a room, as the package of the file that imports it has it: a test may import from a copy of this one. */
function doorOf(specifier, importer) {
  let folder = dirname(importer);
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return realpathSync(join(folder, 'src', specifier.slice(1), 'index.ts'));
}

/** A plugin for Vite. */
export const builtModules = {
  name: 'sagong-built-modules',
  enforce: 'pre',
  async resolveId(specifier, importer, options) {
    const isDoor = importer !== undefined && specifier.startsWith('#');
    const path = isDoor ? doorOf(specifier, importer) : (await this.resolve(specifier, importer, { ...options, skipSelf: true }))?.id;
    return path && (builtOf(path) ?? path);
  },
};
/** For `server.deps.external`: Node loads it. */
export const builtFiles = new RegExp(`^${root.replace(/[^\w/]/g, '\\$&')}(providers/[^/]+/)?dist/.+\\.js$`);
