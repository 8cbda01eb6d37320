// The package as somebody gets it: packed, installed into an empty folder far from the clone, without the tools of development, and run by npx.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const packTimeoutMs = 600_000;
const runTimeoutMs = 180_000;

const run = (
  command: string,
  args: string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<{ code: number; text: string }> =>
  new Promise((resolve) => {
    execFile(command, args, { maxBuffer: 64 << 20, ...options }, (error, stdout, stderr) =>
      resolve({ code: error ? 1 : 0, text: stdout + (error ? stderr : '') }),
    );
  });

describe('the packed package, installed elsewhere', () => {
  let dir: string;
  let home: string;
  const sagong = (...args: string[]): ReturnType<typeof run> =>
    run('npx', ['--no-install', 'sagong', ...args], {
      cwd: join(dir, 'empty'),
      env: { ...process.env, HOME: home, KUBECONFIG: join(home, 'kubeconfig') },
    });

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'sagong-package-'));
    home = join(dir, 'home');
    for (const folder of ['empty', 'home']) await mkdir(join(dir, folder));
    const packed = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', dir], { cwd: root });
    expect(packed.code, packed.text).toBe(0);
    const [{ filename = '' } = {}] = JSON.parse(packed.text) as { filename?: string }[];
    const install = ['install', '--omit=dev', '--no-audit', '--no-fund', '--prefer-offline', join(dir, filename)];
    const installed = await run('npm', install, { cwd: join(dir, 'empty') });
    expect(installed.code, installed.text).toBe(0);
  }, packTimeoutMs);
  afterAll(async () => {
    await sagong('down');
    await rm(dir, { recursive: true, force: true });
  });

  it(
    'starts a cluster, shows it to kubectl, and removes it',
    async () => {
      const up = await sagong('up', '--runtime', 'simulated', '--nodes', '2', '--detach');
      expect(up.code, up.text).toBe(0);
      expect((await sagong('list', '-q')).text.trim()).toBe('sagong');
      expect(await readFile(join(home, 'kubeconfig'), 'utf8')).toContain('current-context: sagong');
      expect((await sagong('status')).code).toBe(0);
      expect((await sagong('down')).code).toBe(0);
      expect((await sagong('list', '-q')).text).toBe('');
      const { man } = JSON.parse(await readFile(join(dir, 'empty/node_modules/sagong/package.json'), 'utf8')) as { man: string };
      expect(await readFile(join(dir, 'empty/node_modules/sagong', man), 'utf8')).toBe((await sagong('man')).text);
    },
    runTimeoutMs,
  );

  it(
    'is started by the step of the GitHub Action, with nothing but a PATH and an empty home, and told to later steps',
    async () => {
      const clean = { PATH: process.env['PATH'], HOME: home };
      const files = { GITHUB_OUTPUT: join(dir, 'output'), GITHUB_ENV: join(dir, 'env') };
      const config = join(dir, 'kind.yaml');
      await writeFile(
        config,
        "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nname: 'action'\nnodes:\n- role: control-plane\n- role: worker\n",
      );
      const inputs = { SAGONG_NAME: '', SAGONG_CONFIG: config, SAGONG_RUNTIME: 'simulated', SAGONG: 'npx --no-install sagong' };
      const cwd = join(dir, 'empty');
      const step = await run(join(root, 'scripts/action/start.sh'), [], { cwd, env: { ...clean, ...inputs, ...files } });
      expect(step.code, step.text).toBe(0);
      const kubeconfig = join(home, '.sagong/action/kubeconfig');
      expect(await readFile(files.GITHUB_OUTPUT, 'utf8')).toBe(`kubeconfig=${kubeconfig}\n`);
      expect(await readFile(files.GITHUB_ENV, 'utf8')).toBe(`KUBECONFIG=${kubeconfig}\n`);
      expect((await run('npx', ['--no-install', 'sagong', 'down', '--name', 'action'], { cwd, env: clean })).code).toBe(0);
    },
    runTimeoutMs,
  );

  it('says what fields are for, in paragraphs, also of those that hold further fields', async () => {
    const file = join(dir, 'empty/node_modules/sagong/dist/openapi-descriptions.json');
    const texts = JSON.parse(await readFile(file, 'utf8')) as Record<string, Record<string, string>>;
    expect(texts['io.k8s.api.apps.v1.Deployment']?.['spec']).toMatch(/desired behavior of the Deployment/);
    expect(texts['io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec']?.['scaleTargetRef']).toMatch(
      /target resource to scale/,
    );
    expect(texts['io.k8s.api.core.v1.ResourceRequirements']?.['claims']?.split('\n\n')).toHaveLength(3);
    expect(texts['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta']?.['labels']).toMatch(/^Map of string keys/);
  });

  it(
    'has the types that the examples of docs/testing.md need, as they are written',
    async () => {
      const page = await readFile(join(root, 'docs/testing.md'), 'utf8');
      const blocks = [...page.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, text = '']) => text);
      const cwd = join(dir, 'empty');
      const running = "import type { TestCluster } from 'sagong/testing';\ndeclare const cluster: TestCluster;\n";
      const given = "import { readFile, writeFile } from 'node:fs/promises';\nimport { startCluster } from 'sagong/testing';\n";
      const files = await Promise.all(
        blocks.map(async (text, index) => {
          const file = `example${index}.mts`;
          await writeFile(
            join(cwd, file),
            text.includes('await using cluster =')
              ? `${text.includes('import { startCluster') ? '' : given}${text}`
              : `${given}${running}${text}`,
          );
          return file;
        }),
      );
      const provider =
        "import type { CloudProviderDefinition } from 'sagong/cloud-provider';\ndeclare const it: CloudProviderDefinition;\nexport default it;\n";
      await writeFile(join(cwd, 'my-provider.d.mts'), provider);
      const checked = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'esnext', '--module', 'nodenext'];
      const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
      const words = [join(root, 'node_modules/typescript/bin/tsc'), ...checked, ...types, ...files];
      const { code, text } = await run(process.execPath, words, { cwd });
      expect(code, text).toBe(0);
      expect(files.length).toBeGreaterThan(4);
    },
    runTimeoutMs,
  );

  it(
    'lends its API to tests and its types to editors',
    async () => {
      const program =
        "import('sagong/testing').then(async ({ startCluster }) => { const c = await startCluster({ nodes: 1 }); console.log(c.url); await c.stop(); })";
      const { code, text } = await run(process.execPath, ['-e', program], { cwd: join(dir, 'empty') });
      expect(code, text).toBe(0);
      expect(text).toMatch(/^https:\/\/127\.0\.0\.1:\d+/);
      expect(await readFile(join(dir, 'empty', 'node_modules', 'sagong', 'examples', 'demo.yaml'), 'utf8')).toContain(
        'kind: Deployment',
      );
    },
    runTimeoutMs,
  );
});
