#!/usr/bin/env node
// `npm run check`: types, lint, format, the tidy test, dead code and package shape. Runs all, then fails if any failed.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(fileURLToPath(import.meta.url), '..', '..');
const checks = [
  ['types', ['typescript/bin/tsc', '-p', 'tsconfig.json']],
  ['lint', ['oxlint/bin/oxlint', '--type-aware', 'src', 'test', 'providers']],
  ['format', ['@biomejs/biome/bin/biome', 'format', '.']],
  ['tidy', ['vitest/vitest.mjs', 'run', '--project', 'tidy']],
  ['dead code', ['knip/bin/knip.js']],
  ['package', ['publint/src/cli.js']],
];
const failed = [];

/** The package's shape is that of what was built: a door that dist/ does not have yet is built first. */
const { exports: doors } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const built = Object.values(doors)
  .map((door) => (typeof door === 'string' ? door : door.default))
  .filter((path) => !path.includes('*'));
if (built.some((path) => !existsSync(join(root, path)))) {
  console.log('== build');
  const result = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' });
  if (result.status !== 0) failed.push('build');
}

for (const [name, [script, ...args]] of checks) {
  console.log(`== ${name}`);
  const result = spawnSync(process.execPath, [`node_modules/${script}`, ...args], { cwd: root, stdio: 'inherit' });
  if (result.status !== 0) failed.push(name);
}
console.log(failed.length === 0 ? 'check: all good' : `check: failed: ${failed.join(', ')}`);
process.exit(failed.length === 0 ? 0 : 1);
