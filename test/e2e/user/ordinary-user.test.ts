// `sagong up` by somebody who is not root: simulated nodes, said so, and the same kubectl commands.
import { existsSync } from 'node:fs';
import { chmod, chown, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { binary, eventually, type Output, run } from '../cluster/harness.ts';

const nobody = 65534;
let home: string;
let program: string;

const asNobody = (command: string, ...args: string[]): Promise<Output> =>
  run('setpriv', [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--', command, ...args], {
    env: { HOME: home, KUBECONFIG: '', USER: 'nobody' },
    timeoutMs: 260_000,
  });
const sagong = (...args: string[]): Promise<Output> => asNobody(process.execPath, program, ...args);
const tryKubectl = (...args: string[]): Promise<Output> => asNobody('kubectl', ...args);
async function kubectl(...args: string[]): Promise<string> {
  const output = await tryKubectl(...args);
  if (output.code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${output.stdout}${output.stderr}`);
  return output.stdout;
}
const left = async (): Promise<string> =>
  (await run('ps', ['-u', String(nobody), '-o', 'args='])).stdout
    .split('\n')
    .filter((line) => line.includes(home))
    .join('\n');

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'sagong-user-'));
  await chmod(home, 0o755);
  // A copy that somebody else may read; the checkout may be closed to them.
  const root = resolve(dirname(binary), '..');
  const copy = join(home, 'sagong');
  await mkdir(copy);
  for (const part of ['bin', 'examples', 'package.json']) await cp(join(root, part), join(copy, part), { recursive: true });
  await cp(join(root, 'dist/sagong.cjs'), join(copy, 'dist/sagong.cjs'));
  program = join(copy, 'bin/sagong.mjs');
  await chown(home, nobody, nobody);
});
afterAll(async () => {
  await sagong('down');
  await rm(home, { recursive: true, force: true });
});

describe('an ordinary user', () => {
  it('gets simulated nodes, and is told so', async () => {
    const output = await sagong('up', '--detach', '--nodes', '2');
    expect(output.stderr).toBe('');
    expect(output.code).toBe(0);
    expect(output.stdout).toContain('nodes are SIMULATED, pods are not real processes (not root');
    expect(output.stdout).toContain('The nodes are SIMULATED: pods are not real processes.');
    expect((await sagong('status')).stdout).toContain('SIMULATED');
    expect(await kubectl('get', 'nodes', '-o', 'wide')).toMatch(
      /node-1 +Ready .*Simulated \(no processes run here\).*simulated:\/\//,
    );
  });

  it('is refused real nodes, and nothing is left of that', async () => {
    for (const how of [[], ['--detach']]) {
      const dataDir = join(home, 'refused');
      const refused = await sagong('up', ...how, '--data-dir', dataDir, '--name', 'other', '--runtime', 'containerd');
      expect(refused.code).not.toBe(0);
      expect(refused.stdout + refused.stderr).toContain('real nodes cannot run here: not root');
      expect(existsSync(dataDir)).toBe(false);
    }
  });

  it('uses kubectl as ever', async () => {
    await kubectl('create', 'deployment', 'web', '--image', 'nginx', '--replicas', '3');
    expect(await kubectl('rollout', 'status', 'deployment/web', '--timeout', '30s')).toContain('successfully rolled out');
    const [pod = ''] = (await kubectl('get', 'pods', '-l', 'app=web', '-o', 'name')).split('\n');
    expect(await kubectl('describe', pod)).toMatch(/Status: +Running[^]*Container ID: +simulated:\/\//);
    expect(await kubectl('get', 'pods')).toMatch(/web-\S+ +1\/1 +Running/);
    await kubectl('scale', 'deployment', 'web', '--replicas', '5');
    await kubectl('rollout', 'status', 'deployment/web', '--timeout', '30s');
    await kubectl('set', 'image', 'deployment/web', 'nginx=nginx:2');
    expect(await kubectl('rollout', 'status', 'deployment/web', '--timeout', '60s')).toContain('successfully rolled out');
    await kubectl('rollout', 'undo', 'deployment/web');
    await kubectl('rollout', 'status', 'deployment/web', '--timeout', '60s');
    expect(await kubectl('get', 'deployment', 'web', '-o', 'jsonpath={.spec.template.spec.containers[0].image}')).toBe('nginx');
  });

  it('applies a list, checked against the OpenAPI document', async () => {
    const configMap = (name: string, more: object): object => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      ...more,
    });
    const file = join(home, 'list.json');
    const apply = async (...items: object[]): Promise<Output> => {
      await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
      return tryKubectl('apply', '-f', file);
    };
    const applied = await apply(configMap('one', { data: { a: 'b' } }), configMap('two', {}));
    expect(applied).toMatchObject({ code: 0, stdout: 'configmap/one created\nconfigmap/two created\n', stderr: '' });
    const again = await apply(configMap('one', { data: { a: 'c' } }), configMap('two', {}));
    expect(again).toMatchObject({ code: 0, stdout: 'configmap/one configured\nconfigmap/two unchanged\n' });
    const wrong = await apply(configMap('one', { date: {} }));
    expect(wrong.code).not.toBe(0);
    expect(wrong.stderr).toContain('unknown field "date" in io.k8s.api.core.v1.ConfigMap');
    await kubectl('delete', 'configmap', 'one', 'two');
  });

  it('hears that nothing runs when asking for logs and commands', async () => {
    const logs = await tryKubectl('logs', 'deployment/web');
    expect(logs.stdout + logs.stderr).toMatch(/simulated/i);
    const command = await tryKubectl('exec', 'deployment/web', '--', 'true');
    expect(command.stdout + command.stderr).toMatch(/simulated/i);
    for (const { stdout, stderr } of [logs, command]) expect(stdout + stderr).not.toMatch(/refused|timeout|timed out/);
  });

  it('deletes, stops, starts again and leaves nothing', async () => {
    await kubectl('create', 'configmap', 'kept', '--from-literal', 'a=b');
    await kubectl('delete', 'deployment', 'web');
    await eventually('no pods', async () => (await kubectl('get', 'pods', '-o', 'name')).trim() === '');
    expect((await sagong('stop')).code).toBe(0);
    expect((await sagong('up', '--detach')).code).toBe(0);
    expect(await kubectl('get', 'configmap', 'kept', '-o', 'jsonpath={.data.a}')).toBe('b');
    expect((await kubectl('get', 'nodes', '-o', 'name')).trim().split('\n')).toHaveLength(2);
    expect((await sagong('down')).code).toBe(0);
    expect(await left()).toBe('');
    expect((await run('ls', ['-A', join(home, '.sagong')])).stdout).toBe('');
    expect((await tryKubectl('config', 'get-contexts', '-o', 'name')).stdout).toBe('');
  });

  it('has two hundred nodes with two thousand pods', async () => {
    expect((await sagong('up', '--detach', '--runtime', 'simulated', '--nodes', '200')).code).toBe(0);
    expect((await kubectl('get', 'nodes')).match(/ Ready /g)).toHaveLength(200);
    await kubectl('create', 'deployment', 'many', '--image', 'nginx', '--replicas', '2000');
    expect(await kubectl('rollout', 'status', 'deployment/many', '--timeout', '240s')).toContain('successfully rolled out');
    expect((await sagong('down')).code).toBe(0);
    expect(await left()).toBe('');
  }, 400_000);
});
