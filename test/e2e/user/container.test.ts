// The image that `sagong build-image` makes, run as any container engine would: a cluster with simulated nodes, for a user without rights and without a shell.
// Building takes a while: SAGONG_IMAGE=1 runs it (docs/contributing.md).
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { binary, eventually, run } from '../cluster/harness.ts';
import { type PrivateContainerd, startContainerd } from '../kubelet/private-containerd.ts';

const image = 'sagong.local/container-test:1';
const container = 'cluster';
let engine: PrivateContainerd;
let running: ChildProcess;
let said = '';
const ctr = (...args: string[]): ReturnType<typeof run> => run('ctr', ['--address', engine.socket, ...args]);
let execs = 0;
const inside = (...words: string[]): ReturnType<typeof run> =>
  ctr('tasks', 'exec', '--exec-id', `words-${execs++}`, container, ...words);

describe.skipIf(!process.env['SAGONG_IMAGE'])('the image of this program', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    engine = await startContainerd('10.212.0.0/24');
    const archive = join(engine.directory, 'image.tar');
    const made = await run(process.execPath, [binary, 'build-image', '--output', archive, '--tag', image], {
      timeoutMs: 120_000,
    });
    expect(made.code, made.stderr).toBe(0);
    expect(await ctr('images', 'import', archive)).toMatchObject({ code: 0 });
    const words = ['run', '--rm', image, container, '/usr/bin/sagong', 'up', '--nodes', '2', '--runtime', 'simulated'];
    running = spawn('ctr', ['--address', engine.socket, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [running.stdout, running.stderr]) stream?.on('data', (text: Buffer) => (said += text.toString()));
  }, 300_000);
  afterAll(async () => {
    await ctr('tasks', 'kill', '--signal', 'SIGKILL', container);
    await engine?.stop();
  });

  it('has a cluster, which its own commands know and which ends when the container is stopped', async () => {
    await eventually('it runs', () => Promise.resolve(said.includes('The nodes are SIMULATED')), 90_000);
    const status = await inside('/usr/bin/sagong', 'status');
    expect(status.stdout.match(/^node-[12] +Ready/gm), status.stderr).toHaveLength(2);
    expect((await inside('/usr/bin/sagong', 'kubeconfig')).stdout).toContain('server: https://127.0.0.1:');
    expect((await inside('/usr/bin/node', '-p', 'process.getuid()')).stdout.trim()).toBe('65532');
    await ctr('tasks', 'kill', container);
    await eventually('it has ended', () => Promise.resolve(running.exitCode !== null), 30_000);
    expect([running.exitCode, said.includes('Stopping; the data is kept')]).toEqual([0, true]);
  });
});
