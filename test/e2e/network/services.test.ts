// kube-proxy with real packets, on two real nodes: from the network outside the nodes, from nodes and from pods.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, type Output, TestCluster } from '../cluster/harness.ts';
import { image, pod, service } from './who.ts';

let cluster: TestCluster;

const nodes = ['10.77.0.11', '10.77.16.11'];
// busybox's own `wget -T` crashes in some builds.
const wget = (host: string, limitSeconds = 10): string[] =>
  `busybox timeout ${limitSeconds} busybox wget -qO- http://${host}/cgi-bin/who`.split(' ');
const fromLan = (host: string, limitSeconds?: number): Promise<Output> => cluster.inLan(...wget(host, limitSeconds));
const fromPod = (name: string, host: string): Promise<Output> => cluster.tryKubectl('exec', name, '--', ...wget(host));
/** Answers to `count` requests from a pod, one a line. */
const manyFromPod = (name: string, host: string, count: number): Promise<string> =>
  cluster.kubectl('exec', name, '--', 'sh', '-c', `for i in $(seq ${count}); do ${wget(host).join(' ')}; done`);
const whos = (text: string): string[] => [...new Set([...text.matchAll(/^(\S+) sees/gm)].map(([, name = '']) => name))].sort();
const clusterIp = (name: string): Promise<string> => cluster.kubectl('get', 'service', name, '-o', 'jsonpath={.spec.clusterIP}');
const rulesOf = async (node: number): Promise<string> => (await cluster.inNode(node, 'iptables-save')).stdout;

beforeAll(async () => {
  cluster = await TestCluster.create();
  await cluster.up('--nodes', '2', '--uplink', 'none', '--dns-upstream', '127.0.0.1:9');
  await cluster.loadBusybox(image);
  await eventually('the default service account', () => cluster.kubectl('get', 'serviceaccount', 'default'));
  await cluster.apply(
    [
      pod('who-1', 'node-1', ', hostPort: 8888'),
      pod('who-2', 'node-2'),
      service('all', '{app: who}', 'type: NodePort', ', nodePort: 30080'),
      service('local', '{name: who-1}', 'type: NodePort\n  externalTrafficPolicy: Local', ', nodePort: 30081'),
      service('sticky', '{app: who}', 'sessionAffinity: ClientIP'),
      service('self', '{name: who-1}'),
      service('nobody', '{app: nobody}', 'type: NodePort', ', nodePort: 30083'),
    ].join(''),
  );
  await cluster.kubectl('wait', 'pod', '-l', 'app=who', '--for', 'condition=Ready', '--timeout', '60s');
  await eventually('rules on both nodes', async () => {
    const rules = await Promise.all([rulesOf(1), rulesOf(2)]);
    return (
      rules.every((text) =>
        ['all', 'local', 'sticky', 'self', 'nobody'].every((name) => text.includes(`default/${name}:http`)),
      ) &&
      rules.every(
        (text) => !text.includes('"default/all:http has no endpoints"') && text.split('"default/all:http ->').length > 2,
      )
    );
  });
});
afterAll(async () => {
  await cluster?.destroy();
});

describe('traffic to services', () => {
  it('reaches pods of all nodes through a node port of any node', async () => {
    for (const node of nodes) {
      const answers = await Promise.all(Array.from({ length: 16 }, () => fromLan(`${node}:30080`)));
      expect(answers.map(({ stderr }) => stderr).join('')).toBe('');
      expect(whos(answers.map(({ stdout }) => stdout).join(''))).toEqual(['who-1', 'who-2']);
    }
  });

  it('keeps the client address under externalTrafficPolicy Local, and drops where no endpoint is local', async () => {
    expect((await fromLan(`${nodes[0]}:30081`)).stdout).toMatch(/^who-1 sees \S*10\.77\.0\.10\]?\n/);
    const elsewhere = await fromLan(`${nodes[1]}:30081`, 2);
    // Neither answered nor refused: ended by the time limit.
    expect(elsewhere).toEqual({ code: 1, stdout: '', stderr: '' });
    // Under policy Cluster the node stands in for the client.
    expect((await fromLan(`${nodes[0]}:30080`)).stdout).not.toMatch(/10\.77\.0\.1\b/);
  });

  it('stays with one endpoint under session affinity', async () => {
    const ips = { all: await clusterIp('all'), sticky: await clusterIp('sticky') };
    expect(whos(await manyFromPod('who-1', ips.all, 16))).toEqual(['who-1', 'who-2']);
    expect(whos(await manyFromPod('who-1', ips.sticky, 16))).toHaveLength(1);
    expect(whos(await manyFromPod('who-2', ips.sticky, 16))).toHaveLength(1);
  });

  it('lets pods see each other by their own addresses, and a pod reach itself', async () => {
    const ip = await cluster.kubectl('get', 'pod', 'who-2', '-o', 'jsonpath={.status.podIP}');
    expect((await fromPod('who-2', await clusterIp('self'))).stdout.trim()).toMatch(new RegExp(`^who-1 sees \\S*${ip}\\]?$`));
    expect((await fromPod('who-1', await clusterIp('self'))).stdout).toMatch(/^who-1 sees /);
  });

  it('is refused without endpoints', async () => {
    const ip = await clusterIp('nobody');
    expect((await fromPod('who-1', ip)).stderr).toContain('Connection refused');
    expect((await cluster.inNode(1, ...wget(ip))).stderr).toContain('Connection refused');
    expect((await fromLan(`${nodes[1]}:30083`)).stderr).toContain('Connection refused');
  });

  it('reaches a pod on a port of its node', async () => {
    expect((await fromLan(`${nodes[0]}:8888`)).stdout).toMatch(/^who-1 sees /);
    expect((await fromLan(`${nodes[1]}:8888`)).stderr).toContain('Connection refused');
  });

  it('follows UDP endpoints, also for a client that goes on sending from the same port', async () => {
    const server = `const [, name, port] = process.argv; const s = require('node:dgram').createSocket('udp4');
      s.on('message', (m, r) => s.send(name, r.port, r.address)); s.bind(Number(port), '10.77.0.10', () => console.log('up'));`;
    const ask = `const s = require('node:dgram').createSocket('udp4'); s.bind(40000, () => s.send('?', 53, process.argv[1]));
      s.on('message', (m) => { console.log(String(m)); process.exit(0); }); setTimeout(() => process.exit(1), 3000);`;
    const slice = (port: number): string => `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: udp-hand, labels: {kubernetes.io/service-name: udp}}
addressType: IPv4
ports: [{name: q, port: ${port}, protocol: UDP}]
endpoints: [{addresses: [10.77.0.10], conditions: {ready: true}}]
---
apiVersion: v1
kind: Service
metadata: {name: udp}
spec: {ports: [{name: q, port: 53, protocol: UDP}]}
`;
    const servers = await Promise.all([
      cluster.startInLan(server, 'first', '9001'),
      cluster.startInLan(server, 'second', '9002'),
    ]);
    try {
      await cluster.apply(slice(9001));
      const ip = await clusterIp('udp');
      const answer = async (): Promise<string> => (await cluster.inNode(1, process.execPath, '-e', ask, ip)).stdout.trim();
      await eventually('the first server', async () => (await answer()) === 'first');
      await cluster.apply(slice(9002));
      await eventually('the second server', async () => (await answer()) === 'second');
    } finally {
      for (const child of servers) child.kill();
    }
  });

  it('follows a slice that is given to another service, and to none', async () => {
    const reached = async (name: string): Promise<boolean> =>
      (await fromPod('who-1', await clusterIp(name))).stdout.startsWith('who-1 sees');
    await cluster.apply(
      `${service('first', '{name: nobody}').replace('selector: {name: nobody}', '')}
${service('second', '{name: nobody}').replace('selector: {name: nobody}', '')}
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: by-hand, labels: {kubernetes.io/service-name: first}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints: [{addresses: [${await cluster.kubectl('get', 'pod', 'who-1', '-o', 'jsonpath={.status.podIP}')}], nodeName: node-1}]
`,
    );
    await eventually('the first', () => reached('first'));
    await cluster.kubectl('label', 'endpointslice', 'by-hand', '--overwrite', 'kubernetes.io/service-name=second');
    await eventually('the second alone', async () => (await reached('second')) && !(await reached('first')));
    await cluster.kubectl('label', 'endpointslice', 'by-hand', 'service.kubernetes.io/headless=');
    await eventually('none', async () => !(await reached('second')));
    const mode = await cluster.inNode(1, 'curl', '-s', 'http://127.0.0.1:10249/proxyMode');
    expect(mode.stdout).toBe('iptables');
  });

  it('takes in and forgets many services', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `many-${index}`);
    const text = names
      .map((name) => service(name, '{app: who}').replace('metadata: {', 'metadata: {labels: {batch: many}, '))
      .join('');
    expect(await cluster.kubectlWithInput(text, 'create', '-f', '-')).toMatchObject({ code: 0, stderr: '' });
    await eventually('rules of all', async () => {
      const rules = await rulesOf(1);
      return names.every((name) => rules.includes(`"default/${name}:http cluster IP"`));
    });
    expect((await fromPod('who-1', await clusterIp('many-199'))).stdout).toMatch(/^who-[12] sees /);
    await cluster.kubectl('delete', '--raw', '/api/v1/namespaces/default/services?labelSelector=batch');
    await eventually('rules gone', async () => !(await rulesOf(1)).includes('default/many-'));
  });

  it('no longer reaches an endpoint that has gone', async () => {
    const gone = await cluster.kubectl('get', 'pod', 'who-2', '-o', 'jsonpath={.status.podIP}');
    expect(await rulesOf(1)).toContain(`${gone}:8080`);
    await cluster.kubectl('delete', 'pod', 'who-2', '--timeout', '60s');
    await eventually('its rules are gone', async () => !(await rulesOf(1)).includes(`${gone}:8080`));
    expect(whos(await manyFromPod('who-1', await clusterIp('all'), 8))).toEqual(['who-1']);
    expect((await fromLan(`${nodes[0]}:30080`)).stdout).toMatch(/^who-1 sees /);
  });

  it('is not touched any more after --cleanup, until kube-proxy works again', async () => {
    const agent = await cluster.agentPid('node-2');
    process.kill(agent, 'SIGSTOP');
    try {
      expect(await rulesOf(2)).toContain('KUBE-SERVICES');
      await cluster.sagongInNode(2, 'kube-proxy', '--cleanup');
      expect((await rulesOf(2)).match(/KUBE-\S+/g) ?? []).toEqual([]);
      await cluster.sagongInNode(2, 'kube-proxy', '--cleanup');
    } finally {
      process.kill(agent, 'SIGCONT');
    }
    await cluster.apply(service('again', '{app: who}'));
    await eventually('rules again', async () => (await fromLan(`${nodes[1]}:30080`)).stdout.startsWith('who-1 sees'));
  });
});
