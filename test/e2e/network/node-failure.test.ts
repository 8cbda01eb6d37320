// What becomes of a node whose programs or whose power fail, in real time: the grace period of 50 s is upstream's default.
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, run, TestCluster } from '../cluster/harness.ts';

const image = 'sagong.local/tools:1';
/** --node-monitor-grace-period */
const graceMs = 50_000;
let cluster: TestCluster;

const ready = (node: string): Promise<string> =>
  cluster.kubectl('get', 'node', node, '-o', 'jsonpath={.status.conditions[?(@.type=="Ready")].status}');
const podOf = async (app: string): Promise<{ name: string; node: string; ready: string }> => {
  const path = 'jsonpath={.metadata.name} {.spec.nodeName} {.status.containerStatuses[0].ready}';
  const live = await cluster.kubectl('get', 'pods', '-l', `app=${app}`, '-o', 'json');
  const items = (JSON.parse(live) as { items: { metadata: { name: string; deletionTimestamp?: string } }[] }).items;
  const name = items.find(({ metadata }) => metadata.deletionTimestamp === undefined)?.metadata.name ?? '';
  const [, node = '', state = ''] = (await cluster.kubectl('get', 'pod', name, '-o', path)).split(' ');
  return { name, node, ready: state };
};
/** PID 1 of a node: the pause program in the network namespace of its instance. */
async function initOf(node: string): Promise<number> {
  const netns = (await cluster.nodeNetns(node)).slice('--net=/run/netns/'.length);
  for (const pid of (await run('ip', ['netns', 'pids', netns])).stdout.trim().split('\n')) {
    const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
    if (basename(words[0] ?? '') === 'pause' && words[1]?.startsWith(cluster.dataDir)) return Number(pid);
  }
  throw new Error(`node ${node} has no init`);
}

beforeAll(async () => {
  cluster = await TestCluster.create();
  await cluster.up('--nodes', '2', '--uplink', 'none', '--dns-upstream', '127.0.0.1:9');
  await cluster.loadBusybox(image);
  await cluster.apply(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      terminationGracePeriodSeconds: 1
      affinity:
        nodeAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - {weight: 100, preference: {matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node-2]}]}}
      tolerations:
      - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 5}
      - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 5}
      containers: [{name: main, image: "${image}", imagePullPolicy: Never, command: [sleep, "3600"]}]
`);
  await cluster.kubectl('rollout', 'status', 'deployment/app', '--timeout', '60s');
});
afterAll(async () => {
  await cluster?.destroy();
});

describe('a node', () => {
  it('gets its agent and its containerd again when they end, and its pods live on', async () => {
    const before = await podOf('app');
    expect(before.node).toBe('node-2');
    const agent = await cluster.agentPid('node-2');
    process.kill(agent, 'SIGKILL');
    await eventually('another agent', async () => (await cluster.agentPid('node-2')) !== agent);
    const [containerd] = (await run('pgrep', ['-f', join(cluster.dataDir, 'nodes/node-2/containerd/config.toml')])).stdout
      .trim()
      .split('\n');
    process.kill(Number(containerd), 'SIGKILL');
    await eventually(
      'a command runs again',
      async () => (await cluster.tryKubectl('exec', before.name, '--', 'echo', 'alive')).stdout === 'alive\n',
    );
    expect(await podOf('app')).toEqual({ ...before, ready: 'true' });
    expect(await cluster.kubectl('get', 'pod', before.name, '-o', 'jsonpath={.status.containerStatuses[0].restartCount}')).toBe(
      '0',
    );
  });

  it('without power is NotReady after the grace period, and its pods are replaced; `up` brings it back', async () => {
    const before = await podOf('app');
    process.kill(await initOf('node-2'), 'SIGKILL');
    await eventually('NotReady', async () => (await ready('node-2')) === 'Unknown', 120_000);
    // By the cluster's own clocks; a condition's has whole seconds.
    const renewed = await cluster.kubectl('get', 'lease', 'node-2', '-n', 'kube-node-lease', '-o', 'jsonpath={.spec.renewTime}');
    const path = 'jsonpath={.status.conditions[?(@.type=="Ready")].lastTransitionTime}';
    const judged = await cluster.kubectl('get', 'node', 'node-2', '-o', path);
    expect(Date.parse(judged) - Date.parse(renewed)).toBeGreaterThan(graceMs - 1_000);
    const after = await eventually(
      'another pod',
      async () => {
        const pod = await podOf('app');
        return pod.name !== before.name && pod.ready === 'true' && pod;
      },
      60_000,
    );
    expect(after.node).toBe('node-1');
    expect(await cluster.kubectl('get', 'node', 'node-2', '-o', 'jsonpath={.spec.taints[*].key}')).toContain(
      'node.kubernetes.io/unreachable',
    );
    expect((await cluster.sagong('node', 'list')).stdout).toMatch(/node-2 .* stopped/);
    expect((await cluster.sagong('node', 'start', 'node-2')).stderr).toBe('');
    await eventually('Ready again', async () => (await ready('node-2')) === 'True', 60_000);
    await cluster.sagong('stop');
    await cluster.up();
    expect(await ready('node-2')).toBe('True');
    await eventually('no pod of before', async () => !(await cluster.kubectl('get', 'pods', '-o', 'name')).includes(before.name));
    await eventually('a pod runs', async () => (await podOf('app')).ready === 'true');
    expect((await podOf('app')).name).toBe(after.name);
    // Nothing was said that would be a fault of this program's.
    const said = await readFile(join(cluster.dataDir, 'logs', 'sagong.log'), 'utf8');
    expect(said).not.toMatch(/discovery failed|not turned into keys|ends: u/);
  }, 300_000);
});
