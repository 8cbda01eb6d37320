// A first start with real nodes whose control plane is refused while the nodes boot beside it: logs of both are left, and a second start is not in its way.
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { run, TestCluster } from './harness.ts';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await TestCluster.create();
});
afterAll(() => cluster.destroy());

it('leaves nothing but logs: no process, mount or namespace', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const { code, stderr } = await cluster.sagong('up', '--detach', '--port', String(port));
  other.close();
  expect([code, stderr]).toEqual([1, expect.stringContaining(`port ${port} of 127.0.0.1 is taken`)]);
  expect(await readdir(cluster.dataDir)).toEqual(['logs']);
  expect(await cluster.processes()).toEqual([]);
  expect(await readFile('/proc/self/mounts', 'utf8')).not.toContain(cluster.home);
  expect((await run('ip', ['netns', 'list'])).stdout).not.toContain(cluster.mark);
});

it('begins with nothing where an argument of a component is wrong', async () => {
  const { code, stderr } = await cluster.sagong('up', '--detach', '--apiserver-arg', 'runtime-config=example.com/v1=true');
  expect([code, stderr]).toEqual([1, expect.stringContaining('unknown api groups example.com')]);
  expect(await readdir(cluster.dataDir)).toEqual(['logs']);
  expect(await cluster.processes()).toEqual([]);
});

it('does not keep the cluster from starting after it', async () => {
  await cluster.up();
  expect(await cluster.kubectl('get', 'nodes', '--no-headers')).toContain(' Ready ');
});
