// `sagong store` and `sagong snapshot` with a cluster that runs, is stopped, and was damaged meanwhile.
import { open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestCluster } from '../cluster/harness.ts';

let cluster: TestCluster;
const simulated = ['--nodes', '1', '--runtime', 'simulated'];
const names = async (): Promise<string[]> =>
  (await cluster.kubectl('get', 'configmaps', '-o', 'name')).split('\n').filter((name) => name.includes('/kept-'));

beforeAll(async () => {
  cluster = await TestCluster.create();
  await cluster.up(...simulated);
});
afterAll(async () => {
  await cluster.sagong('down');
  await rm(cluster.home, { recursive: true, force: true });
});

/** Changes one bit in the middle of what the oldest file of the log holds. */
async function damage(): Promise<void> {
  const store = join(cluster.dataDir, 'store');
  const [oldest = ''] = (await readdir(store)).filter((name) => name.endsWith('.log')).sort();
  const file = await open(join(store, oldest), 'r+');
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, 20_000);
  byte[0] = (byte[0] ?? 0) ^ 4;
  await file.write(byte, 0, 1, 20_000);
  await file.close();
}

const sagong = (group: string, ...args: string[]) => {
  const [action = '', ...rest] = args;
  return cluster.run([group, action], rest);
};

test('a running cluster is checked, saved and defragmented; a damaged one is named, refused and repaired', async () => {
  const snapshot = join(cluster.home, 'snapshot.db');
  await cluster.kubectl('create', 'configmap', 'kept-1', '--from-literal=a=1');
  const checked = await sagong('store', 'check');
  expect(checked.stdout).toMatch(/^FILE +SIZE +USED +STATUS\n0{11}1\.log +2\.1 MB +\d+ kB +Good\n/);
  expect(checked.stdout).toMatch(/No damage in .*: revision \d+, compacted to 0, \d+ records verified, open in process \d+\n$/);
  const saved = await sagong('snapshot', 'save', snapshot);
  expect(saved.stdout).toMatch(/^Snapshot saved at .*snapshot\.db: revision \d+, \d.* [kM]B\n$/);
  expect((await stat(snapshot)).mode & 0o777).toBe(0o600);
  expect((await cluster.run(['snapshot', 'status'], [snapshot], false)).stdout).toMatch(
    /^HASH +REVISION +TOTAL KEYS +TOTAL SIZE +STORAGE VERSION\n[\da-f]+ +\d+ +\d+ +[\d.]+ [kM]B +3\.6\.0\n$/,
  );
  const refused = await sagong('snapshot', 'restore', snapshot);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('stop it first: sagong stop')]);
  expect((await sagong('store', 'defrag')).stdout).toMatch(/^The store takes [\d.]+ MB on disk now/);
  await cluster.kubectl('create', 'configmap', 'kept-2', '--from-literal=a=2');
  expect(await names()).toEqual(['configmap/kept-1', 'configmap/kept-2']);

  await cluster.sagong('stop');
  await damage();
  const found = await sagong('store', 'check');
  expect(found.code).toBe(1);
  expect(found.stdout).toMatch(
    /DAMAGED: .* \(1 found\)\n {2}\d{12}\.log at byte \d+: the record of \/registry\/\S+ at revision \d+ does not/,
  );
  const failed = await cluster.sagong('up', '--detach', ...simulated);
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringMatching(/is damaged: \d{12}\.log at byte \d+: the record of/)]);
  const repaired = await sagong('store', 'repair', '--from-snapshot', snapshot);
  expect(repaired.stdout).toMatch(
    /The store begins again at revision \d+; everything written after it is lost\nWhat was there is kept in /,
  );
  await cluster.up(...simulated);
  expect(await names()).toEqual(['configmap/kept-1']);

  await cluster.sagong('stop');
  await rm(join(cluster.dataDir, 'store'), { recursive: true });
  const gone = await cluster.sagong('up', '--detach', ...simulated);
  expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('there was a store here, and all of its files are gone')]);
  expect((await sagong('snapshot', 'restore', snapshot)).code).toBe(0);
  await cluster.up(...simulated);
  expect(await names()).toEqual(['configmap/kept-1']);
});
