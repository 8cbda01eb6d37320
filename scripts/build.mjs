#!/usr/bin/env node
// Builds dist/: one ES module and one .d.ts per source (for those who import Sagong), and dist/sagong.cjs, everything the binary
// needs in one unminified file (it starts faster than many small ones, and minifying made the start slower).
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = resolve(fileURLToPath(import.meta.url), '..', '..');
const dist = join(root, 'dist');
rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });

const tsc = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
if (tsc.status !== 0) process.exit(tsc.status ?? 1);

/** Data files that sources read beside themselves. */
function copyData(dir) {
  for (const entry of readdirSync(join(root, 'src', dir), { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) copyData(path);
    else if (/\.(json|proto)$/.test(entry.name)) cpSync(join(root, 'src', path), join(dist, path));
  }
}
copyData('.');

if (existsSync(join(root, 'scripts/gen-descriptions.mjs'))) {
  const made = spawnSync(process.execPath, ['scripts/gen-descriptions.mjs'], { cwd: root, stdio: 'inherit' });
  if (made.status !== 0) process.exit(made.status ?? 1);
}

await build({
  entryPoints: [join(root, 'src/cmd/main.ts')],
  outfile: join(dist, 'sagong.cjs'),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  conditions: ['sagong-src'],
  // Native packages load their own files.
  external: ['lmdb'],
  define: { 'import.meta.url': 'importMetaUrl' },
  banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
  loader: { '.proto': 'text' },
  logLevel: 'warning',
});
