// Upstream's csi-driver-host-path with its sidecars, from their own manifests. Their programs have to be built first, as they are not in any registry that tests may
// use: SAGONG_CSI names a folder with `bin/<program>` and with the checkouts `src/<repository>` that they were built from (docs/contributing.md).
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Client, credentials } from '@grpc/grpc-js';
import { parseAllDocuments } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, TestCluster } from '../cluster/harness.ts';
import { programImage } from './program-image.ts';

const folder = process.env['SAGONG_CSI'] ?? '';
const image = 'sagong.local/csi:1';
const driver = 'hostpath.csi.k8s.io';
const deployment = join(folder, 'src/csi-driver-host-path/deploy/kubernetes-latest/hostpath');
const sidecars = ['external-provisioner', 'external-attacher', 'external-resizer'];
const hasSidecars = ['csi-provisioner', 'csi-attacher', 'csi-resizer', 'livenessprobe'].every((name) =>
  existsSync(join(folder, 'bin', name)),
);
let cluster: TestCluster;
const kubectl = (...args: string[]): Promise<string> => cluster.kubectl(...args);

interface Container {
  name: string;
  image: string;
  livenessProbe?: unknown;
}
interface Document {
  kind: string;
  spec?: { template?: { spec: { containers: Container[] } } };
}

/** The programs that were built, by the repository names of their images. */
const programOf = ({ image: reference }: Container): string => join(folder, 'bin', basename(reference).split(':')[0] ?? '');

/** The driver's manifest with those of its containers whose programs were built. */
async function installDriver(): Promise<void> {
  const text = await readFile(join(deployment, 'csi-hostpath-plugin.yaml'), 'utf8');
  const documents = parseAllDocuments(text).map((document) => document.toJS() as Document);
  for (const { spec } of documents) {
    const pod = spec?.template?.spec;
    if (!pod) continue;
    pod.containers = pod.containers.filter((container) => existsSync(programOf(container)));
    const isProbed = pod.containers.some(({ name }) => name === 'liveness-probe');
    for (const container of pod.containers) {
      if (!isProbed) delete container.livenessProbe;
      const archive = join(cluster.home, `${container.name}.tar`);
      await writeFile(archive, await programImage(container.image, programOf(container)));
      expect(await cluster.sagong('load-image', archive)).toMatchObject({ code: 0 });
    }
  }
  for (const name of sidecars) await kubectl('apply', '-f', join(folder, 'src', name, 'deploy/kubernetes/rbac.yaml'));
  await kubectl('apply', '-f', join(deployment, 'csi-hostpath-driverinfo.yaml'));
  await cluster.apply(documents.map((document) => JSON.stringify(document)).join('\n'));
}

const pod = (name: string, volume: object, command: string, more: object = {}): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'app',
          image,
          imagePullPolicy: 'Never',
          command: ['sh', '-c', `${command}; exec sleep 100000`],
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
        },
      ],
      volumes: [{ name: 'data', ...volume }],
      ...more,
    },
  });
const ready = (name: string): Promise<string> => kubectl('wait', `pod/${name}`, '--for', 'condition=Ready', '--timeout', '120s');
const onNode = async (script: string): Promise<string> =>
  (await cluster.sagong('node', 'shell', 'node-1', '--', 'sh', '-c', script)).stdout;
const csiMounts = (): Promise<string> => onNode('grep kubernetes.io.csi /proc/self/mountinfo; true');

/** The driver's object, as one whose volumes need no attaching. */
async function unattachedDriver(): Promise<string> {
  const text = await readFile(join(deployment, 'csi-hostpath-driverinfo.yaml'), 'utf8');
  const [document] = parseAllDocuments(text);
  const object = document?.toJS() as { spec: object };
  const path = join(cluster.home, 'driver.json');
  await writeFile(path, JSON.stringify({ ...object, spec: { ...object.spec, attachRequired: false } }));
  return path;
}

/** CreateVolume of the driver's Controller service, for a volume of 1 MiB for one writer; gives its id. */
async function createVolume(socket: string): Promise<string> {
  const client = new Client(`unix://${socket}`, credentials.createInsecure());
  const request = Buffer.from('0a046d6164651204088080401a0612001a020801', 'hex');
  const method = '/csi.v1.Controller/CreateVolume';
  const same = (bytes: Buffer): Buffer => bytes;
  const answer = await new Promise<string>((resolve, reject) =>
    client.makeUnaryRequest(method, same, same, request, (error, bytes) =>
      error ? reject(error) : resolve(bytes?.toString('latin1') ?? ''),
    ),
  );
  client.close();
  return /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(answer)?.[0] ?? '';
}

describe.skipIf(folder === '')('csi-driver-host-path (skipped without SAGONG_CSI)', () => {
  beforeAll(async () => {
    cluster = await TestCluster.create();
    await cluster.up('--nodes', '1');
    await cluster.loadBusybox(image);
    await installDriver();
  }, 300_000);
  afterAll(async () => {
    await cluster?.destroy();
  });

  it('registers with the kubelet, which tells the API', async () => {
    const drivers = (): Promise<string> => kubectl('get', 'csinode', 'node-1', '-o', 'jsonpath={.spec.drivers}');
    const known = await eventually('a driver', async () => (await drivers()).includes(driver) && drivers(), 120_000);
    expect(JSON.parse(known)).toMatchObject([{ name: driver, nodeID: 'node-1', topologyKeys: ['topology.hostpath.csi/node'] }]);
    const { metadata } = await cluster.json<{ metadata: { labels: object; annotations: object } }>('get', 'node', 'node-1');
    expect(metadata.labels).toMatchObject({ 'topology.hostpath.csi/node': 'node-1' });
    expect(metadata.annotations).toMatchObject({ 'csi.volume.kubernetes.io/nodeid': `{"${driver}":"node-1"}` });
  });

  it('gives a pod a volume that lives as long as it', async () => {
    const security = { securityContext: { fsGroup: 2345, runAsUser: 1000 } };
    await cluster.apply(pod('inline', { csi: { driver } }, 'echo inside > /data/file', security));
    await ready('inline');
    expect(await kubectl('exec', 'inline', '--', 'sh', '-c', 'cat /data/file; stat -c %g /data/file')).toBe('inside\n2345\n');
    expect(await csiMounts()).not.toBe('');
    await kubectl('delete', 'pod', 'inline');
    await eventually('nothing is mounted', async () => (await csiMounts()) === '');
    await cluster.apply(pod('nobody', { csi: { driver: 'nobody.example.com' } }, 'true'));
    await eventually('a reason', async () =>
      (await kubectl('describe', 'pod', 'nobody')).includes(
        'driver name nobody.example.com not found in the list of registered CSI drivers',
      ),
    );
    await kubectl('delete', 'pod', 'nobody');
  });

  it('stages and publishes a volume that somebody has made, grows it, and takes it back', async () => {
    await kubectl('replace', '--force', '-f', await unattachedDriver());
    const socket = join(cluster.dataDir, 'nodes/node-1/root/var/lib/kubelet/plugins/csi-hostpath/csi.sock');
    const volumeHandle = await createVolume(socket);
    const resources = { requests: { storage: '1Mi' } };
    const accessModes = ['ReadWriteOnce'];
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'made' } };
    const volume = { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'made' } };
    const claimRef = { namespace: 'default', name: 'made' };
    const csi = { driver, volumeHandle };
    await cluster.apply(
      [
        { ...volume, spec: { storageClassName: '', capacity: { storage: '1Mi' }, accessModes, claimRef, csi } },
        { ...claim, spec: { storageClassName: '', volumeName: 'made', accessModes, resources } },
      ]
        .map((object) => JSON.stringify(object))
        .join('\n'),
    );
    const source = { persistentVolumeClaim: { claimName: 'made' } };
    for (const name of ['one', 'two']) {
      await cluster.apply(pod(name, source, `echo ${name} >> /data/file`));
      await ready(name);
    }
    expect(await kubectl('exec', 'two', '--', 'cat', '/data/file')).toBe('one\ntwo\n');
    expect((await csiMounts()).trim().split('\n')).toHaveLength(2);
    await kubectl('delete', 'pod', 'one');
    expect(await kubectl('exec', 'two', '--', 'cat', '/data/file')).toBe('one\ntwo\n');
    await kubectl('patch', 'pv', 'made', '-p', '{"spec":{"capacity":{"storage":"2Mi"}}}');
    const size = (): Promise<string> => kubectl('get', 'pvc', 'made', '-o', 'jsonpath={.status.capacity.storage}');
    await eventually('a larger claim', async () => (await size()) === '2Mi', 150_000);
    await kubectl('delete', 'pod', 'two');
    await eventually('nothing is mounted', async () => (await csiMounts()) === '');
    await kubectl('delete', 'pvc', 'made');
    await kubectl('delete', 'pv', 'made');
  }, 400_000);

  it.skipIf(!hasSidecars)(
    'provisions, attaches, stages and publishes a claim, keeps its data, grows, and takes it all away',
    async () => {
      await cluster.apply(`
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: { name: host-path }
provisioner: ${driver}
allowVolumeExpansion: true
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: data }
spec: { storageClassName: host-path, accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
`);
      const volume = { persistentVolumeClaim: { claimName: 'data' } };
      await cluster.apply(pod('first', volume, 'echo first >> /data/file'));
      await ready('first');
      const inUse = (): Promise<string> => kubectl('get', 'node', 'node-1', '-o', 'jsonpath={.status.volumesInUse}');
      expect(await inUse()).toContain(`kubernetes.io/csi/${driver}^`);
      expect(await kubectl('get', 'volumeattachment', '-o', 'jsonpath={.items[*].status.attached}')).toBe('true');
      await cluster.apply(pod('second', volume, 'echo second >> /data/file'));
      await ready('second');
      await kubectl('delete', 'pod', 'first');
      expect(await kubectl('exec', 'second', '--', 'cat', '/data/file')).toBe('first\nsecond\n');
      await kubectl('patch', 'pvc', 'data', '-p', '{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}');
      const size = (): Promise<string> => kubectl('get', 'pvc', 'data', '-o', 'jsonpath={.status.capacity.storage}');
      await eventually('a larger claim', async () => (await size()) === '2Gi', 150_000);
      await kubectl('delete', 'pod', 'second');
      await eventually('nothing is mounted or in use', async () => `${await csiMounts()}${await inUse()}` === '');
      await eventually('nothing is attached', async () => (await kubectl('get', 'volumeattachment', '-o', 'name')) === '');
      await kubectl('delete', 'pvc', 'data');
      await eventually('no volume', async () => (await kubectl('get', 'pv', '-o', 'name')) === '');
    },
    400_000,
  );
});
