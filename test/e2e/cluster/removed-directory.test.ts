// `sagong down` ends what runs, whatever has become of the cluster's directory meanwhile.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TestCluster } from './harness.ts';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await TestCluster.create();
  await cluster.up('--nodes', '1', '--runtime', 'simulated');
});
afterEach(async () => {
  await cluster.destroy();
});

const gone = async (): Promise<void> => {
  const output = await cluster.sagong('down');
  expect([output.code, output.stderr, output.stdout]).toEqual([0, '', `Removed the cluster in ${cluster.dataDir}\n`]);
  expect(await cluster.processes()).toEqual([]);
  expect((await cluster.sagong('down')).stdout).toBe(`There is no cluster in ${cluster.dataDir}\n`);
};

it('a directory that was removed under it', async () => {
  const pid = await cluster.pid();
  await rm(cluster.dataDir, { recursive: true });
  expect((await cluster.sagong('status')).stdout).toContain(
    `process ${pid} of one that was there goes on; end it with: sagong down`,
  );
  await gone();
});

it.each(['run.json', 'cluster.json', 'kubeconfig', 'control.sock', 'cloud', 'machine', 'pki', 'store', 'logs'])(
  'something else in the place of %s',
  async (name) => {
    await rm(join(cluster.dataDir, name), { recursive: true, force: true });
    await writeFile(join(cluster.dataDir, name), '{');
    await gone();
  },
);
