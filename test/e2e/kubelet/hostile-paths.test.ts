// Pods that swap what is in their volumes for links to the machine while the kubelet and the runtime look at it (CVE-2017-1002101, CVE-2021-25741).
// The machine is a folder of the test's own.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ContainerStatus } from '#api/core/v1';
import { execCommand } from '#host';
import { mountsUnder } from '../../../src/kubelet/volumes/mount-table.ts';
import { provideSubPath } from '../../../src/kubelet/volumes/sub-paths.ts';
import { missingForContainers, until } from './private-containerd.ts';
import { NodeWorld, shell, sleeper } from './node-world.ts';

const missing = missingForContainers();

/** Swaps a directory for a link and back, until it is told to stop. */
function startSwapping(entry: string, link: string): () => Promise<number> {
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(
    `const { renameSync, rmSync } = require('node:fs'); const { workerData: { entry, link, shared } } = require('node:worker_threads');
     const aside = entry + '.aside'; const move = (from, to) => { try { renameSync(from, to); return true; } catch { return false; } };
     while (Atomics.load(shared, 0) === 0) {
       move(entry, aside); move(link, entry); move(entry, link);
       // Where it was missing for a moment the kubelet may have made another.
       while (!move(aside, entry) && Atomics.load(shared, 0) === 0) try { rmSync(entry, { recursive: true, force: true }); } catch {}
       Atomics.add(shared, 1, 1);
     }`,
    { eval: true, workerData: { entry, link, shared } },
  );
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  return async () => {
    Atomics.store(shared, 0, 1);
    await ended;
    return Atomics.load(shared, 1);
  };
}

describe.skipIf(missing !== undefined)(`a part of a volume${missing ? ` (skipped: ${missing})` : ''}`, () => {
  let base: string;
  let volume: string;
  let machine: string;
  const podDir = (): string => join(base, 'pod');
  const provide = (subPath: string): Promise<string> =>
    provideSubPath(execCommand, podDir(), {
      volumePath: volume,
      subPath,
      volumeName: 'data',
      containerName: 'app',
      index: 0,
      describe: 'volumeMount "data" of container "app"',
    });
  beforeEach(async () => {
    base = await realpath(await mkdtemp(join(tmpdir(), 'sagong-sub-paths-')));
    [volume, machine] = [join(base, 'volume'), join(base, 'machine')];
    await mkdir(join(volume, 'd'), { recursive: true });
    await mkdir(machine);
    await writeFile(join(volume, 'd', 'secret'), 'inside');
    await writeFile(join(machine, 'secret'), 'machine');
    await symlink(machine, join(volume, 'link'));
  });
  afterEach(async () => {
    for (const path of await mountsUnder(base)) await execCommand('umount', [path]);
    await rm(base, { recursive: true, force: true });
  });

  it.each([
    ['a directory', 'd', (path: string) => join(path, 'secret')],
    ['a file', 'd/secret', (path: string) => path],
  ])('is never the machine: %s, while it is swapped', async (_, subPath, secret) => {
    const stop = startSwapping(join(volume, 'd'), join(volume, 'link'));
    const seen = { inside: 0, refused: 0 };
    const met = (): boolean => seen.inside > 0 && seen.refused > 0;
    for (let attempt = 0; attempt < 300 || (!met() && attempt < 10_000); attempt++) {
      const path = await provide(subPath).catch((error: Error) => error);
      if (path instanceof Error) {
        expect(path.message).toMatch(/^failed to (prepare subPath|create subPath directory) for volumeMount/);
        seen.refused++;
        continue;
      }
      // Where `d` was missing for a moment it was made, empty.
      expect(['inside', 'nothing', 'a directory']).toContain(await readFile(secret(path), 'utf8').catch(nothing));
      seen.inside++;
    }
    expect(await stop()).toBeGreaterThan(300);
    expect(met()).toBe(true);
    expect(await readdir(machine)).toEqual(['secret']);
  });

  it('that is missing is made inside, never in the machine, while it is swapped', async () => {
    const stop = startSwapping(join(volume, 'd'), join(volume, 'link'));
    for (let attempt = 0; attempt < 200; attempt++) await provide(`d/new${attempt}/x`).catch(() => {});
    await stop();
    expect(await readdir(machine)).toEqual(['secret']);
  });

  it('stays what it was when it is swapped afterwards, and another container of the name gets the new one', async () => {
    const path = await provide('d');
    await rm(join(volume, 'd'), { recursive: true });
    await symlink(machine, join(volume, 'd'));
    expect(await readdir(path)).toEqual([]);
    await expect(provide('d')).rejects.toThrow('failed to prepare subPath for volumeMount "data" of container "app"');
    await rm(join(volume, 'd'));
    await writeFile(join(volume, 'd'), 'a file now');
    expect(await provide('d')).toBe(path);
    expect(await readFile(path, 'utf8')).toBe('a file now');
    expect(await mountsUnder(podDir())).toEqual([path]);
  });

  it('that is made is like the volume', async () => {
    await execCommand('chmod', ['2777', volume]);
    expect((await stat(await provide('x/y'))).mode & 0o7777).toBe(0o2777);
    expect((await stat(join(volume, 'x'))).mode & 0o7777).toBe(0o2777);
  });
});

const nothing = (error: NodeJS.ErrnoException): string => (error.code === 'EISDIR' ? 'a directory' : 'nothing');

describe.skipIf(missing !== undefined)(`hostile pods${missing ? ` (skipped: ${missing})` : ''}`, () => {
  let world: NodeWorld;
  let machine: string;
  beforeAll(async () => {
    world = await NodeWorld.start('10.219.0.0/24');
    machine = join(world.containerd.directory, 'machine');
    await mkdir(machine);
    await writeFile(join(machine, 'secret'), 'the machine');
  }, 60_000);
  afterAll(() => world?.stop(), 60_000);

  const mountsOf = (name: string): Promise<string[]> =>
    mountsUnder(join(world.containerd.directory, 'kubelet', 'pods', `uid-${name}`));
  const data = { name: 'data', mountPath: '/data' };
  const volumes = [{ name: 'data', emptyDir: {} }];

  it('that swap their own subPaths never see the machine', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `victim${index}`);
    const make = `cd /data && mkdir -p d && echo mine > d/secret && ln -s ${machine} l`;
    // A moment as it should be, for the kubelet to look, and a moment as the machine, for the runtime.
    const swap = 'cd /data; while :; do sleep 0.05; mv d x; mv l d; sleep 0.1; mv d l; mv x d; done';
    const victims = names.map((name, index) => {
      const subPath = index % 2 === 0 ? 'd' : 'd/secret';
      const read = 'trap "exit 0" TERM; cat /mnt/secret /mnt 2>/dev/null; echo has read; while :; do sleep 1; done';
      return shell(read, { name, volumeMounts: [{ name: 'data', mountPath: '/mnt', subPath }] });
    });
    const initContainers = [
      shell(make, { name: 'maker', volumeMounts: [data] }),
      shell(swap, { name: 'swapper', restartPolicy: 'Always', volumeMounts: [data] }),
    ];
    for (const pod of ['race-a', 'race-b']) {
      world.put(pod, { initContainers, containers: victims, volumes });
      const tried = ({ state }: ContainerStatus): boolean =>
        state?.running !== undefined || state?.waiting?.reason === 'CreateContainerConfigError';
      await world.status(
        pod,
        'was tried',
        ({ containerStatuses = [] }) => containerStatuses.length === names.length && containerStatuses.every(tried),
      );
      const logs = join(world.containerd.directory, 'pod-logs', `default_${pod}_uid-${pod}`);
      for (const { name, state } of world.pod(pod)?.status?.containerStatuses ?? []) {
        const log = async (): Promise<string> => {
          const files = await readdir(join(logs, name)).catch(() => []);
          return (await Promise.all(files.map((file) => readFile(join(logs, name, file), 'utf8')))).join('');
        };
        if (state?.running) await until(`${name} has read`, 10_000, async () => (await log()).includes('has read'));
        expect(await log()).not.toContain('the machine');
      }
      await world.end(pod);
      expect(await mountsOf(pod)).toEqual([]);
    }
    expect(await readdir(machine)).toEqual(['secret']);
  }, 120_000);

  it('that mount a volume where their last words are get no file of the machine read', async () => {
    const volumeMounts = [data, { name: 'data', mountPath: '/words', subPath: 'words' }];
    const script = `rm /data/words; ln -s ${machine}/secret /data/words; exit 3`;
    const container = shell(script, { volumeMounts, terminationMessagePath: '/words' });
    const initContainers = [shell('echo own > /data/words', { name: 'init', volumeMounts: [data] })];
    world.put('words', { initContainers, containers: [container], volumes, restartPolicy: 'Never' });
    await world.status('words', 'has failed', ({ phase }) => phase === 'Failed');
    expect(JSON.stringify(world.pod('words')?.status)).not.toContain('the machine');
    await world.end('words');
  });

  it('leave nothing behind, also when the kubelet was away at their end', async () => {
    const volumeMounts = [{ name: 'data', mountPath: '/part', subPath: 'part' }];
    for (const name of ['stays', 'goes']) world.put(name, { containers: [sleeper({ volumeMounts })], volumes });
    for (const name of ['stays', 'goes']) await world.ready(name);
    for (const name of ['stays', 'goes']) expect(await mountsOf(name)).toHaveLength(1);
    const lost = join(world.containerd.directory, 'kubelet', 'pods', 'uid-lost');
    await mkdir(join(lost, 'volumes'), { recursive: true });
    await world.node.close();
    world.api.objects.delete('pods/default/goes');
    await world.startKubelet();
    await until('the lost pods are cleared away', 30_000, async () => !existsSync(lost) && (await mountsOf('goes')).length === 0);
    await world.ready('stays');
    await world.end('stays');
    expect(await mountsOf('stays')).toEqual([]);
    expect(await readdir(join(world.containerd.directory, 'kubelet', 'pods'))).toEqual([]);
  });
});
