import { beforeEach, describe, expect, it } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '#api/core/v1';
import { createClient } from '#client';
import { PluginError } from '../../../csi/index.ts';
import { FakeApi } from '../../../test-support/fake-api.ts';
import { ManualClock } from '../../../test-support/manual-clock.ts';
import { growIfLarger } from './grow.ts';

const pod: Pod = { metadata: { name: 'app', namespace: 'shop', uid: 'a' }, spec: { containers: [], nodeName: 'node-1' } };
const volume = (storage: string): PersistentVolume => ({
  metadata: { name: 'pv-1' },
  spec: {
    capacity: { storage },
    claimRef: { namespace: 'shop', name: 'data' },
    csi: { driver: 'disk.example.com', volumeHandle: 'vol-1' },
  },
});

let api: FakeApi;
let expanded: bigint[];
let events: string[];
let failure: Error | undefined;

beforeEach(() => {
  api = new FakeApi();
  expanded = [];
  events = [];
  failure = undefined;
});

const claim = (status: PersistentVolumeClaim['status']): void => {
  api.put('persistentvolumeclaims', { metadata: { name: 'data', namespace: 'shop' }, status } as never);
};
const statusNow = () => (api.objects.get('persistentvolumeclaims/shop/data') as PersistentVolumeClaim).status;
const grow = (capacity: string, readOnly = false): Promise<void> =>
  growIfLarger(
    {
      client: createClient(api),
      clock: new ManualClock(),
      recorder: { event: ({ kind }: { kind: string }, _: string, reason: string) => events.push(`${kind} ${reason}`) } as never,
      csi: {
        expand: (_: Pod, __: object, bytes: bigint) => {
          expanded.push(bytes);
          return failure ? Promise.reject(failure) : Promise.resolve(true);
        },
      } as never,
    },
    pod,
    volume(capacity),
    readOnly,
  );

describe('a volume that has become larger than its claim says', () => {
  it('grows on the node when the controller has left that to it, and the claim says so', async () => {
    const allocated = { allocatedResources: { storage: '2Gi' }, allocatedResourceStatuses: { storage: 'NodeResizePending' } };
    claim({ phase: 'Bound', capacity: { storage: '1Gi' }, ...allocated });
    await grow('2Gi');
    expect(expanded).toEqual([2147483648n]);
    expect(statusNow()).toMatchObject({ capacity: { storage: '2Gi' }, allocatedResources: { storage: '2Gi' } });
    expect(statusNow()?.allocatedResourceStatuses).toBeUndefined();
    expect(events).toEqual(['Pod FileSystemResizeSuccessful', 'PersistentVolumeClaim FileSystemResizeSuccessful']);
  });
  it('grows for a controller that keeps no account of the steps', async () => {
    claim({ phase: 'Bound', capacity: { storage: '1Gi' } });
    await grow('2Gi');
    expect([expanded, statusNow()?.capacity]).toEqual([[2147483648n], { storage: '2Gi' }]);
  });
  it('is left alone as long as the controller is at it, where it cannot be had, and where it has that size', async () => {
    for (const storage of ['ControllerResizeInProgress', 'NodeResizeInfeasible']) {
      claim({
        phase: 'Bound',
        capacity: { storage: '1Gi' },
        allocatedResources: { storage: '2Gi' },
        allocatedResourceStatuses: { storage },
      });
      await grow('2Gi');
    }
    claim({ phase: 'Bound', capacity: { storage: '2Gi' } });
    await grow('2Gi');
    expect([expanded, events]).toEqual([[], []]);
  });
  it('does not grow where it is for reading only, and that is told', async () => {
    claim({ phase: 'Bound', capacity: { storage: '1Gi' } });
    await grow('2Gi', true);
    expect([expanded, events]).toEqual([[], ['Pod FileSystemResizeFailed', 'PersistentVolumeClaim FileSystemResizeFailed']]);
  });
  it.each<[string, number, string, string[]]>([
    ['can never have that size', 11, 'NodeResizeInfeasible', ['NodeResizeError']],
    ['failed', 13, 'NodeResizeInProgress', ['NodeResizeError']],
    ['may still be growing', 4, 'NodeResizeInProgress', []],
  ])('says why it did not: it %s', async (_, code, storage, conditions) => {
    claim({
      phase: 'Bound',
      capacity: { storage: '1Gi' },
      allocatedResources: { storage: '2Gi' },
      allocatedResourceStatuses: { storage: 'NodeResizePending' },
    });
    failure = new PluginError({ code, details: 'no' });
    await expect(grow('2Gi')).rejects.toThrow('no');
    expect(statusNow()?.allocatedResourceStatuses).toEqual({ storage });
    expect((statusNow()?.conditions ?? []).map(({ type }) => type)).toEqual(conditions);
    expect(events).toEqual(['Pod VolumeResizeFailed', 'PersistentVolumeClaim VolumeResizeFailed']);
  });
  it('is used as it is where it cannot grow while it is used', async () => {
    claim({ phase: 'Bound', capacity: { storage: '1Gi' } });
    failure = new PluginError({ code: 9, details: 'in use' });
    await grow('2Gi');
    expect(statusNow()?.capacity).toEqual({ storage: '1Gi' });
  });
});
