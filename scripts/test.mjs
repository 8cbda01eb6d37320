#!/usr/bin/env node
// `npm test`: every tier, the two that mostly wait at the same time, and one plain closing line. A tier whose tools are missing says so by name and is
// counted as skipped. `node scripts/test.mjs unit kinds` runs only those tiers.
import { spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(fileURLToPath(import.meta.url), '..', '..');
const has = (program) =>
  [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/sbin'].some((dir) => {
    try {
      accessSync(join(dir, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

/** Why a tier cannot run here, or undefined. */
const obstacles = {
  e2e: () => {
    if (process.platform !== 'linux') return 'needs Linux';
    if (process.getuid?.() !== 0) return 'needs root';
    const missing = ['containerd', 'runc', 'iptables-restore', 'nsenter', 'ip', 'kubectl', 'busybox'].filter(
      (program) => !has(program),
    );
    return missing.length > 0 ? `needs ${missing.join(', ')}` : undefined;
  },
};
const tiers = ['tidy', 'unit', 'kinds', 'component', 'simulation', 'interop', 'e2e'];
/** These mostly wait, e2e for the periods of a cluster: they run at the same time. */
const together = ['interop', 'e2e'];
const chosen = process.argv.slice(2).length > 0 ? process.argv.slice(2) : tiers;

const totals = { passed: 0, failed: 0, skipped: 0 };
const reports = mkdtempSync(join(tmpdir(), 'sagong-test-'));
const notes = [];

/** Runs a tier; what it says goes to the terminal, or (`quiet`) comes when it is done. */
function run(tier, quiet) {
  const obstacle = obstacles[tier]?.();
  if (obstacle) {
    notes.push(`tier ${tier} skipped: ${obstacle}`);
    totals.skipped += 1;
    return Promise.resolve();
  }
  if (!quiet) console.log(`\n== ${tier}`);
  const report = join(reports, `${tier}.json`);
  const args = [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--project',
    tier,
    '--passWithNoTests',
    '--reporter=dot',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ];
  const started = Date.now();
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: root,
      stdio: ['ignore', quiet ? 'pipe' : 'inherit', quiet ? 'pipe' : 'inherit'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (said += chunk));
    child.once('close', (status) => {
      if (quiet) console.log(`\n== ${tier}\n${said}`);
      count(tier, report, status, Date.now() - started);
      resolve();
    });
  });
}

function count(tier, report, status, tookMs) {
  let result = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] };
  try {
    result = JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    // No report: the run itself broke; its exit code says so.
  }
  const broken = result.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length;
  const failed = result.numFailedTests + broken + (status !== 0 && result.numFailedTests + broken === 0 ? 1 : 0);
  totals.passed += result.numPassedTests;
  totals.failed += failed;
  totals.skipped += result.numPendingTests + result.numTodoTests;
  notes.push(
    `tier ${tier}: ${result.numPassedTests} passed, ${failed} failed, ${result.numPendingTests} skipped in ${(tookMs / 1000).toFixed(0)} s`,
  );
}

for (const tier of chosen.filter((name) => !together.includes(name))) await run(tier, false);
const rest = chosen.filter((name) => together.includes(name));
await Promise.all(rest.map((tier, index) => run(tier, index < rest.length - 1)));
rmSync(reports, { recursive: true, force: true });
console.log(`\n${notes.join('\n')}`);
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exit(totals.failed === 0 && totals.passed > 0 ? 0 : 1);
