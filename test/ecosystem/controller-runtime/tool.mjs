// controller-runtime's own suites, as they are in its Go module, on the programs that `sagong envtest-assets` writes.
import { join } from 'node:path';

const version = 'v0.24.1';
const packages = ['client', 'webhook', 'envtest', 'builder', 'controller', 'handler', 'cluster', 'source', 'internal/recorder', 'metrics/filters', 'cache', 'manager', 'internal/controller'];

const suite = (name) => ({
  what: `suite of pkg/${name}`,
  version,
  async run({ goModule, must, execute, sagong, work, cache }) {
    const assets = (await must(process.execPath, [sagong, 'envtest-assets', join(work, 'assets')])).trim();
    const dir = await goModule(`sigs.k8s.io/controller-runtime@${version}`);
    // The module cache cannot be written to; some suites keep files beside their sources.
    const copy = join(cache, `controller-runtime-${version}`);
    await must('cp', ['-rT', '--no-preserve=mode', dir, copy]);
    const env = { KUBEBUILDER_ASSETS: assets };
    const { text } = await execute('nice', ['-n', '10', 'go', 'test', '-count=1', `./pkg/${name}`, '-ginkgo.v=false'], { cwd: copy, env });
    const ran = /Ran (\d+) of \d+ Specs[\s\S]*?(\d+) Passed \| (\d+) Failed/.exec(text.replaceAll(/\u001b\[[\d;]*m/g, ''));
    if (!/^ok\s/m.test(text)) return { result: 'fails', differs: ran ? `${ran[2]} of ${ran[1]} specs pass` : 'does not run', log: text.slice(-4000) };
    return { result: 'works' };
  },
});

export default { name: 'controller-runtime', needs: ['go'], runs: packages.map(suite) };
