#!/usr/bin/env node
// `npm test`: every tier, beside the one that mostly waits the others that take long, and one plain closing line. A tier whose tools are missing says
// so by name and is counted as skipped. `node scripts/test.mjs unit kinds` runs only those tiers. A file that fails runs once more, alone, at the
// end: passes it then, it is named as unsteady with what it said; fails it again, or fail too many, the run has failed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBuilt } from './built.mjs';

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
const waitingTier = 'e2e';
/** Run meanwhile, one after the other, each in one process until the clusters are gone: half of a small machine is left for them. */
const meanwhile = ['interop', 'simulation', 'component'];
/** So many files may be unsteady in one run; more than these is no noise. */
const againMax = 5;
const chosen = process.argv.slice(2).length > 0 ? process.argv.slice(2) : tiers;

/** So many of the files that took longest are named at the end, because they decide how long everybody waits. */
const slowestMax = 12;

/** Where dist/ is of these sources, tests load it (test/support/built-modules.mjs): compiling every module for every tier takes most of a run's CPU. */
const built = isBuilt();
if (!built) console.log('dist/ is not of these sources, so each tier compiles them: npm run setup builds');

const totals = { passed: 0, failed: 0, skipped: 0 };
/** How long each file took, with its tier. */
const durations = [];
const reports = mkdtempSync(join(tmpdir(), 'sagong-test-'));
const notes = [];
/** What failed, with its tier: see `Failure` of test-reporter.mjs. */
const failures = [];

/** Runs vitest and gives its report; what it says goes to the terminal, or (`beside` another) comes when it is done. */
async function vitest(tier, { files = [], beside = false, alone = beside }) {
  const report = join(reports, `${tier}-${files.length}.json`);
  const args = [
    ...[
      'node_modules/vitest/vitest.mjs',
      'run',
      '--project',
      tier,
      '--passWithNoTests',
      '--reporter=./scripts/test-reporter.mjs',
    ],
    ...(alone ? ['--maxWorkers=1'] : []),
    ...files,
  ];
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', beside ? 'pipe' : 'inherit', beside ? 'pipe' : 'inherit'],
    env: { ...process.env, SAGONG_TEST_REPORT: report, SAGONG_TEST_BUILT: built ? '1' : '0' },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (said += chunk));
  const [status] = await once(child, 'close');
  if (beside) console.log(`\n== ${tier}\n${said}`);
  return reportOf(report, status);
}

function reportOf(report, status) {
  let result = { passed: 0, failed: 0, skipped: 0, failures: [] };
  try {
    result = JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    // No report: the run itself broke; its exit code says so.
  }
  rmSync(report, { force: true });
  if (status !== 0 && result.failures.length === 0)
    result.failures.push({ name: 'the run itself', message: `vitest ended with code ${status} and named no test` });
  return result;
}

async function run(tier, { beside = false, alone = beside } = {}) {
  const obstacle = obstacles[tier]?.();
  if (obstacle) {
    notes.push(`tier ${tier} skipped: ${obstacle}`);
    totals.skipped += 1;
    return;
  }
  if (!beside) console.log(`\n== ${tier}`);
  const started = Date.now();
  const result = await vitest(tier, { beside, alone });
  totals.passed += result.passed;
  totals.skipped += result.skipped;
  durations.push(...(result.files ?? []).map((file) => ({ tier, ...file })));
  failures.push(...result.failures.map((failure) => ({ tier, ...failure })));
  const took = ((Date.now() - started) / 1000).toFixed(0);
  notes.push(`tier ${tier}: ${result.passed} passed, ${result.failures.length} failed, ${result.skipped} skipped in ${took} s`);
}

const text = ({ tier, file, name, message }) => `${tier}: ${file ?? ''}: ${name}\n    ${message.split('\n').join('\n    ')}`;

/** Runs the files that failed once more, one at a time; the whole tier for an error of no file. Those that pass leave `failures`. */
async function again() {
  const places = new Map();
  for (const { tier, file } of failures) places.set(file ?? tier, { tier, file });
  if (places.size > againMax) return;
  for (const [place, { tier, file }] of places) {
    console.log(`\n== ${tier} once more, alone: ${place}`);
    const result = await vitest(tier, { files: file ? [file] : [], alone: true });
    if (result.failures.length > 0 || result.passed === 0) continue;
    const first = failures.filter((failure) => failure.tier === tier && failure.file === file);
    for (const failure of first) failures.splice(failures.indexOf(failure), 1);
    notes.push(`unsteady, passed when it ran once more: ${first.map(text).join('\n')}`);
  }
}

async function runAll(names, settings = () => ({})) {
  for (const tier of names) await run(tier, settings());
}
const waits = chosen.includes(waitingTier) && obstacles[waitingTier]() === undefined;
const later = waits ? [waitingTier, ...meanwhile] : [];
await runAll(chosen.filter((name) => !later.includes(name)));
if (waits) {
  let waiting = true;
  await Promise.all([
    run(waitingTier).finally(() => (waiting = false)),
    runAll(
      meanwhile.filter((name) => chosen.includes(name)),
      () => ({ beside: true, alone: waiting }),
    ),
  ]);
}
await again();
rmSync(reports, { recursive: true, force: true });
totals.failed = failures.length;
const slowest = durations.sort((a, b) => b.ms - a.ms).slice(0, slowestMax);
console.log(`\nlongest: ${slowest.map(({ file, ms }) => `${file} ${(ms / 1000).toFixed(0)} s`).join(', ')}`);
console.log(`\n${notes.join('\n')}`);
if (failures.length > 0) console.log(`\nfailed:\n${failures.map(text).join('\n')}`);
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exit(totals.failed === 0 && totals.passed > 0 ? 0 : 1);
