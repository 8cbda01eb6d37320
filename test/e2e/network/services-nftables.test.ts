// kube-proxy in its nftables mode with real packets, on two real nodes.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, type Output, TestCluster } from '../cluster/harness.ts';
import { image, pod, service } from './who.ts';

const nodes = ['10.77.0.11', '10.77.16.11'];
let cluster: TestCluster;

const wget = (host: string, limitSeconds = 10): string[] =>
  `busybox timeout ${limitSeconds} busybox wget -qO- http://${host}/cgi-bin/who`.split(' ');
const fromLan = (host: string, limitSeconds?: number): Promise<Output> => cluster.inLan(...wget(host, limitSeconds));
const fromPod = (name: string, host: string): Promise<Output> => cluster.tryKubectl('exec', name, '--', ...wget(host));
const whos = (text: string): string[] => [...new Set([...text.matchAll(/^(\S+) sees/gm)].map(([, name = '']) => name))].sort();
const manyFromPod = async (name: string, host: string): Promise<string[]> =>
  whos(await cluster.kubectl('exec', name, '--', 'sh', '-c', `for i in $(seq 16); do ${wget(host).join(' ')}; done`));
const clusterIp = (name: string): Promise<string> => cluster.kubectl('get', 'service', name, '-o', 'jsonpath={.spec.clusterIP}');
const tableOf = async (node: number): Promise<string> =>
  (await cluster.inNode(node, 'nft', 'list', 'table', 'ip', 'kube-proxy')).stdout;

beforeAll(async () => {
  cluster = await TestCluster.create();
  await cluster.up('--nodes', '2', '--uplink', 'none', '--dns-upstream', '127.0.0.1:9', '--proxy-mode', 'nftables');
  await cluster.loadBusybox(image);
  await eventually('the default service account', () => cluster.kubectl('get', 'serviceaccount', 'default'));
  await cluster.apply(
    [
      pod('who-1', 'node-1'),
      pod('who-2', 'node-2'),
      service('all', '{app: who}', 'type: NodePort', ', nodePort: 30080'),
      service('local', '{name: who-1}', 'type: NodePort\n  externalTrafficPolicy: Local', ', nodePort: 30081'),
      service('inside', '{name: who-1}', 'internalTrafficPolicy: Local'),
      service('sticky', '{app: who}', 'sessionAffinity: ClientIP'),
      service('self', '{name: who-1}'),
      service('nobody', '{app: nobody}', 'type: NodePort', ', nodePort: 30083'),
    ].join(''),
  );
  await cluster.kubectl('wait', 'pod', '-l', 'app=who', '--for', 'condition=Ready', '--timeout', '60s');
  const sticky = await clusterIp('sticky');
  await eventually('rules on both nodes', async () =>
    (await Promise.all([tableOf(1), tableOf(2)])).every((text) =>
      text.includes(`${sticky} . tcp . 80 : goto internal-KUBE-SVC-`),
    ),
  );
});
afterAll(async () => {
  await cluster?.destroy();
});

describe('traffic to services in nftables mode', () => {
  it('is carried without a rule of iptables', async () => {
    expect((await cluster.inNode(1, 'iptables-save')).stdout).not.toContain('KUBE-SVC');
    expect((await cluster.inNode(1, 'curl', '-s', 'http://127.0.0.1:10249/proxyMode')).stdout).toBe('nftables');
  });

  it('reaches pods of all nodes, through cluster addresses and node ports of any node', async () => {
    expect(await manyFromPod('who-1', await clusterIp('all'))).toEqual(['who-1', 'who-2']);
    for (const node of nodes) {
      const answers = await Promise.all(Array.from({ length: 16 }, () => fromLan(`${node}:30080`)));
      expect(whos(answers.map(({ stdout }) => stdout).join(''))).toEqual(['who-1', 'who-2']);
    }
    expect((await cluster.inNode(1, ...wget(await clusterIp('all')))).stdout).toMatch(/^who-\d sees/);
  });

  it('keeps the client address under policy Local, and is dropped where no endpoint is local', async () => {
    expect((await fromLan(`${nodes[0]}:30081`)).stdout).toMatch(/^who-1 sees \S*10\.77\.0\.10\]?\n/);
    expect(await fromLan(`${nodes[1]}:30081`, 2)).toEqual({ code: 1, stdout: '', stderr: '' });
    expect((await fromLan(`${nodes[0]}:30080`)).stdout).not.toMatch(/10\.77\.0\.1\b/);
    expect((await fromPod('who-1', await clusterIp('inside'))).stdout).toMatch(/^who-1 sees/);
    expect((await fromPod('who-2', await clusterIp('inside'))).stdout).toBe('');
  });

  it('stays with one endpoint under session affinity', async () => {
    const sticky = await clusterIp('sticky');
    expect(await manyFromPod('who-1', sticky)).toHaveLength(1);
    expect(await manyFromPod('who-2', sticky)).toHaveLength(1);
  });

  it('lets pods see each other by their own addresses, and a pod reach itself', async () => {
    const ip = await cluster.kubectl('get', 'pod', 'who-2', '-o', 'jsonpath={.status.podIP}');
    expect((await fromPod('who-2', await clusterIp('self'))).stdout.trim()).toMatch(new RegExp(`^who-1 sees \\S*${ip}\\]?$`));
    expect((await fromPod('who-1', await clusterIp('self'))).stdout).toMatch(/^who-1 sees /);
  });

  it('is refused without endpoints, and at ports that no service has', async () => {
    const ip = await clusterIp('nobody');
    expect((await fromPod('who-1', ip)).stderr).toContain('Connection refused');
    expect((await cluster.inNode(1, ...wget(ip))).stderr).toContain('Connection refused');
    expect((await fromLan(`${nodes[1]}:30083`)).stderr).toContain('Connection refused');
    expect((await fromPod('who-1', `${await clusterIp('all')}:81`)).stderr).toContain('Connection refused');
  });

  it('takes in and forgets many services', async () => {
    const names = Array.from({ length: 50 }, (_, index) => `many-${index}`);
    const text = names
      .map((name) => service(name, '{app: who}').replace('metadata: {', 'metadata: {labels: {batch: many}, '))
      .join('');
    expect((await cluster.kubectlWithInput(text, 'create', '-f', '-')).code).toBe(0);
    const last = await clusterIp('many-49');
    await eventually('the last', async () => (await fromPod('who-1', last)).stdout.startsWith('who-'));
    await cluster.kubectl('delete', '--raw', '/api/v1/namespaces/default/services?labelSelector=batch');
    await eventually('it is forgotten', async () => !(await tableOf(1)).includes(`${last} .`));
  });

  it('no longer reaches an endpoint that has gone', async () => {
    const gone = await cluster.kubectl('get', 'pod', 'who-2', '-o', 'jsonpath={.status.podIP}');
    await cluster.kubectl('delete', 'pod', 'who-2', '--timeout', '60s');
    await eventually('its elements are gone', async () => !(await tableOf(1)).includes(`${gone} .`));
    expect(await manyFromPod('who-1', await clusterIp('all'))).toEqual(['who-1']);
  });

  it('is not touched any more after --cleanup, and comes back when the table is taken away', async () => {
    await cluster.sagongInNode(2, 'kube-proxy', '--cleanup');
    expect(await tableOf(2)).toBe('');
    await eventually(
      'the table again',
      async () => (await fromLan(`${nodes[1]}:30080`, 2)).stdout.startsWith('who-1 sees'),
      90_000,
    );
  });
});
