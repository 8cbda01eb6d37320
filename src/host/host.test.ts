import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, rmdir, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  atomicWrite,
  bootId,
  ensureDir,
  execCommand,
  onSignals,
  openLogFile,
  osInfo,
  namesIfExists,
  readFileIfExists,
  systemClock,
  systemRng,
  watchFile,
} from './index.ts';

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'host-'));
});
afterAll(() => rm(dir, { recursive: true }));

describe('files', () => {
  test('atomicWrite replaces content and mode and leaves no debris', async () => {
    const path = join(dir, 'a', 'b', 'key.pem');
    await atomicWrite(path, 'one');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(dir, 'a'))).mode & 0o777).toBe(0o700);
    await atomicWrite(path, Buffer.from('two'), { mode: 0o644 });
    expect([await readFile(path, 'utf8'), (await stat(path)).mode & 0o777]).toEqual(['two', 0o644]);
    expect(await readdir(join(dir, 'a', 'b'))).toEqual(['key.pem']);
    const blocked = await ensureDir(join(dir, 'dir-in-the-way', 'file'));
    await expect(atomicWrite(blocked, 'x')).rejects.toThrow(blocked);
    expect(await readdir(join(dir, 'dir-in-the-way'))).toEqual(['file']);
  });

  test.skipIf(process.platform !== 'linux')('a directory that cannot be made is an error at once', async () => {
    await expect(ensureDir('/proc/nothing/below')).rejects.toMatchObject({
      code: 'ENOENT',
      message: expect.stringContaining('/proc/nothing'),
    });
    await expect(atomicWrite('/proc/nothing/below/file', 'x')).rejects.toThrow('/proc/nothing');
    await writeFile(join(dir, 'in-the-way'), '');
    await expect(ensureDir(join(dir, 'in-the-way', 'below'))).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(ensureDir('/')).resolves.toBe('/');
  });

  test('a file that is not there is no error', async () => {
    expect(await readFileIfExists(join(dir, 'nothing'))).toBeUndefined();
    expect(await namesIfExists(join(dir, 'nothing'))).toEqual([]);
    await writeFile(join(dir, 'plain'), 'x');
    expect(await namesIfExists(join(dir, 'plain'))).toEqual([]);
    expect(await namesIfExists(dir)).toContain('plain');
    await expect(namesIfExists('a\0b')).rejects.toThrow();
    expect(await readFileIfExists(join(dir, 'plain', 'below'))).toBeUndefined();
    await expect(readFileIfExists(dir)).rejects.toMatchObject({ code: 'EISDIR', message: expect.stringContaining(dir) });
  });

  test('a log goes on after its disk was full, and says what is missing', async () => {
    const path = join(dir, 'log');
    // A directory in the way stands in for a disk that takes nothing.
    await mkdir(path);
    const log = openLogFile(path);
    log.write('lost 1\nlost 2\n');
    await new Promise((resolve) => setTimeout(resolve, 30));
    await rmdir(path);
    log.write('kept\n');
    const ended = new Promise((resolve) => log.end('last\n', ((error?: unknown) => resolve(error ?? 'well')) as () => void));
    // What comes after its end is nobody's failure.
    log.write('late\n');
    expect(await ended).toBe('well');
    expect(await readFile(path, 'utf8')).toBe('... 2 lines could not be written here\nkept\nlast\n');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('watchFile sees replacement and the symlink swap of mounted Secrets, once each', async () => {
    const path = join(dir, 'tls.crt');
    await ensureDir(join(dir, 'v1'));
    await ensureDir(join(dir, 'v2'));
    await writeFile(join(dir, 'v1', 'tls.crt'), '1');
    await writeFile(join(dir, 'v2', 'tls.crt'), '2');
    await symlink('v1', join(dir, '..data'));
    await symlink(join('..data', 'tls.crt'), path);
    let changes = 0;
    const watcher = watchFile(path, () => changes++, { settleMs: 20, pollMs: 60_000 });
    try {
      await symlink('v2', join(dir, '..data_tmp'));
      await rename(join(dir, '..data_tmp'), join(dir, '..data'));
      await expect.poll(() => changes).toBe(1);
      await atomicWrite(path, '3');
      await expect.poll(() => changes).toBe(2);
      await writeFile(join(dir, 'unrelated'), '');
      await chmod(join(dir, 'unrelated'), 0o600);
    } finally {
      watcher.close();
    }
    await atomicWrite(path, '4');
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(changes).toBe(2);
  });
});

describe('exec', () => {
  test('input, output and exit codes', async () => {
    expect(await execCommand('sh', ['-c', 'cat; echo err >&2; exit 3'], { input: 'in' })).toEqual({
      code: 3,
      stdout: 'in',
      stderr: 'err\n',
    });
    expect((await execCommand('sh', ['-c', 'kill -9 $$'])).code).toBe(137);
    expect((await execCommand('true', [], { input: 'x'.repeat(1_000_000) })).code).toBe(0);
    expect(
      (await execCommand('sh', ['-c', 'echo $A; pwd'], { env: { A: 'b', PATH: process.env.PATH ?? '' }, cwd: '/' })).stdout,
    ).toBe('b\n/\n');
  });

  test('what cannot run, takes too long or is aborted rejects', async () => {
    const missing = join(dir, 'no-such-program');
    await expect(execCommand(missing, [])).rejects.toThrow(`${missing}: spawn ${missing} ENOENT`);
    await expect(execCommand('sleep', ['60'], { timeoutMs: 30 })).rejects.toThrow('sleep: timed out after 30ms');
    const controller = new AbortController();
    const running = execCommand('sleep', ['60'], { signal: controller.signal });
    controller.abort();
    await expect(running).rejects.toThrow('sleep: aborted');
    await expect(execCommand('sleep', ['60'], { signal: controller.signal })).rejects.toThrow('aborted');
  });
});

test('the clock: timers fire once, cancel, and sleep can be aborted', async () => {
  const clock = systemClock();
  const fired: string[] = [];
  clock.setTimer(-5, () => fired.push('past'));
  clock.setTimer(1, () => fired.push('never')).cancel();
  const far = clock.setTimer(2 ** 40, () => fired.push('far'));
  const before = clock.monotonic();
  await clock.sleep(20);
  expect(clock.monotonic() - before).toBeGreaterThan(15);
  far.cancel();
  expect(fired).toEqual(['past']);
  const reason = new Error('stop');
  await expect(clock.sleep(10_000, AbortSignal.abort(reason))).rejects.toBe(reason);
  const controller = new AbortController();
  const sleeping = clock.sleep(10_000, controller.signal);
  controller.abort(reason);
  await expect(sleeping).rejects.toBe(reason);
});

test('one signal ends any number of sleepers and programs without a warning', async () => {
  const warnings: string[] = [];
  const warned = (warning: Error): void => void warnings.push(warning.message);
  process.on('warning', warned);
  try {
    const clock = systemClock();
    const controller = new AbortController();
    const sleeping = Array.from({ length: 20 }, () => clock.sleep(10_000, controller.signal));
    const running = Array.from({ length: 12 }, () => execCommand('sleep', ['60'], { signal: controller.signal }));
    await clock.sleep(20);
    const ends = Promise.allSettled([...sleeping, ...running]);
    controller.abort(new Error('stop'));
    expect(new Set((await ends).map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(warnings).toEqual([]);
  } finally {
    process.off('warning', warned);
  }
});

test('signals are handled until disposed', async () => {
  const seen: string[] = [];
  const dispose = onSignals({ SIGUSR2: (signal) => seen.push(signal) });
  const guard = onSignals({ SIGUSR2: () => {} });
  process.kill(process.pid, 'SIGUSR2');
  await expect.poll(() => seen).toEqual(['SIGUSR2']);
  dispose();
  process.kill(process.pid, 'SIGUSR2');
  await new Promise((resolve) => setTimeout(resolve, 20));
  guard();
  expect(seen).toHaveLength(1);
});

test('machine facts and randomness have their forms', () => {
  expect(systemRng().uuid()).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  expect(bootId()).toMatch(/^[\da-f-]{36}$/);
  expect(osInfo()).toMatchObject({
    operatingSystem: process.platform,
    architecture: expect.stringMatching(/^(amd64|arm64)$/),
    cpus: expect.any(Number),
  });
});
