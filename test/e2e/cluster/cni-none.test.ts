// A cluster whose network of pods is somebody else's: nodes wait for it, and take it up from where add-ons write it.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, TestCluster } from './harness.ts';

const image = 'sagong.local/cni:1';
let cluster: TestCluster;
const kubectl = (...args: string[]): Promise<string> => cluster.kubectl(...args);

beforeAll(async () => {
  cluster = await TestCluster.create();
  await cluster.up('--nodes', '1', '--cni', 'none');
  await cluster.loadBusybox(image);
});
afterAll(async () => {
  await cluster?.destroy();
});

const condition = (field: string): Promise<string> =>
  kubectl('get', 'node', 'node-1', '-o', `jsonpath={.status.conditions[?(@.type=="Ready")].${field}}`);
const pod = (name: string, more: object = {}) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      tolerations: [{ operator: 'Exists' }],
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'app', image, imagePullPolicy: 'Never', command: ['sleep', '100000'] }],
      ...more,
    },
  });
const phase = (name: string): Promise<string> => kubectl('get', 'pod', name, '-o', 'jsonpath={.status.phase}');

/** As an add-on does it: a pod in the node's own network writes its configuration to the node. */
const network = JSON.stringify({
  cniVersion: '1.0.0',
  name: 'own',
  plugins: [
    {
      type: 'ptp',
      ipam: { type: 'host-local', ranges: [[{ subnet: '10.244.0.128/25' }]], routes: [{ dst: '0.0.0.0/0' }] },
    },
  ],
});

it('has nodes that say what they wait for, and runs pods of their own network only', async () => {
  expect(await condition('status')).toBe('False');
  expect(await condition('reason')).toBe('KubeletNotReady');
  expect(await condition('message')).toBe(
    'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized',
  );
  expect(await kubectl('get', 'node', 'node-1', '-o', 'jsonpath={.spec.taints[*].key}')).toContain(
    'node.kubernetes.io/not-ready',
  );
  await cluster.apply(pod('waiting'));
  await eventually('a reason', async () => (await kubectl('describe', 'pod', 'waiting')).includes('NetworkNotReady'));
  expect(await phase('waiting')).toBe('Pending');
});

it('is taken up once an add-on has written its network to the node, and stays over a restart', async () => {
  const volumes = [{ name: 'cni', hostPath: { path: '/etc/cni/net.d' } }];
  const command = ['sh', '-c', `printf '%s' '${network}' > /cni/10-own.conflist; exec sleep 100000`];
  const containers = [
    { name: 'app', image, imagePullPolicy: 'Never', command, volumeMounts: [{ name: 'cni', mountPath: '/cni' }] },
  ];
  await cluster.apply(pod('installer', { hostNetwork: true, volumes, containers }));
  await kubectl('wait', 'node/node-1', '--for', 'condition=Ready', '--timeout', '90s');
  await eventually('the pod runs', async () => (await phase('waiting')) === 'Running', 90_000);
  expect(await kubectl('get', 'pod', 'waiting', '-o', 'jsonpath={.status.podIP}')).toMatch(/^10\.244\.0\.1(29|[3-9]\d)$/);
  expect((await cluster.sagong('stop')).code).toBe(0);
  await cluster.up();
  await kubectl('wait', 'node/node-1', '--for', 'condition=Ready', '--timeout', '90s');
});
