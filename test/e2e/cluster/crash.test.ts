// Nothing acknowledged is lost, and nothing is left behind: `kill -9` in the middle of writes, `up` again, `down`.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWireClient } from '#wire';
import { eventually, run, TestCluster } from './harness.ts';

const writers = 64;
const creates = 1_000;
let cluster: TestCluster;

beforeAll(async () => {
  cluster = await TestCluster.create();
});
afterAll(async () => {
  await cluster?.destroy();
});

interface Kubeconfig {
  clusters: { cluster: { server: string; 'certificate-authority-data': string } }[];
  users: { user: { 'client-certificate-data': string; 'client-key-data': string } }[];
}

async function adminClient() {
  const config = parse(await readFile(join(cluster.dataDir, 'kubeconfig'), 'utf8')) as Kubeconfig;
  const decode = (text = ''): string => Buffer.from(text, 'base64').toString('utf8');
  const { server, 'certificate-authority-data': ca } = config.clusters[0]?.cluster ?? {
    server: '',
    'certificate-authority-data': '',
  };
  const user = config.users[0]?.user;
  return createWireClient({
    baseUrl: server,
    tls: { ca: decode(ca), cert: decode(user?.['client-certificate-data']), key: decode(user?.['client-key-data']) },
  });
}

describe('a crash', () => {
  it('loses nothing that was acknowledged', async () => {
    await cluster.up('--nodes', '2');
    const client = await adminClient();
    const pid = await cluster.pid();
    const acknowledged: string[] = [];
    let next = 0;
    const write = async (): Promise<void> => {
      while (next < creates) {
        const name = `c-${next++}`;
        const body = JSON.stringify({ metadata: { name }, data: { name } });
        try {
          const response = await client.request({
            method: 'POST',
            path: '/api/v1/namespaces/default/configmaps',
            headers: { 'content-type': 'application/json' },
            body,
          });
          await response.text();
          if (response.status === 201) acknowledged.push(name);
        } catch {
          return;
        }
        if (acknowledged.length === creates / 2) process.kill(pid, 'SIGKILL');
      }
    };
    await Promise.all(Array.from({ length: writers }, write));
    client.close();
    expect(acknowledged.length).toBeGreaterThanOrEqual(creates / 2);
    await eventually('the process is gone', async () => !(await cluster.processes()).includes(pid));
    await cluster.up();
    const names = new Set((await cluster.kubectl('get', 'configmaps', '-o', 'name')).trim().split('\n'));
    expect(acknowledged.filter((name) => !names.has(`configmap/${name}`))).toEqual([]);
    expect(await cluster.kubectl('get', 'nodes')).toMatch(/node-1 +Ready[^]*node-2 +Ready/);
  });

  it('or a standstill of the control plane leaves names to the nodes', async () => {
    const ask = async (node: number, service: string): Promise<string> => {
      const source = `const r = new (require('node:dns').promises.Resolver)({ timeout: 2000, tries: 2 });
        r.setServers(['10.96.0.10']);
        r.resolve4(process.argv[1]).then((found) => console.log(found.join()), (error) => console.log(error.code));`;
      return (await cluster.inNode(node, process.execPath, '-e', source, `${service}.svc.cluster.local`)).stdout.trim();
    };
    for (const node of [1, 2])
      await eventually(`node ${node} knows names`, async () => (await ask(node, 'kubernetes.default')) === '10.96.0.1');
    const pid = await cluster.pid();
    process.kill(pid, 'SIGSTOP');
    try {
      for (const node of [1, 2])
        await eventually(`node ${node} knows names still`, async () => (await ask(node, 'kubernetes.default')) === '10.96.0.1');
      await eventually('nobody has no address', async () => (await ask(1, 'nobody.default')) === 'ENOTFOUND');
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await cluster.kubectl('create', 'service', 'clusterip', 'later', '--tcp=80', '--clusterip=10.96.77.77');
    for (const node of [1, 2]) await eventually('a new name', async () => (await ask(node, 'later.default')) === '10.96.77.77');
  });

  it('of its cloud alone is mended by the cluster: same port, same machines', async () => {
    const list = async (): Promise<string> => (await cluster.sagong('node', 'list')).stdout;
    const [before, agents] = [await list(), await cluster.agentPids()];
    expect(before).toMatch(/node-1 .*running[^]*node-2 .*running/);
    const dead = await cluster.cloudPid();
    process.kill(dead, 'SIGKILL');
    await eventually('another cloud', async () => (await cluster.cloudPid()) !== dead);
    const sorted = (text: string): string[] => text.split('\n').sort();
    await eventually('the same machines', async () => sorted(await list()).join() === sorted(before).join());
    expect(await cluster.agentPids()).toEqual(agents);
    expect((await cluster.sagong('node', 'stop', 'node-2')).code).toBe(0);
    expect((await cluster.sagong('node', 'start', 'node-2')).code).toBe(0);
    await cluster.kubectl('wait', 'node/node-2', '--for=condition=Ready', '--timeout=60s');
  });

  it('of what stands in front of a node agent leaves one agent, with the cloud or without', async () => {
    const inFront = async (node: string): Promise<number> => {
      const pids = await cluster.agentPids(node, 'nsenter');
      expect(pids).toHaveLength(1);
      return pids[0] as number;
    };
    const another = async (node: string, old: readonly number[]): Promise<void> => {
      let most = 0;
      await eventually(`another agent of ${node}`, async () => {
        const now = await cluster.agentPids(node);
        most = Math.max(most, now.length);
        return now.length > 0 && !now.includes(old[0] as number);
      });
      expect(most).toBe(1);
    };
    const first = await cluster.agentPids('node-1');
    process.kill(await inFront('node-1'), 'SIGKILL');
    await another('node-1', first);
    const second = await cluster.agentPids('node-2');
    process.kill(await cluster.pid(), 'SIGKILL');
    await eventually('the cloud has ended', async () => (await cluster.cloudPid()) === 0);
    process.kill(await inFront('node-2'), 'SIGKILL');
    await cluster.up();
    await another('node-2', second);
    await cluster.kubectl('wait', 'node', '--all', '--for=condition=Ready', '--timeout=60s');
  });

  it('leaves nothing behind after down, also when the cluster was killed', async () => {
    process.kill(await cluster.pid(), 'SIGKILL');
    const mark = async () => ({
      processes: await cluster.processes(),
      mounts: (await readFile('/proc/self/mounts', 'utf8')).split('\n').filter((line) => line.includes(cluster.dataDir)),
      context: (await run('kubectl', ['config', 'get-contexts', '-o', 'name'], { env: cluster.env })).stdout.trim(),
    });
    expect((await mark()).context).toBe('sagong');
    const namespaces = async () => (await run('ip', ['netns', 'list'])).stdout.match(/sagong-\S+/g) ?? [];
    expect((await namespaces()).filter((name) => name.includes(cluster.mark))).toHaveLength(5);
    expect((await cluster.sagong('down')).code).toBe(0);
    expect(await mark()).toEqual({ processes: [], mounts: [], context: '' });
    expect((await namespaces()).filter((name) => name.includes(cluster.mark))).toEqual([]);
  });
});
