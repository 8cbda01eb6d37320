// One run of upstream's suite: ginkgo with a line of progress now and then. All that it says goes to a file.
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seconds } from './process.mjs';

const progressMs = 20_000;

/** Runs the specs that `select` names. Resolves with the path of ginkgo's JSON report, whatever the specs' ends. */
export async function runSuite({ bin, kubeconfig, results, procs, nodes, select, testDriver }) {
  await mkdir(results, { recursive: true });
  const report = join(results, 'report.json');
  const log = createWriteStream(join(results, 'e2e.log'));
  const args = [
    `--procs=${procs}`,
    '--no-color',
    '-v',
    '--silence-skips',
    '--timeout=6h',
    `--output-dir=${results}`,
    '--json-report=report.json',
    ...select,
    join(bin, 'e2e.test'),
    '--',
    `--kubeconfig=${kubeconfig}`,
    '--provider=skeleton',
    `--num-nodes=${nodes}`,
    '--allowed-not-ready-nodes=0',
    '--disable-log-dump',
    `--kubectl-path=${join(bin, 'kubectl')}`,
    `--report-dir=${join(results, 'e2e')}`,
    ...(testDriver ? [`--storage.testdriver=${testDriver}`] : []),
  ];
  // Specs leave folders behind, kubectl its cache in the home, whose preferences would count for it.
  const scratch = await mkdtemp(join(tmpdir(), 'sagong-specs-'));
  const env = { ...process.env, HOME: scratch, TMPDIR: scratch };
  const child = spawn(join(bin, 'ginkgo'), args, { cwd: results, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const stop = () => child.kill('SIGINT');
  // Each of them reaches ginkgo, which cleans up after the first and ends at once with the third; then the cluster goes.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop);
  const progress = followProgress();
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (log.write(text), progress.read(text)));
  await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve)).finally(() => rm(scratch, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, stop);
  progress.stop();
  log.end();
  return report;
}

/** Counts the ends of specs in what ginkgo says, and says where it is. */
function followProgress() {
  const started = Date.now();
  const counts = { all: '?', passed: 0, failed: 0 };
  let rest = '';
  let failed = false;
  const say = () =>
    console.log(`  ${seconds(Date.now() - started)}: ${counts.passed + counts.failed} of ${counts.all} specs, ${counts.failed} failed`);
  const timer = setInterval(say, progressMs);
  return {
    read(text) {
      const lines = (rest + text).split('\n');
      rest = lines.pop();
      for (const line of lines) {
        counts.all = /Will run (\d+) of \d+ specs/.exec(line)?.[1] ?? counts.all;
        // The line after it names the spec.
        if (failed) console.log(`  failed: ${line}`);
        failed = /^• \[FAILED\]/.test(line);
        if (failed) counts.failed++;
        else if (/^• \[\d/.test(line)) counts.passed++;
      }
    },
    stop() {
      clearInterval(timer);
      say();
    },
  };
}
