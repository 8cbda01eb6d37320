// Claims without a class on real nodes: what a pod writes is there for the next one, over stop and kill -9; it goes with the claim, with the node, and
// with the cluster.
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, TestCluster } from './harness.ts';

const image = 'sagong.local/storage:1';
let cluster: TestCluster;
const kubectl = (...args: string[]): Promise<string> => cluster.kubectl(...args);

beforeAll(async () => {
  cluster = await TestCluster.create();
  await cluster.up('--nodes', '2');
  await cluster.loadBusybox(image);
});
afterAll(async () => {
  await cluster?.destroy();
});

/** As a chart brings it: it says nothing of classes, and its containers are nobody in particular. */
const chart = `
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db }
spec:
  serviceName: db
  replicas: 2
  selector: { matchLabels: { app: db } }
  template:
    metadata: { labels: { app: db } }
    spec:
      terminationGracePeriodSeconds: 0
      securityContext: { runAsUser: 1234, runAsGroup: 1234 }
      topologySpreadConstraints:
        - { maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: { matchLabels: { app: db } } }
      containers:
        - name: db
          image: ${image}
          command: [sh, -c, 'echo "$POD_NAME $POD_UID" >> /data/starts; exec sleep 100000']
          env:
            - { name: POD_NAME, valueFrom: { fieldRef: { fieldPath: metadata.name } } }
            - { name: POD_UID, valueFrom: { fieldRef: { fieldPath: metadata.uid } } }
          volumeMounts: [{ name: data, mountPath: /data }]
  volumeClaimTemplates:
    - metadata: { name: data }
      spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
`;

const directoryOf = async (claim: string): Promise<string> => {
  const volume = await kubectl('get', 'pvc', claim, '-o', 'jsonpath={.spec.volumeName}');
  return kubectl('get', 'pv', volume, '-o', 'jsonpath={.spec.local.path}');
};
const starts = async (pod: string): Promise<string[]> =>
  (await kubectl('exec', pod, '--', 'cat', '/data/starts')).trim().split('\n');
const ready = (): Promise<unknown> =>
  eventually(
    'two pods Running',
    async () => (await kubectl('get', 'statefulset', 'db', '-o', 'jsonpath={.status.availableReplicas}')) === '2',
    90_000,
  );

it('are bound, and keep what pods write', async () => {
  expect(await kubectl('get', 'storageclass')).toMatch(
    /standard \(default\) +sagong.dev\/local-path +Delete +WaitForFirstConsumer +false/,
  );
  await cluster.apply(chart);
  await ready();
  const path = await directoryOf('data-db-0');
  const node = await kubectl('get', 'pod', 'db-0', '-o', 'jsonpath={.spec.nodeName}');
  expect(path.startsWith(join(cluster.dataDir, 'nodes', node, 'volumes', 'pvc-'))).toBe(true);
  expect((await stat(path)).mode & 0o777).toBe(0o777);
  expect(await kubectl('describe', 'pvc', 'data-db-0')).toMatch(
    /Provisioning +.*sagong.dev\/local-path +External provisioner is provisioning volume for claim "default\/data-db-0"[^]*ProvisioningSucceeded +.*Successfully provisioned volume pvc-/,
  );
  expect((await cluster.sagong('explain', 'pvc/data-db-0')).stdout).toContain(`local-path-provisioner`);
  await kubectl('delete', 'pod', 'db-0');
  await ready();
  expect(await eventually('two starts', async () => (await starts('db-0')).length === 2 && starts('db-0'))).toHaveLength(2);
  expect(await kubectl('get', 'pod', 'db-0', '-o', 'jsonpath={.spec.nodeName}')).toBe(node);
});

it('live through stop and kill -9; a deleted class stays deleted', async () => {
  await kubectl('delete', 'storageclass', 'standard');
  const before = await starts('db-1');
  await cluster.sagong('stop');
  await cluster.up();
  await ready();
  const between = await eventually('another start', async () => (await starts('db-1')).length > before.length && starts('db-1'));
  expect(between.slice(0, before.length)).toEqual(before);
  process.kill(await cluster.pid(), 'SIGKILL');
  await cluster.up();
  await ready();
  expect((await starts('db-1')).slice(0, between.length)).toEqual(between);
  expect(await kubectl('get', 'storageclass', '-o', 'name')).toBe('');
});

it('go with their claims, and when their node was terminated', async () => {
  const paths = [await directoryOf('data-db-0'), await directoryOf('data-db-1')];
  const lost = await kubectl('get', 'pod', 'db-1', '-o', 'jsonpath={.spec.nodeName}');
  await kubectl('delete', 'statefulset', 'db');
  await kubectl('delete', 'pvc', 'data-db-0');
  await eventually('one volume', async () => (await kubectl('get', 'pv', '-o', 'name')).trim().split('\n').length === 1);
  expect(paths.map((path) => existsSync(path))).toEqual([false, true]);
  await cluster.sagong('node', 'terminate', lost);
  expect(existsSync(paths[1] ?? '')).toBe(false);
  await kubectl('delete', 'pvc', 'data-db-1');
  await eventually('no volume', async () => (await kubectl('get', 'pv', '-o', 'name')) === '');
});

it('leave nothing after down', async () => {
  await cluster.sagong('down');
  expect(existsSync(cluster.dataDir) ? await readdir(cluster.dataDir) : []).toEqual([]);
});
