#!/usr/bin/env node
// Run after `npm install` changed package-lock.json: adds the optional packages of other platforms that the registry in use did not
// carry, so that `npm ci` accepts the file everywhere, and drops download addresses. Usage: node scripts/complete-lock.mjs
import { readFileSync, writeFileSync } from 'node:fs';

const path = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(path, 'utf8'));
const systems = ['android', 'darwin', 'linux', 'win32', 'freebsd', 'openbsd', 'netbsd', 'sunos', 'aix', 'openharmony', 'wasm32'];
const processors = ['arm64', 'x64', 'ia32', 'arm', 's390x', 'ppc64', 'riscv64', 'loong64', 'mips64el'];

for (const [name, entry] of Object.entries(lock.packages)) {
  if (!entry.link) delete entry.resolved;
  for (const [dependency, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const key = `node_modules/${dependency}`;
    if (lock.packages[key] || lock.packages[`${name}/${key}`] || !/^\d/.test(version)) continue;
    const parts = dependency.split(/[-/]/);
    const os = systems.find((system) => parts.includes(system));
    const cpu = processors.find((processor) =>
      parts.some((part) => part === processor || (part === 'ppc64le' && processor === 'ppc64')),
    );
    const libc = parts.some((part) => part.startsWith('musl')) ? 'musl' : undefined;
    if (!os) continue;
    lock.packages[key] = {
      version,
      ...(cpu && { cpu: [cpu] }),
      ...(entry.dev && { dev: true }),
      ...(libc && { libc: [libc] }),
      optional: true,
      os: [os === 'wasm32' ? 'none' : os],
    };
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
