#!/usr/bin/env node
// `npm test`: every tier, one after the other, and one plain closing line. A tier whose tools are missing says so by name and is
// counted as skipped. `node scripts/test.mjs unit kinds` runs only those tiers.
import { spawnSync } from 'node:child_process';
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
const chosen = process.argv.slice(2).length > 0 ? process.argv.slice(2) : tiers;

const totals = { passed: 0, failed: 0, skipped: 0 };
const reports = mkdtempSync(join(tmpdir(), 'sagong-test-'));
const notes = [];
for (const tier of chosen) {
  const obstacle = obstacles[tier]?.();
  if (obstacle) {
    notes.push(`tier ${tier} skipped: ${obstacle}`);
    totals.skipped += 1;
    continue;
  }
  console.log(`\n== ${tier}`);
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
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  let result = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] };
  try {
    result = JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    // No report: the run itself broke; its exit code says so.
  }
  const broken = result.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length;
  totals.passed += result.numPassedTests;
  totals.failed += result.numFailedTests + broken + (status !== 0 && result.numFailedTests + broken === 0 ? 1 : 0);
  totals.skipped += result.numPendingTests + result.numTodoTests;
  notes.push(
    `tier ${tier}: ${result.numPassedTests} passed, ${result.numFailedTests + broken} failed, ${result.numPendingTests} skipped in ${((Date.now() - started) / 1000).toFixed(0)} s`,
  );
}
rmSync(reports, { recursive: true, force: true });
console.log(`\n${notes.join('\n')}`);
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exit(totals.failed === 0 && totals.passed > 0 ? 0 : 1);
