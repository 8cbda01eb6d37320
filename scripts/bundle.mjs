// The bundle: everything the binary needs in one file. Made so that it starts fast: unminified (minifying made the start slower), in ASCII
// (V8 keeps such a source in half the memory, and nothing has to be decoded), and with the JavaScript of `lmdb`, which V8's code cache would not
// hold otherwise; only its native part is loaded from the package.
import { readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = resolve(fileURLToPath(import.meta.url), '..', '..');

/** `lmdb` looks for its native part beside its own file: that is where the package is installed, not where the bundle is. */
const lmdbFromItsPackage = {
  name: 'lmdb-from-its-package',
  setup({ onResolve, onLoad }) {
    const namespace = 'lmdb';
    onResolve({ filter: /^lmdb$/ }, () => ({ path: createRequire(import.meta.url).resolve('lmdb'), namespace }));
    onLoad({ filter: /./, namespace }, async ({ path }) => ({
      contents: `const __filename = require('node:module').createRequire(importMetaUrl).resolve('lmdb');\n${await readFile(path, 'utf8')}`,
      resolveDir: dirname(path),
    }));
  },
};

/** What is left beyond ASCII is in comments and regular expressions: esbuild escapes strings itself. */
const ascii = (source) => source.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Writes the bundle of the sources to `outfile`; nobody ever sees half of it. */
export async function bundle(outfile) {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'src/cmd/main.ts')],
    outfile,
    write: false,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    conditions: ['sagong-src'],
    define: {
      'import.meta.url': 'importMetaUrl',
      // Values are encoded here; a second native package would only take time to load.
      'process.env.MSGPACKR_NATIVE_ACCELERATION_DISABLED': '"true"',
    },
    banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
    loader: { '.proto': 'text' },
    plugins: [lmdbFromItsPackage],
    logLevel: 'warning',
  });
  const draft = `${outfile}.${process.pid}`;
  await writeFile(draft, ascii(outputFiles[0].text));
  await rename(draft, outfile);
}
