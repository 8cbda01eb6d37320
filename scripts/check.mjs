#!/usr/bin/env node
// `npm run check`: types, lint, format, the tidy test, dead code and package shape. Runs all, then fails if any failed.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
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
for (const [name, [script, ...args]] of checks) {
  console.log(`== ${name}`);
  const result = spawnSync(process.execPath, [`node_modules/${script}`, ...args], { cwd: root, stdio: 'inherit' });
  if (result.status !== 0) failed.push(name);
}
console.log(failed.length === 0 ? 'check: all good' : `check: failed: ${failed.join(', ')}`);
process.exit(failed.length === 0 ? 0 : 1);
