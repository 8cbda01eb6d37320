// What an older build has stored is read by the one under test: in the embedded store, and in an etcd, with every object as it was. Runs on request:
// SAGONG_OLDER=DIR is a checkout with a build of then.
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type EtcdCluster, startEtcd, versionOf } from '../../interop/etcd-cluster.ts';
import { TestCluster } from '../cluster/harness.ts';
import { install, present } from '../cluster/installed.ts';

const older = process.env['SAGONG_OLDER'] ?? '';

const objects = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: boats, singular: boat, kind: Boat}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
---
apiVersion: v1
kind: Secret
metadata: {name: kept}
stringData: {word: hidden}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: kept, labels: {app: kept}}
spec:
  replicas: 2
  selector: {matchLabels: {app: kept}}
  template:
    metadata: {labels: {app: kept}}
    spec: {containers: [{name: main, image: "example.com/none:1"}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: kept}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: v1
kind: Service
metadata: {name: kept}
spec: {selector: {app: kept}, ports: [{port: 80}]}
`;
const kinds =
  'customresourcedefinitions,secrets,deployments,replicasets,services,clusterroles,clusterrolebindings,namespaces,configmaps,boats';

interface Stored {
  kind: string;
  metadata: { name: string; namespace?: string; uid: string; resourceVersion: string };
}

let cluster: TestCluster | undefined;
let etcd: EtcdCluster | undefined;
afterEach(async () => {
  await cluster?.destroy();
  await etcd?.stop();
  [cluster, etcd] = [undefined, undefined];
});

async function all(of: TestCluster): Promise<Map<string, Stored>> {
  const { items } = await of.json<{ items: Stored[] }>('get', kinds, '-A', '--show-managed-fields');
  return new Map(items.map((item) => [`${item.kind} ${item.metadata.namespace ?? ''}/${item.metadata.name}`, item]));
}

async function throughUpgrade(...flags: string[]): Promise<void> {
  cluster = await TestCluster.create((home) => install(older, join(home, 'package')));
  await cluster.up('--nodes', '0', ...flags);
  await cluster.apply(objects);
  await cluster.kubectl('wait', 'crd/boats.example.com', '--for', 'condition=Established');
  await cluster.apply(
    JSON.stringify({ apiVersion: 'example.com/v1', kind: 'Boat', metadata: { name: 'kept' }, spec: { sails: 2 } }),
  );
  await cluster.kubectl('rollout', 'pause', 'deployment/kept');
  const before = await all(cluster);
  expect(before.size).toBeGreaterThan(50);
  expect((await cluster.sagong('stop')).code).toBe(0);
  await install(present, join(cluster.home, 'package'));
  await cluster.up();
  const after = await all(cluster);
  const isKept = (name: string): boolean => / default\/kept$| \/kept$| \/boats\.example\.com$/.test(name);
  for (const [name, object] of before) {
    const now = after.get(name);
    expect([name, now?.metadata.uid]).toEqual([name, object.metadata.uid]);
    // Ours were written by nobody since; the cluster's own may have been brought to the present form.
    if (isKept(name)) expect(now).toEqual(object);
  }
  expect(await cluster.kubectl('get', 'secret', 'kept', '-o', 'jsonpath={.data.word}')).toBe(
    Buffer.from('hidden').toString('base64'),
  );
  await cluster.kubectl('scale', 'deployment', 'kept', '--replicas', '3');
}

describe.skipIf(older === '')('what an older build has stored (skipped without SAGONG_OLDER)', { timeout: 240_000 }, () => {
  test('in the embedded store is all there', () => throughUpgrade());
  test.skipIf(!versionOf('etcd'))('in an etcd is all there', async () => {
    etcd = await startEtcd(1);
    await throughUpgrade('--etcd-servers', etcd.endpoints.join(','));
  });
});
