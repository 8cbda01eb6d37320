// The managed shape, whole: three machines in three zones of the provider's network, each with a member of etcd, two with an apiserver and an interface in a
// subnet of the customer's, behind the provider's load balancer. The mode of the endpoint is switched while exec and logs go on; a zone is switched off while
// clients create a thousand objects and a Deployment is rolled out; everything is killed, and comes back. Minutes of a whole machine, so it runs on request:
// SAGONG_MANAGED_ZONES=1.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, type Output, run, TestCluster } from '../cluster/harness.ts';
import { Planes } from '../control-planes/planes.ts';
import { Writers } from '../control-planes/writers.ts';
import { image, inside, ManagedKit } from './kit.ts';

let cluster: TestCluster;
let kit: ManagedKit;
let planes: Planes;

const healthy = (count: number): Promise<unknown> =>
  eventually(
    `${count} apiservers are ready`,
    async () => ((await cluster.sagong('status')).stdout.match(/ healthy$/gm)?.length ?? 0) === count,
    120_000,
  );
const ready = (name: string): Promise<string> =>
  cluster.kubectl('get', 'deployment', name, '-o', 'jsonpath={.status.updatedReplicas}/{.status.readyReplicas}');
const manifest = (version: string): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, version: "${version}"}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: main, image: "${image}", imagePullPolicy: Never, command: [sleep, "3600"]}]
`;

describe.skipIf(!process.env['SAGONG_MANAGED_ZONES'])('a managed control plane in three zones', { timeout: 300_000 }, () => {
  beforeAll(async () => {
    cluster = await TestCluster.create();
    kit = new ManagedKit(cluster);
    planes = new Planes(cluster);
    await cluster.up('--topology', 'managed', '--control-planes', '3', '--nodes', '2', '--endpoint-access', 'public');
    await healthy(2);
    await kit.runWorker('i=0; while :; do echo $((i=i+1)); sleep 0.2; done');
  }, 300_000);
  afterAll(async () => {
    await cluster?.destroy();
  }, 120_000);

  it('has a member of etcd in each zone, and interfaces that lead from two of them to the customer', async () => {
    const { stdout } = await cluster.sagong('node', 'list');
    for (const [index, name] of planes.names.entries())
      expect(stdout).toMatch(
        new RegExp(`^${name} .* local-1${'abc'[index]} +running +10\\.177\\.${index * 16}\\.5 +control-plane$`, 'm'),
      );
    const members = (await planes.etcdctl('control-plane-3', 'member', 'list')).trim().split('\n');
    expect(members).toHaveLength(3);
    expect(members.every((line) => line.includes(', started, '))).toBe(true);
    await kit.asCustomer(async (cloud, managed) => {
      expect(managed.map(({ privateAddress }) => privateAddress).sort()).toEqual(inside);
      for (const { ownerId, requesterId, instanceOwnerId, attachment } of managed) {
        expect(ownerId).toBe('customer');
        expect([requesterId, instanceOwnerId]).toEqual(['sagong', 'sagong']);
        expect(attachment?.deviceIndex).toBe(1);
      }
      // The machines behind them, their network and their load balancer are not the customer's to see.
      expect((await cloud.listInstances()).items.map(({ name }) => name).sort()).toEqual(['node-1', 'node-2']);
      expect((await cloud.listLoadBalancers()).items).toEqual([]);
    });
    const slices = await cluster.kubectl('get', 'endpointslices', 'kubernetes', '-o', 'jsonpath={.endpoints[*].addresses[0]}');
    expect(slices.split(' ').sort()).toEqual(inside);
  });

  it('reaches kubelets by both interfaces', async () => {
    const children = Array.from({ length: 8 }, () => cluster.kubectlInBackground('exec', 'worker', '--', 'sleep', '60'));
    try {
      await eventually(
        'both are in use',
        async () => {
          const { stdout } = await cluster.inNode(1, 'ss', '-Htn', 'state', 'established', '( sport = :10250 )');
          return inside.every((address) => stdout.includes(`${address}]:`) || stdout.includes(`${address}:`));
        },
        60_000,
      );
    } finally {
      for (const child of children) child.kill();
    }
  });

  it('goes on with exec, logs and watches while the mode is switched and their way stays', async () => {
    const script = 'i=0; while [ $i -lt 60 ]; do echo $((i=i+1)); sleep 0.5; done';
    const going = [
      cluster.tryKubectl('exec', 'worker', '--', 'sh', '-c', script),
      cluster.tryKubectl('get', 'pods', '--watch', '--output-watch-events', '--request-timeout', '25s', '-v', '6'),
    ];
    await kit.switchTo('public-and-private');
    await kit.nodesComeInside();
    const [exec, watch] = (await Promise.all(going)) as [Output, Output];
    expect(exec.stdout.trim().split('\n')).toHaveLength(60);
    expect(exec.code).toBe(0);
    // One watch, to its own end.
    expect(watch.stderr.match(/watch=true/g)).toHaveLength(1);
  });

  it('loses no write when a zone is switched off under load', async () => {
    const lost = 'control-plane-1';
    const writers = new Writers(planes.kubeconfig, 8);
    const logs = cluster.tryKubectl('logs', '-f', 'worker', '--tail', '1', '--request-timeout', '60s');
    await cluster.apply(manifest('1'));
    await eventually('the first version runs', async () => (await ready('web')) === '4/4', 120_000);
    writers.mark();
    await planes.node('stop', lost);
    await cluster.tryKubectl('patch', 'deployment', 'web', '-p', '{"spec":{"template":{"metadata":{"labels":{"version":"2"}}}}}');
    const before = writers.acknowledged.length;
    await eventually('a thousand objects are made', () => Promise.resolve(writers.acknowledged.length > before + 1_000), 120_000);
    const { nobodyMs, slowestMs } = writers.pauses;
    await eventually(
      'the second version is rolled out',
      async () => {
        const output = await cluster.tryKubectl('rollout', 'status', 'deployment/web', '--timeout', '60s');
        return output.code === 0;
      },
      180_000,
    );
    expect(await cluster.kubectl('exec', 'worker', '--', 'echo', 'there')).toBe('there\n');
    for (const node of [1, 2]) expect(await kit.peers(node)).toEqual(['10.77.16.10']);
    await planes.node('start', lost);
    await healthy(2);
    await writers.stop();
    expect(await writers.lost(planes.kubeconfig)).toEqual([]);
    const { code, stdout, stderr } = await logs;
    console.info(`zone off: nobody wrote for ${nobodyMs} ms, the slowest write took ${slowestMs} ms; logs -f ended with ${code}`);
    expect(stdout.trim().split('\n').length, stderr).toBeGreaterThan(1);
  });

  it('comes back after a crash of everything', async () => {
    const uid = await cluster.kubectl('get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}');
    // The cloud and all machines among them.
    await run('kill', ['-9', ...(await cluster.processes()).map(String)]);
    await cluster.up();
    await healthy(2);
    expect(await cluster.kubectl('get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}')).toBe(uid);
    await eventually('pods answer', async () => (await cluster.tryKubectl('exec', 'worker', '--', 'true')).code === 0, 120_000);
    expect((await cluster.sagong('down')).code).toBe(0);
    expect((await run('ip', ['netns', 'list'])).stdout).not.toContain(cluster.mark);
    expect(await cluster.processes()).toEqual([]);
  });
});
