import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { embeddedStorePath } from './embedded-place.ts';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sagong-place-'));
});
afterEach(() => rm(dir, { recursive: true }));

const keep = (settings: object): Promise<void> =>
  writeFile(join(dir, 'cluster.json'), JSON.stringify({ name: 'a', nodes: [], runtime: 'simulated', port: 0, ...settings }));

it('is in the directory of a cluster that has one', async () => {
  await keep({});
  expect(await embeddedStorePath(dir)).toBe(join(dir, 'store'));
});

it('is not where there is no cluster', async () => {
  await mkdir(join(dir, 'store'));
  await expect(embeddedStorePath(dir)).rejects.toThrow(`there is no cluster in ${dir}`);
});

it.each<[object, RegExp]>([
  [{ etcd: { servers: ['http://a:2379', 'http://b:2379'] } }, /in an etcd, http:\/\/a:2379,http:\/\/b:2379: use etcdctl$/],
  [{ controlPlanes: ['a', 'b', 'c'] }, /in the etcd of its control planes/],
  [{ machine: { advertiseAddress: '10.0.0.1', node: true, controlPlane: 'a' } }, /in the etcd of its control planes/],
])('is not where the data is elsewhere: %j', async (settings, why) => {
  await keep(settings);
  // What an earlier time may have left.
  await mkdir(join(dir, 'store'));
  await expect(embeddedStorePath(dir)).rejects.toThrow(why);
});
