// The class that claims get which name none, in a whole cluster of this process: what a chart with volumes needs, what is refused and why, and who
// has the last word about the class.
import { afterEach, expect, it } from 'vitest';
import type { StatefulSet } from '#api/apps/v1';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '#api/core/v1';
import type { StorageClass } from '#api/storage/v1';
import type { KubeObject } from '#apimachinery/meta';
import { ephemeralPki, identities, startControlPlane, startStorage } from '#cluster';
import { systemClock, systemRng } from '#host';
import { openMemoryStore } from '#store';
import { startCluster, type StartClusterOptions, type TestCluster } from '#testing';
import { silentLogger } from '#utils';

const core = (resource: string) => ({ group: '', version: 'v1', resource });
const statefulSets = { group: 'apps', version: 'v1', resource: 'statefulsets' };
const isDefault = 'storageclass.kubernetes.io/is-default-class';
const finalizer = 'external-provisioner.volume.kubernetes.io/finalizer';
const merge = 'application/merge-patch+json';

const open: TestCluster[] = [];
const start = async (options: StartClusterOptions = {}): Promise<TestCluster> => {
  const cluster = await startCluster(options);
  open.push(cluster);
  return cluster;
};
afterEach(async () => {
  await Promise.all(open.splice(0).map((cluster) => cluster.stop()));
});

const claims = ({ client }: TestCluster) => client.resource<PersistentVolumeClaim>(core('persistentvolumeclaims'), 'default');
const volumes = ({ client }: TestCluster) => client.resource<PersistentVolume>(core('persistentvolumes'));
const pods = ({ client }: TestCluster) => client.resource<Pod>(core('pods'), 'default');
const classes = ({ client }: TestCluster) =>
  client.resource<StorageClass>({ group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' });

async function eventually<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`not within 30 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
/** `type reason: message` of the provisioner's events about an object. */
const told = async ({ client }: TestCluster, name: string): Promise<string[]> => {
  type Told = KubeObject & {
    type?: string;
    reason?: string;
    message?: string;
    source?: { component?: string };
    involvedObject?: { name?: string };
  };
  return (await client.resource<Told>(core('events')).list()).items
    .filter(({ source, involvedObject }) => source?.component === 'sagong.dev/local-path' && involvedObject?.name === name)
    .map(({ type, reason, message }) => `${type} ${reason}: ${message}`)
    .sort();
};
const claimSpec = (more: Partial<PersistentVolumeClaim['spec']> = {}): PersistentVolumeClaim['spec'] => ({
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage: '1Gi' } },
  ...more,
});
const podUsing = (name: string, claimName: string): Pod => ({
  metadata: { name },
  spec: {
    containers: [{ name: 'main', image: 'example.org/db:1', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
  },
});

it('a StatefulSet with claims goes Running, and its volumes go with the claims', async () => {
  const cluster = await start({ nodes: 2 });
  expect((await classes(cluster).list()).items).toMatchObject([
    {
      metadata: { name: 'standard', annotations: { [isDefault]: 'true' } },
      provisioner: 'sagong.dev/local-path',
      reclaimPolicy: 'Delete',
      volumeBindingMode: 'WaitForFirstConsumer',
    },
  ]);
  const labels = { app: 'db' };
  await cluster.client.resource<StatefulSet>(statefulSets, 'default').create({
    metadata: { name: 'db' },
    spec: {
      serviceName: 'db',
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [{ name: 'db', image: 'example.org/db:1', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
        },
      },
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claimSpec() }],
    },
  });
  await eventually('two pods Running', async () => {
    const { items } = await pods(cluster).list();
    return items.length === 2 && items.every(({ status }) => status?.phase === 'Running');
  });
  const claim = await claims(cluster).get('data-db-0');
  expect(claim).toMatchObject({
    spec: { storageClassName: 'standard' },
    status: { phase: 'Bound', capacity: { storage: '1Gi' } },
  });
  const node = (await pods(cluster).get('db-0')).spec?.nodeName ?? '';
  const name = `pvc-${claim.metadata.uid}`;
  const volume = await volumes(cluster).get(name);
  expect(volume.metadata).toMatchObject({
    annotations: { 'pv.kubernetes.io/provisioned-by': 'sagong.dev/local-path' },
    labels: { 'sagong.dev/runtime': 'simulated' },
  });
  expect([...(volume.metadata.finalizers ?? [])].sort()).toEqual([finalizer, 'kubernetes.io/pv-protection']);
  expect(volume.spec).toMatchObject({
    local: { path: `/nodes/${node}/volumes/${name}` },
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] }],
      },
    },
    persistentVolumeReclaimPolicy: 'Delete',
    storageClassName: 'standard',
    claimRef: { namespace: 'default', name: 'data-db-0', uid: claim.metadata.uid },
  });
  expect(
    await eventually('both events', async () => (await told(cluster, 'data-db-0')).length === 2 && told(cluster, 'data-db-0')),
  ).toEqual([
    'Normal Provisioning: External provisioner is provisioning volume for claim "default/data-db-0"',
    `Normal ProvisioningSucceeded: Successfully provisioned volume ${name}`,
  ]);
  expect(cluster.explain('pvc/data-db-0')).toContainEqual(
    expect.objectContaining({
      controller: 'local-path-provisioner',
      because: expect.stringContaining(`The scheduler chose ${node}`),
    }),
  );
  expect(cluster.explain('pvc/data-db-0').map(({ controller }) => controller)).toContain('persistentvolume-binder-controller');
  // A fork goes on with the same volumes, and takes them away as well.
  const fork = await cluster.fork();
  open.push(fork);
  for (const one of [cluster, fork]) {
    await one.client.resource(statefulSets, 'default').delete('db');
    for (const { metadata } of (await claims(one).list()).items) await claims(one).delete(metadata.name ?? '');
    await eventually('no volumes', async () => (await volumes(one).list()).items.length === 0);
  }
});

it('a volume that is deleted before its claim waits for it', async () => {
  const cluster = await start();
  await claims(cluster).create({ metadata: { name: 'data' }, spec: claimSpec() });
  await pods(cluster).create(podUsing('web', 'data'));
  const volume = await eventually('a bound volume', async () =>
    (await volumes(cluster).list()).items.find(({ status }) => status?.phase === 'Bound'),
  );
  await volumes(cluster).delete(volume.metadata.name ?? '');
  await pods(cluster).delete('web', { gracePeriodSeconds: 0 });
  expect((await volumes(cluster).get(volume.metadata.name ?? '')).metadata.finalizers).toContain(finalizer);
  await claims(cluster).delete('data');
  await eventually('no volume', async () => (await volumes(cluster).list()).items.length === 0);
});

it('says what it cannot make, and keeps what is to be retained', async () => {
  const cluster = await start();
  const failed = (problem: string) =>
    `Warning ProvisioningFailed: failed to provision volume with StorageClass "standard": ${problem}`;
  const cases: [string, Partial<PersistentVolumeClaim['spec']>, string][] = [
    [
      'shared',
      { accessModes: ['ReadWriteMany'] },
      failed('NodePath only supports ReadWriteOnce and ReadWriteOncePod (1.22+) access modes'),
    ],
    ['chosen', { selector: { matchLabels: { a: 'b' } } }, failed('claim.Spec.Selector is not supported')],
    [
      'device',
      { volumeMode: 'Block' },
      'Warning ProvisioningFailed: sagong.dev/local-path does not support block volume provisioning',
    ],
  ];
  for (const [name, spec] of cases) {
    await claims(cluster).create({ metadata: { name }, spec: claimSpec(spec) });
    const pod = podUsing(name, name);
    if (spec?.volumeMode === 'Block')
      pod.spec = {
        ...pod.spec,
        containers: [{ name: 'main', image: 'example.org/db:1', volumeDevices: [{ name: 'data', devicePath: '/dev/x' }] }],
      };
    await pods(cluster).create(pod);
  }
  for (const [name, , event] of cases)
    await eventually(`${name}: ${event}`, async () => (await told(cluster, name)).includes(event));
  expect((await volumes(cluster).list()).items).toEqual([]);
  // Another class of the same provisioner.
  await classes(cluster).create({
    metadata: { name: 'keep' },
    provisioner: 'sagong.dev/local-path',
    reclaimPolicy: 'Retain',
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  await claims(cluster).create({ metadata: { name: 'kept' }, spec: claimSpec({ storageClassName: 'keep' }) });
  await pods(cluster).create(podUsing('kept', 'kept'));
  await eventually('a volume without our finalizer', async () =>
    (await volumes(cluster).list()).items.find(
      ({ metadata, status }) => status?.phase === 'Bound' && !metadata.finalizers?.includes(finalizer),
    ),
  );
  await pods(cluster).delete('kept', { gracePeriodSeconds: 0 });
  await claims(cluster).delete('kept');
  await eventually('a released volume', async () => (await volumes(cluster).list()).items[0]?.status?.phase === 'Released');
});

it('the class is its user’s: changed, deleted, or not wanted, it stays so', async () => {
  const cluster = await start({ nodes: 0 });
  await classes(cluster).patch('standard', merge, { metadata: { annotations: { [isDefault]: 'false' } } });
  const changed = await startCluster({ from: cluster.snapshot() });
  open.push(changed);
  expect((await classes(changed).get('standard')).metadata.annotations).toEqual({ [isDefault]: 'false' });
  await classes(changed).delete('standard');
  const deleted = await start({ from: changed.snapshot() });
  expect((await classes(deleted).list()).items).toEqual([]);
  const without = await start({ nodes: 0, storage: 'none' });
  expect((await classes(without).list()).items).toEqual([]);
  const fork = await without.fork();
  open.push(fork);
  expect((await classes(fork).list()).items).toEqual([]);
});

it('a user’s own classes stay as they are: the default is no longer one of two', async () => {
  const deps = { clock: systemClock(), rng: systemRng(), logger: silentLogger };
  const store = openMemoryStore(deps);
  const options = { dataDir: '', pki: ephemeralPki(), port: 0, advertiseAddress: '127.0.0.1' };
  const plane = await startControlPlane(options, { ...deps, store });
  try {
    await plane.apiserver.started;
    const own = plane
      .client(identities.admin, 'test')
      .resource<StorageClass>({ group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' });
    const marks = async () =>
      Object.fromEntries(
        (await own.list()).items.map(({ metadata, provisioner }) => [metadata.name, [provisioner, metadata.annotations]]),
      );
    const startTwice = async () => {
      for (let time = 0; time < 2; time++) await (await startStorage({ plane, dataDir: '/', simulated: true }, deps)).stop();
    };
    await own.create({ metadata: { name: 'fast', annotations: { [isDefault]: 'true' } }, provisioner: 'example.org/disk' });
    await own.create({ metadata: { name: 'standard' }, provisioner: 'example.org/tape' });
    const before = await marks();
    await startTwice();
    expect(await marks()).toEqual(before);
    // As if it were the first start, without a class of that name.
    await plane
      .client(identities.admin, 'test')
      .resource({ group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' })
      .delete('system:local-path-provisioner');
    await own.delete('standard');
    await startTwice();
    expect(await marks()).toEqual({ fast: before['fast'], standard: ['sagong.dev/local-path', { [isDefault]: 'false' }] });
  } finally {
    await plane.stop();
    await store.close();
  }
});
