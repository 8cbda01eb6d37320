// controller-runtime's own suites, as they are in its Go module, on the programs that `sagong envtest-assets` writes. With SAGONG_UPSTREAM_BIN (a folder
// with upstream's kube-apiserver, see test/interop/upstream/build.sh) and etcd each suite runs on upstream's, too, right after ours, and the times are compared.
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const version = 'v0.24.1';
const packages = ['client', 'webhook', 'envtest', 'builder', 'controller', 'handler', 'cluster', 'source', 'internal/recorder', 'metrics/filters', 'cache', 'manager', 'internal/controller'];

/** The folder that envtest takes upstream's programs from, if they are here. */
async function upstreamAssets({ must, work }) {
  const program = join(process.env.SAGONG_UPSTREAM_BIN ?? '', 'kube-apiserver');
  if (process.env.SAGONG_UPSTREAM_BIN === undefined || !existsSync(program)) return undefined;
  const dir = join(work, 'upstream-assets');
  if (existsSync(dir)) return dir;
  mkdirSync(dir);
  symlinkSync(program, join(dir, 'kube-apiserver'));
  for (const name of ['etcd', 'kubectl']) symlinkSync((await must('which', [name])).trim(), join(dir, name));
  return dir;
}

/** On a busy machine neither server starts within envtest's 20 seconds. */
const patience = { KUBEBUILDER_CONTROLPLANE_START_TIMEOUT: '5m', KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT: '5m' };

/** One run of a suite: `{ passed, ran, seconds, log }`. A suite that does not run to its end passed nothing. */
async function runSuite({ execute }, program, cwd, assets) {
  const { text, code } = await execute(program, ['-test.timeout=15m', '-ginkgo.no-color'], { cwd, env: { KUBEBUILDER_ASSETS: assets, ...patience } });
  const [, ran = '0', , seconds = '0'] = /Ran (\d+) of (\d+) Specs in ([\d.]+) seconds/.exec(text) ?? [];
  const [, passed = '0'] = /(\d+) Passed \|/.exec(text) ?? [];
  return { passed: Number(passed), ran: Number(ran), seconds: Number(seconds), whole: code === 0, log: text.slice(-6000) };
}

const suite = (name) => ({
  what: `suite of pkg/${name}`,
  version,
  async run(context) {
    const { must, goCopy, sagong, work, cache } = context;
    const ours = (await must(process.execPath, [sagong, 'envtest-assets', join(work, 'assets')])).trim();
    const cwd = join(await goCopy(`sigs.k8s.io/controller-runtime@${version}`), 'pkg', name);
    const program = join(cache, `controller-runtime-${version}-${name.replaceAll('/', '-')}.test`);
    if (!existsSync(program)) await must('go', ['test', '-c', '-ldflags=-s -w', '-o', program, '.'], { cwd });
    const mine = await runSuite(context, program, cwd, ours);
    if (!mine.whole) return { result: 'fails', differs: `${mine.passed} of ${mine.ran} specs pass`, log: mine.log };
    const upstream = await upstreamAssets(context);
    const theirs = upstream && (await runSuite(context, program, cwd, upstream));
    if (!theirs?.whole) return { result: 'works', specs: mine.passed, differs: `${mine.passed} specs` };
    const differs = `${mine.passed} specs, ${mine.seconds.toFixed(1)} s; on upstream's apiserver ${theirs.seconds.toFixed(1)} s`;
    return { result: 'works', specs: mine.passed, seconds: mine.seconds, upstreamSeconds: theirs.seconds, differs };
  },
});

const sum = {
  what: 'all suites above',
  version,
  async run({ rows }) {
    const works = rows.filter(({ result }) => result === 'works');
    const of = (field) => works.reduce((total, row) => total + (row[field] ?? 0), 0);
    if (works.length < packages.length) return { result: 'fails', differs: `${works.length} of ${packages.length} suites pass, ${of('specs')} specs` };
    const compared = works.every(({ upstreamSeconds }) => upstreamSeconds !== undefined);
    const times = compared ? `, ${Math.round(of('seconds'))} s; on upstream's apiserver ${Math.round(of('upstreamSeconds'))} s` : '';
    return { result: 'works', differs: `${of('specs')} specs${times}` };
  },
};

export default { name: 'controller-runtime', cluster: 'none', needs: ['go'], runs: [...packages.map(suite), sum] };
