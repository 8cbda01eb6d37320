// kubebuilder, built from its Go module, makes a project with an API, a controller and webhooks; the project's own `make test` runs on the programs that
// `sagong envtest-assets` writes into its bin folder, without a changed line.
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const version = 'v4.15.0';

const scaffold = {
  what: 'init, create api, create webhook, make test',
  version,
  async run({ goProgram, execute, must, work, sagong }) {
    const kubebuilder = await goProgram({ module: 'sigs.k8s.io/kubebuilder/v4', version, name: 'kubebuilder' });
    const cwd = join(work, 'sailing');
    rmSync(cwd, { recursive: true, force: true });
    mkdirSync(cwd);
    const env = { GOFLAGS: `${process.env.GOFLAGS ?? ''} -buildvcs=false`.trim() };
    const run = (...args) => must(kubebuilder, args, { cwd, env });
    const boat = ['--group', 'harbour', '--version', 'v1', '--kind', 'Boat'];
    await run('init', '--domain', 'example.com', '--repo', 'example.com/sailing');
    await run('create', 'api', ...boat, '--resource', '--controller');
    await run('create', 'webhook', ...boat, '--defaulting', '--programmatic-validation');
    await must(process.execPath, [sagong, 'envtest-assets', join(cwd, 'bin')]);
    const { code, text } = await execute('make', ['test'], { cwd, env });
    const passed = [...text.matchAll(/^ok\s+(\S+)\s+([\d.]+)s/gm)].map(([, name]) => name.replace('example.com/sailing/', ''));
    if (code !== 0 || passed.length < 2) throw new Error(`make test\n${text.slice(-6000)}`);
    if (!existsSync(join(cwd, 'bin/k8s'))) throw new Error('the programs are not where setup-envtest looks');
    return { result: 'works', differs: `passes: ${passed.join(', ')}` };
  },
};

export default { name: 'kubebuilder', cluster: 'none', needs: ['go', 'make', 'bash'], runs: [scaffold] };
