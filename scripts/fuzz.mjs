#!/usr/bin/env node
// Feeds every reader of what others write (bodies, queries, expressions, frames, packets, files) with changed inputs, for as long as it is told.
// The unit tests do the same for a moment (test/component/fuzz.test.ts).
//
//   node scripts/fuzz.mjs [--only REGEX] [--seconds 10 (each)] [--seed N] [--call-ms 250]
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
await mkdir(join(root, 'node_modules/.cache'), { recursive: true });
const directory = await mkdtemp(resolve(root, 'node_modules/.cache/fuzz-'));
try {
  const outfile = join(directory, 'main.mjs');
  const common = { bundle: true, packages: 'external', platform: 'node', format: 'esm', conditions: ['sagong-src'] };
  await build({ ...common, entryPoints: [join(root, 'test/support/fuzz/main.ts')], outfile });
  process.exitCode = spawnSync(process.execPath, [outfile, ...process.argv.slice(2)], { stdio: 'inherit' }).status ?? 1;
} finally {
  await rm(directory, { recursive: true });
}
