#!/usr/bin/env node
// Builds dist/: one ES module and one .d.ts per source (for those who import Sagong), and dist/sagong.cjs, everything the binary
// needs in one file, with its manual page. Then dist/ of each provider.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';

const root = resolve(fileURLToPath(import.meta.url), '..', '..');
const dist = join(root, 'dist');
mkdirSync(dist, { recursive: true });
// What runs from here, as the programs of a cluster's nodes do, finds the binary at every moment: the old one, then the new one.
const lasting = new Set(['sagong.cjs', 'openapi-descriptions.json']);
for (const name of readdirSync(dist)) if (!lasting.has(name)) rmSync(join(dist, name), { recursive: true, force: true });

function compile(project) {
  const args = [join(root, 'node_modules/typescript/bin/tsc'), '-p', project];
  const tsc = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (tsc.status !== 0) process.exit(tsc.status ?? 1);
}
compile('tsconfig.build.json');

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

await bundle(join(dist, 'sagong.cjs'));

const man = spawnSync(process.execPath, [join(dist, 'sagong.cjs'), 'man'], { stdio: ['ignore', 'pipe', 'inherit'] });
if (man.status !== 0) process.exit(man.status ?? 1);
writeFileSync(join(dist, 'sagong.1'), man.stdout);

/** Providers are packages of their own, compiled against what was just built. One without its SDK, or the link to this package, here is left out. */
const providers = join(root, 'providers');
for (const name of existsSync(providers) ? readdirSync(providers) : []) {
  const folder = join(providers, name);
  if (!existsSync(join(folder, 'tsconfig.build.json'))) continue;
  const { dependencies = {}, peerDependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const missing = Object.keys({ ...peerDependencies, ...dependencies }).filter((sdk) =>
    [root, folder].every((at) => !existsSync(join(at, 'node_modules', sdk, 'package.json'))),
  );
  if (missing.length > 0) {
    console.log(`providers/${name} is not built: ${missing.join(', ')} not installed`);
    continue;
  }
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  compile(join('providers', name, 'tsconfig.build.json'));
}
