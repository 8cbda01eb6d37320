// The bundle: everything the binary needs in one file. Made so that it starts fast: unminified (minifying made the start slower) and in
// ASCII (V8 keeps such a source in half the memory, and nothing has to be decoded).
import { rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = resolve(fileURLToPath(import.meta.url), '..', '..');

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
    },
    banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
    loader: { '.proto': 'text' },
    logLevel: 'warning',
  });
  const draft = `${outfile}.${process.pid}`;
  await writeFile(draft, ascii(outputFiles[0].text));
  await rename(draft, outfile);
}
