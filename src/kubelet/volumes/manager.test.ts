import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Container, Pod } from '#api/core/v1';
import { createClient } from '#client';
import { systemRng } from '#host';
import { silentLogger } from '#utils';
import { FakeApi } from '../test-support/fake-api.ts';
import { ManualClock } from '../test-support/manual-clock.ts';
import { VolumeManager } from './manager.ts';
import { TokenManager } from './tokens.ts';

let rootDir: string;
let api: FakeApi;
let manager: VolumeManager;

beforeEach(async () => {
  rootDir = await mkdtemp(join(tmpdir(), 'sagong-volumes-'));
  api = new FakeApi();
  const [client, clock, unused] = [createClient(api), new ManualClock(), {} as never];
  manager = new VolumeManager({
    client,
    clock,
    rootDir,
    rng: systemRng(),
    logger: silentLogger,
    tokens: new TokenManager(client, clock),
    csi: { tearDown: () => Promise.resolve() } as never,
    ...{ recorder: unused, exec: unused, downward: unused, snapshots: unused, direct: unused },
  });
});
afterEach(async () => {
  manager.close();
  await rm(rootDir, { recursive: true });
});

const uses = (name: string): Container[] => [{ name: 'app', image: 'x', volumeMounts: [{ name, mountPath: '/data' }] }];
const claimed = (containers: Container[], more: object = {}): Pod => ({
  metadata: { name: 'web', namespace: 'shop', uid: 'u' },
  spec: { containers, volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' }, ...more }] },
});
const bind = (spec: object, metadata: object = {}): void => {
  api.put('persistentvolumeclaims', {
    metadata: { name: 'data', namespace: 'shop', uid: 'c', ...metadata },
    spec: { volumeName: 'pv' },
    status: { phase: 'Bound' },
  } as never);
  const claimRef = { namespace: 'shop', name: 'data', uid: 'c' };
  api.put('persistentvolumes', { metadata: { name: 'pv' }, spec: { claimRef, ...spec } } as never);
};

it('makes the volumes that containers use, and no others', async () => {
  await manager.mount({
    metadata: { name: 'web', namespace: 'shop', uid: 'u' },
    spec: {
      containers: uses('used'),
      volumes: [
        { name: 'used', emptyDir: {} },
        { name: 'unused', secret: { secretName: 'nobody-has-it' } },
      ],
    },
  });
  expect([...manager.mounted('u').keys()]).toEqual(['used']);
  expect(await readdir(join(rootDir, 'pods/u/volumes'))).toEqual(['kubernetes.io~empty-dir']);
  await manager.unmount('u');
});

it('refuses a file system for a device, and the other way round', async () => {
  bind({ local: { path: rootDir } });
  const asDevice: Container[] = [{ name: 'app', image: 'x', volumeDevices: [{ name: 'data', devicePath: '/dev/data' }] }];
  await expect(manager.mount(claimed(asDevice))).rejects.toThrow(
    'volume data has volumeMode Filesystem, but is specified in volumeDevices',
  );
  bind({ local: { path: rootDir }, volumeMode: 'Block' });
  await expect(manager.mount(claimed(uses('data')))).rejects.toThrow(
    'volume data has volumeMode Block, but is specified in volumeMounts',
  );
  await expect(manager.mount(claimed(asDevice))).rejects.toThrow(`${rootDir} is not a block device`);
  bind({ hostPath: { path: rootDir }, volumeMode: 'Block' });
  await expect(manager.mount(claimed(asDevice))).rejects.toThrow('of a kind that cannot be a block device');
});

it('gives a pod no claim that was made for another one', async () => {
  const ephemeral = claimed(uses('data'), { persistentVolumeClaim: undefined, ephemeral: {} });
  const metadata = { name: 'web-data', namespace: 'shop', uid: 'c' };
  const other = { ...metadata, ownerReferences: [{ kind: 'Pod', uid: 'other', controller: true }] };
  const put = (own: object): void =>
    api.put('persistentvolumeclaims', { metadata: own, spec: { volumeName: 'pv' }, status: { phase: 'Bound' } } as never);
  bind({ local: { path: rootDir } });
  put(other);
  await expect(manager.mount(ephemeral)).rejects.toThrow('PVC shop/web-data was not created for pod shop/web (pod is not owner)');
  put({ ...metadata, ownerReferences: [{ kind: 'Pod', uid: 'u', controller: true }] });
  await manager.mount(ephemeral);
  expect(manager.mounted('u').get('data')).toMatchObject({ hostPath: rootDir, claim: { namespace: 'shop', name: 'data' } });
});
