#!/usr/bin/env node
// `npm test`: every tier, beside the one that mostly waits the others that take long, and one plain closing line. A tier whose tools are missing says
// so by name and is counted as skipped. `node scripts/test.mjs unit kinds` runs only those tiers.
import { spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
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
/** Mostly waits for the periods of a cluster; two of its files run at a time, each with a cluster of its own. */
const waiting = 'e2e';
/** Run meanwhile, one after the other, each in one process: half of a small machine is left for the clusters. */
const meanwhile = ['interop', 'simulation', 'component'];
const chosen = process.argv.slice(2).length > 0 ? process.argv.slice(2) : tiers;

const totals = { passed: 0, failed: 0, skipped: 0 };
const reports = mkdtempSync(join(tmpdir(), 'sagong-test-'));
const notes = [];
const failures = [];

/** Runs a tier; what it says goes to the terminal, or (`beside` another) comes when it is done. */
function run(tier, beside = false) {
  const obstacle = obstacles[tier]?.();
  if (obstacle) {
    notes.push(`tier ${tier} skipped: ${obstacle}`);
    totals.skipped += 1;
    return Promise.resolve();
  }
  if (!beside) console.log(`\n== ${tier}`);
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
    ...(beside ? ['--maxWorkers=1'] : []),
  ];
  const started = Date.now();
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: root,
      stdio: ['ignore', beside ? 'pipe' : 'inherit', beside ? 'pipe' : 'inherit'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (said += chunk));
    child.once('close', (status) => {
      if (beside) console.log(`\n== ${tier}\n${said}`);
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
  for (const file of result.testResults) failures.push(...failuresOf(tier, file));
  totals.passed += result.numPassedTests;
  totals.failed += failed;
  totals.skipped += result.numPendingTests + result.numTodoTests;
  notes.push(
    `tier ${tier}: ${result.numPassedTests} passed, ${failed} failed, ${result.numPendingTests} skipped in ${(tookMs / 1000).toFixed(0)} s`,
  );
}

/** The name of each failed test of a file with the first lines of what it said, because a long log is seldom kept whole. */
function failuresOf(tier, file) {
  const name = relative(root, file.name);
  const first = (text) => text.split('\n').slice(0, 12).join('\n    ').slice(0, 2000);
  if (file.status === 'failed' && file.assertionResults.length === 0)
    return [`${tier}: ${name}\n    ${first(file.message ?? '')}`];
  return file.assertionResults
    .filter(({ status }) => status === 'failed')
    .map((test) => `${tier}: ${name}: ${test.fullName}\n    ${first(test.failureMessages[0] ?? '')}`);
}

async function runAll(names, beside = false) {
  for (const tier of names) await run(tier, beside);
}
const waits = chosen.includes(waiting) && obstacles[waiting]() === undefined;
const later = waits ? [waiting, ...meanwhile] : [];
await runAll(chosen.filter((name) => !later.includes(name)));
if (waits)
  await Promise.all([
    run(waiting),
    runAll(
      meanwhile.filter((name) => chosen.includes(name)),
      true,
    ),
  ]);
rmSync(reports, { recursive: true, force: true });
if (failures.length > 0) console.log(`\nfailed:\n${failures.join('\n')}`);
console.log(`\n${notes.join('\n')}`);
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exit(totals.failed === 0 && totals.passed > 0 ? 0 : 1);
