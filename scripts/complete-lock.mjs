#!/usr/bin/env node
// Run after `npm install` changed package-lock.json: drops download addresses, so that any registry will do, and says which packages cannot be
// verified elsewhere: each entry must have its integrity, and each platform of an optional dependency its entry. Where one lacks, choose the newest
// version that the registry carries for all platforms (an exact version, or `overrides` in package.json). Usage: node scripts/complete-lock.mjs
import { readFileSync, writeFileSync } from 'node:fs';
import { unverified } from './lock-file.mjs';

const path = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(path, 'utf8'));
for (const entry of Object.values(lock.packages)) if (!entry.link) delete entry.resolved;
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
const missing = unverified(lock);
for (const name of missing) console.error(`not verifiable: ${name}`);
process.exitCode = missing.length === 0 ? 0 : 1;
