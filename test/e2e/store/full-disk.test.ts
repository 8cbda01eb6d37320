// Real file systems that run full under a store and under a whole cluster: writes are refused with etcd's words, reads go on, nothing that was
// acknowledged is lost, and when there is room again everything goes on by itself.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EmbeddedStore, NoSpaceError, openDiskStore } from '#store';
import { binary, run } from '../cluster/harness.ts';

const exec = promisify(execFile);
const mebibyte = 1024 * 1024;
const all = { key: '\0', rangeEnd: '\0' };
let root = '';
const mounts: string[] = [];

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'full-disk-'));
});
afterAll(async () => {
  for (const mount of mounts) await exec('umount', ['--lazy', mount]);
  await rm(root, { recursive: true, force: true });
});

async function mounted(kind: 'ext4' | 'tmpfs', megabytes: number): Promise<string> {
  const at = join(root, `${kind}-${mounts.length}`);
  await mkdir(at);
  if (kind === 'tmpfs') await exec('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}M`, 'tmpfs', at]);
  else {
    const image = `${at}.img`;
    await exec('truncate', ['-s', `${megabytes}M`, image]);
    await exec('mkfs.ext4', ['-q', image]);
    await exec('mount', ['-o', 'loop', image, at]);
  }
  mounts.push(at);
  return at;
}

/** Takes all the room there is. */
async function fillUp(path: string): Promise<void> {
  const file = await open(path, 'w');
  const zeros = Buffer.alloc(mebibyte);
  try {
    for (;;) await file.write(zeros);
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
  } finally {
    await file.close();
  }
}

const put = (store: EmbeddedStore, key: string) =>
  store.txn({ compare: [], success: [{ op: 'put', key, value: Buffer.alloc(50_000, key) }] });

async function putUntilRefused(store: EmbeddedStore, prefix: string): Promise<{ taken: string[]; refusal: unknown }> {
  const taken: string[] = [];
  for (;;) {
    const key = `${prefix}${String(taken.length).padStart(5, '0')}`;
    try {
      await put(store, key);
    } catch (refusal) {
      return { taken, refusal };
    }
    taken.push(key);
  }
}

describe.each(['ext4', 'tmpfs'] as const)('on %s', (kind) => {
  test('a store refuses what needs space, reads on, and writes again when there is room', async () => {
    const mount = await mounted(kind, 48);
    const path = join(mount, 'store');
    const store = await openDiskStore({ path });
    await put(store, '/first');
    await fillUp(join(mount, 'filler'));
    const { taken, refusal } = await putUntilRefused(store, '/a');
    expect(refusal).toBeInstanceOf(NoSpaceError);
    expect(store.rangeSync(all).count).toBe(taken.length + 1);
    await store.txn({ compare: [], success: [{ op: 'delete', key: '/first' }] });
    await rm(join(mount, 'filler'));
    await expect.poll(() => store.writeRefusal()).toBeUndefined();
    const more = await putUntilRefused(store, '/b');
    expect(more.taken.length).toBeGreaterThan(200);
    await store.close();

    await fillUp(join(mount, 'filler'));
    const again = await openDiskStore({ path });
    expect(again.rangeSync(all).kvs.map(({ key }) => key)).toEqual([...taken, ...more.taken]);
    await again.txn({ compare: [], success: [{ op: 'delete', key: '/a', rangeEnd: '/b00100' }] });
    await again.compact(again.revision());
    await rm(join(mount, 'filler'));
    await expect.poll(() => put(again, '/last').then(() => again.writeRefusal())).toBeUndefined();
    await again.close();
  });

  test('a cluster answers reads, refuses writes by name, stays alive, and goes on', async () => {
    const mount = await mounted(kind, 96);
    const [home, dataDir] = [join(root, `home-${kind}`), join(mount, 'cluster')];
    await mkdir(home);
    const env = { HOME: home, KUBECONFIG: join(home, 'config'), KUBECACHEDIR: join(home, 'cache') };
    const kubectl = (...args: string[]) => run('kubectl', args, { env });
    const up = ['up', '--name', `full-${kind}`, '--data-dir', dataDir, '--nodes', '1', '--runtime', 'simulated'];
    const child = spawn(process.execPath, [binary, ...up], { env: { ...process.env, ...env }, stdio: 'ignore' });
    try {
      await expect.poll(async () => (await kubectl('get', '--raw', '/readyz')).stdout, { timeout: 60_000 }).toBe('ok');
      await expect.poll(async () => (await kubectl('get', 'nodes')).stdout, { timeout: 60_000 }).toContain(' Ready');
      await fillUp(join(mount, 'filler'));
      const value = 'x'.repeat(500_000);
      const create = (name: string) =>
        run('kubectl', ['create', '-f', '-'], {
          env,
          input: JSON.stringify({
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { name, namespace: 'default' },
            data: { value },
          }),
        });
      let refusal = await create('c0');
      for (let i = 1; refusal.code === 0; i++) refusal = await create(`c${i}`);
      expect(refusal.stderr).toContain('Error from server: error when creating');
      expect(refusal.stderr).toContain('etcdserver: mvcc: database space exceeded');
      expect((await kubectl('get', 'configmap', 'c0', '-o', 'name')).stdout).toBe('configmap/c0\n');
      expect((await kubectl('get', '--raw', '/livez')).stdout).toBe('ok');
      expect((await kubectl('get', '--raw', '/readyz')).stderr).toContain('[-]etcd-readiness failed');
      expect((await kubectl('delete', 'configmap', 'c0')).code).toBe(0);
      expect(child.exitCode).toBeNull();
      await rm(join(mount, 'filler'));
      await expect.poll(async () => (await create('after')).code, { timeout: 30_000 }).toBe(0);
      expect((await kubectl('get', '--raw', '/readyz')).stdout).toBe('ok');
    } finally {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      await run(process.execPath, [binary, 'down', '--data-dir', dataDir], { env });
    }
    expect(await stat(dataDir).catch(() => undefined)).toBeUndefined();
  });
});
