// The compiled code that the launcher keeps beside the bundle: clusters start with what a cluster has left, and never with what another program has.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');
let home: string;
let running: ChildProcess | undefined;

async function start(...words: string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(home, 'bin/sagong.mjs'), ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOME: home },
  });
  running = child;
  const { stdout, stderr } = child;
  await Promise.race([once(stdout, 'data'), once(stderr, 'data')]);
  stdout.resume();
  stderr.resume();
  return child;
}
async function stopped(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
  running = undefined;
}
/** The caches by whose they are, with their sizes in bytes. */
async function caches(): Promise<Record<string, number>> {
  const names = (await readdir(join(home, 'dist'))).filter((name) => name.endsWith('.cache')).sort();
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(home, 'dist', name))).size));
  return Object.fromEntries(names.map((name, index) => [name.split('.').at(-2) ?? '', sizes[index] ?? 0]));
}

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'sagong-code-cache-'));
  await cp(join(root, 'bin'), join(home, 'bin'), { recursive: true });
  await mkdir(join(home, 'dist'));
  for (const name of ['package.json', 'dist/sagong.cjs'])
    await cp(join(root, name), join(home, name), { preserveTimestamps: true });
});
afterAll(async () => {
  running?.kill('SIGKILL');
  await rm(home, { recursive: true, force: true });
});

it('a cluster leaves its own, whatever another program left before', async () => {
  const etcd = await start(
    'etcd',
    '--data-dir',
    join(home, 'etcd'),
    '--listen-client-urls',
    'http://127.0.0.1:0',
    '--advertise-client-urls',
    'http://127.0.0.1:0',
  );
  await pause(1_500);
  await stopped(etcd);
  const before = await caches();
  expect(Object.keys(before)).toEqual(['other']);
  const cluster = await start('up', '--data-dir', join(home, 'cluster'), '--nodes', '0', '--no-kubeconfig');
  while (!('up' in (await caches()))) await pause(200);
  await stopped(cluster);
  const { up = 0, other } = await caches();
  expect(other).toBe(before['other']);
  expect(up).toBeGreaterThan(before['other'] ?? Infinity);
}, 120_000);
