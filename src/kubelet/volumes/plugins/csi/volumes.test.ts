import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PersistentVolume, Pod } from '#api/core/v1';
import { createClient } from '#client';
import type { CsiDrivers } from '../../../csi/index.ts';
import { NodeState } from '../../../node/state.ts';
import { FakeApi } from '../../../test-support/fake-api.ts';
import { ManualClock } from '../../../test-support/manual-clock.ts';
import { attachmentName, ephemeralHandle, placesOf, uniqueName } from './places.ts';
import { capabilityOf, changesOwner, contextOf, inlineVolumeOf, persistentVolumeOf } from './requests.ts';
import { CsiVolumes } from './volumes.ts';

const driver = 'disk.example.com';
const unique = uniqueName(driver, 'vol-1');
const pod = (uid: string): Pod => ({
  metadata: { name: `pod-${uid}`, namespace: 'shop', uid },
  spec: { containers: [], serviceAccountName: 'seller' },
});
const persistent: PersistentVolume = {
  metadata: { name: 'pv-1' },
  spec: {
    accessModes: ['ReadWriteOnce'],
    csi: { driver, volumeHandle: 'vol-1', fsType: 'ext4', volumeAttributes: { kind: 'fast' } },
    mountOptions: ['noatime'],
  },
};
const can = { stages: true, expands: true, measures: true, singleNodeModes: false, mountGroup: false };

let rootDir: string;
let api: FakeApi;
let clock: ManualClock;
let state: NodeState;
let calls: string[];
let failing: string;
let csi: CsiVolumes;
const seen = new Map<string, Record<string, unknown>>();

beforeEach(async () => {
  rootDir = await mkdtemp(join(tmpdir(), 'sagong-csi-volumes-'));
  api = new FakeApi();
  clock = new ManualClock();
  state = new NodeState({ nodeIPs: [], ownIPs: [] });
  state.reportBy(() => {
    const volumesInUse = [...state.volumesInUse];
    state.learnNode({ metadata: { name: 'node-1', uid: 'n' }, status: { ...state.node?.status, volumesInUse } });
    return Promise.resolve();
  });
  calls = [];
  failing = '';
  const answer = (name: string) => (request: Record<string, unknown>) => {
    calls.push(name);
    seen.set(name, request);
    return failing === name ? Promise.reject(new Error(`${name} failed`)) : Promise.resolve();
  };
  const names = ['stage', 'unstage', 'publish', 'unpublish', 'expand', 'stats'];
  const fake = { capabilities: () => Promise.resolve(can), ...Object.fromEntries(names.map((name) => [name, answer(name)])) };
  csi = new CsiVolumes({
    client: createClient(api),
    clock,
    nodeName: 'node-1',
    rootDir,
    state,
    drivers: { get: () => fake } as unknown as CsiDrivers,
    tokens: {
      issue: (_: Pod, audience: string) =>
        Promise.resolve({ token: `for ${audience}`, expiresAtMs: Date.UTC(2026, 0), issuedAtMs: 0 }),
    } as never,
    direct: {} as never,
  });
  api.put('csidrivers', { metadata: { name: driver }, spec: { attachRequired: false, podInfoOnMount: true } } as never);
});
afterEach(() => rm(rootDir, { recursive: true, force: true }));

const at = (uid: string, block = false) => placesOf(rootDir, uid, { name: 'pv-1', driver, handle: 'vol-1', block });
const setUp = (uid: string): Promise<unknown> => csi.setUp(pod(uid), persistentVolumeOf(persistent, false));

describe('a volume of a CSI driver', () => {
  it('is staged for the node and published to each pod, and unstaged after the last of them', async () => {
    await setUp('a');
    await setUp('b');
    expect(calls).toEqual(['stage', 'publish', 'stage', 'publish']);
    expect(seen.get('publish')).toMatchObject({
      volumeId: 'vol-1',
      stagingTargetPath: at('b').staging,
      targetPath: at('b').target,
      volumeContext: { kind: 'fast', 'csi.storage.k8s.io/pod.name': 'pod-b', 'csi.storage.k8s.io/ephemeral': 'false' },
      volumeCapability: { mount: { fsType: 'ext4', mountFlags: ['noatime'] }, accessMode: { mode: 'SINGLE_NODE_WRITER' } },
    });
    calls.length = 0;
    await csi.tearDown('a');
    expect(calls).toEqual(['unpublish']);
    await csi.tearDown('b');
    expect(calls).toEqual(['unpublish', 'unpublish', 'unstage']);
    await csi.tearDown('b');
    expect(calls).toHaveLength(3);
  });
  it('keeps what is known of it as long as its driver fails', async () => {
    await setUp('a');
    for (const step of ['unpublish', 'unstage']) {
      failing = step;
      await expect(csi.tearDown('a')).rejects.toThrow(`${step} failed`);
      expect(await readdir(at('a').ofPod)).toContain('vol_data.json');
    }
    failing = '';
    await csi.tearDown('a');
    expect(await readdir(at('a').ofPod)).toEqual([]);
  });
  it('is never emptied, whatever its driver says', async () => {
    await setUp('a');
    const target = at('a').target;
    const { mkdir } = await import('node:fs/promises');
    await mkdir(target);
    await writeFile(join(target, 'precious'), '');
    await csi.tearDown('a');
    expect(existsSync(join(target, 'precious'))).toBe(true);
  });
  it('waits until it is attached, and is not detached while it is used', async () => {
    api.put('csidrivers', { metadata: { name: driver }, spec: {} } as never);
    const attachment = { attached: true, attachmentMetadata: { device: '/dev/x' } };
    const spec = { attacher: driver, nodeName: 'node-1', source: { persistentVolumeName: 'pv-1' } };
    api.put('volumeattachments', {
      metadata: { name: attachmentName('vol-1', driver, 'node-1') },
      spec,
      status: attachment,
    } as never);
    const mounted = setUp('a');
    await expect.poll(() => state.node?.status?.volumesInUse).toEqual([unique]);
    expect(calls).toEqual([]);
    state.learnNode({
      metadata: { name: 'node-1', uid: 'n' },
      status: { volumesInUse: [unique], volumesAttached: [{ name: unique, devicePath: '' }] },
    });
    await mounted;
    expect(seen.get('stage')).toMatchObject({ publishContext: { device: '/dev/x' } });
    const next = new NodeState({ nodeIPs: [], ownIPs: [] });
    await new CsiVolumes({ rootDir, state: next } as never).start();
    expect([...next.volumesInUse]).toEqual([unique]);
    await csi.tearDown('a');
    expect([state.volumesInUse.size, state.node?.status?.volumesInUse]).toEqual([0, []]);
  });
  it.each(['it never was attached', 'it could not be staged'])(
    'is not in use by a pod that goes before it is mounted: %s',
    async (why) => {
      api.put('csidrivers', { metadata: { name: driver }, spec: {} } as never);
      const metadata = { name: attachmentName('vol-1', driver, 'node-1') };
      api.put('volumeattachments', { metadata, spec: {}, status: { attached: true } } as never);
      const isAttached = why.includes('staged');
      const volumesAttached = isAttached ? [{ name: unique, devicePath: '' }] : [];
      state.learnNode({ metadata: { name: 'node-1', uid: 'n' }, status: { volumesAttached } });
      failing = 'stage';
      for (const uid of ['a', 'b']) {
        const failed = expect(setUp(uid)).rejects.toThrow(isAttached ? 'stage failed' : 'Volume not attached');
        await clock.advance(isAttached ? 0 : 30_000);
        await failed;
      }
      await csi.tearDown('a');
      expect(state.node?.status?.volumesInUse).toEqual([unique]);
      await csi.tearDown('b');
      expect([state.volumesInUse.size, state.node?.status?.volumesInUse]).toEqual([0, []]);
    },
  );
  it('is a device where it is to be one, with a link for each pod', async () => {
    const device = persistentVolumeOf({ ...persistent, spec: { ...persistent.spec, volumeMode: 'Block' } }, false);
    expect(await csi.setUp(pod('a'), device)).toMatchObject({ hostPath: at('a', true).ofPod, block: true });
    await csi.setUp(pod('b'), device);
    const { target, staging } = at('b', true);
    expect(seen.get('publish')).toMatchObject({
      targetPath: target,
      stagingTargetPath: staging,
      volumeCapability: { block: {} },
    });
    expect(await readlink(at('b', true).ofPod)).toBe(target);
    calls.length = 0;
    await csi.tearDown('a');
    expect(calls).toEqual(['unpublish']);
    failing = 'unstage';
    await expect(csi.tearDown('b')).rejects.toThrow('unstage failed');
    failing = '';
    await csi.tearDown('b');
    expect(calls).toEqual(['unpublish', 'unpublish', 'unstage', 'unpublish', 'unstage']);
    const left = await readdir(join(rootDir, 'plugins/kubernetes.io/csi/volumeDevices'), { recursive: true });
    expect(left.sort()).toEqual(['publish', 'staging']);
    expect(existsSync(at('b', true).ofPod)).toBe(false);
  });
  it('is published again where its driver wants that, and only there', async () => {
    await setUp('a');
    const volume = persistentVolumeOf(persistent, false);
    await csi.republish(pod('a'), volume);
    expect(calls).toEqual(['stage', 'publish']);
    api.put('csidrivers', { metadata: { name: driver }, spec: { attachRequired: false, requiresRepublish: true } } as never);
    await csi.republish(pod('a'), volume);
    expect(calls).toEqual(['stage', 'publish', 'publish']);
  });
  it.each([
    [false, 'volumeContext', 'secrets'],
    [true, 'secrets', 'volumeContext'],
  ])('comes with tokens of the pod where its driver wants them (among secrets: %s)', async (inSecrets, there, elsewhere) => {
    const spec = { attachRequired: false, tokenRequests: [{ audience: 'vault' }], serviceAccountTokenInSecrets: inSecrets };
    api.put('csidrivers', { metadata: { name: driver }, spec } as never);
    await setUp('a');
    const name = 'csi.storage.k8s.io/serviceAccount.tokens';
    const request = seen.get('publish') as Record<string, Record<string, string>>;
    expect(JSON.parse(request[there]?.[name] ?? '')).toEqual({
      vault: { token: 'for vault', expirationTimestamp: '2026-01-01T00:00:00.000Z' },
    });
    expect(request[elsewhere]).not.toHaveProperty([name]);
  });
  it('is measured by its driver, once in a while', async () => {
    const mounted = await csi.setUp(pod('a'), persistentVolumeOf(persistent, false));
    await mounted.stats?.();
    await mounted.stats?.();
    expect(calls).toEqual(['stage', 'publish', 'stats']);
    expect(seen.get('stats')).toMatchObject({ volumeId: 'vol-1', volumePath: at('a').target });
    await clock.advance(60_000);
    await mounted.stats?.();
    expect(calls).toEqual(['stage', 'publish', 'stats', 'stats']);
  });
  it('of a pod alone is published only, where its driver serves such', async () => {
    const inline = inlineVolumeOf(pod('a'), 'scratch', ephemeralHandle('a', 'scratch'), { driver });
    await expect(csi.setUp(pod('a'), inline)).rejects.toThrow(
      'volume mode "Ephemeral" not supported by driver disk.example.com (only supports ["Persistent"])',
    );
    const spec = { podInfoOnMount: true, volumeLifecycleModes: ['Ephemeral'] };
    api.put('csidrivers', { metadata: { name: driver }, spec } as never);
    await csi.setUp(pod('a'), inline);
    expect(calls).toEqual(['publish']);
    expect(seen.get('publish')).toMatchObject({
      volumeContext: { 'csi.storage.k8s.io/ephemeral': 'true' },
      stagingTargetPath: '',
    });
    await csi.tearDown('a');
    expect(calls).toEqual(['publish', 'unpublish']);
  });
});

describe('what a driver is told', () => {
  const volume = persistentVolumeOf(persistent, false);
  const policy = (fsGroupPolicy: string) => ({ metadata: { name: driver }, spec: { fsGroupPolicy } });
  it('gives files to the group as its policy says', () => {
    const readOnly = { ...volume, readOnly: true };
    expect([
      changesOwner(volume, undefined, can),
      changesOwner(readOnly, undefined, can),
      changesOwner({ ...volume, fsType: '' }, undefined, can),
      changesOwner({ ...volume, accessModes: ['ReadWriteMany'] }, undefined, can),
      changesOwner(volume, policy('None'), can),
      changesOwner({ ...volume, fsType: '' }, policy('File'), can),
      changesOwner(volume, policy('File'), { ...can, mountGroup: true }),
    ]).toEqual([true, false, false, false, false, true, false]);
  });
  it('names the access mode as far as the driver knows it', () => {
    const modes = ['ReadWriteOnce', 'ReadWriteOncePod', 'ReadOnlyMany', 'ReadWriteMany'].map((mode) =>
      [false, true].map(
        (singleNodeModes) =>
          capabilityOf({ ...volume, accessModes: [mode] }, pod('a'), { ...can, singleNodeModes }).accessMode.mode,
      ),
    );
    expect(modes).toEqual([
      ['SINGLE_NODE_WRITER', 'SINGLE_NODE_MULTI_WRITER'],
      ['SINGLE_NODE_WRITER', 'SINGLE_NODE_SINGLE_WRITER'],
      ['MULTI_NODE_READER_ONLY', 'MULTI_NODE_READER_ONLY'],
      ['MULTI_NODE_MULTI_WRITER', 'MULTI_NODE_MULTI_WRITER'],
    ]);
  });
  it('says nothing of the pod unless it is asked', () => {
    expect(contextOf(volume, pod('a'), undefined)).toEqual({ kind: 'fast' });
  });
  it('says that a volume is a device, which belongs to no group', () => {
    const block = persistentVolumeOf({ ...persistent, spec: { ...persistent.spec, volumeMode: 'Block' } }, false);
    expect(capabilityOf(block, pod('a'), can)).toEqual({ block: {}, accessMode: { mode: 'SINGLE_NODE_WRITER' } });
    expect(changesOwner(block, policy('File'), can)).toBe(false);
  });
});
