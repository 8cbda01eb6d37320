// What claims get on a node, as upstream's allocator gives it: cases by feature, and searches that would never end.
import { describe, expect, it } from 'vitest';
import type { Node } from '#api/core/v1';
import type { AllocationResult, Device, DeviceClaim, DeviceClass, ResourceClaim, ResourceSlice } from '#api/resource/v1';
import { seededRng } from '#utils';
import { AllocationError, allocatorFor, inUseOf, TooManyTries } from './index.ts';

const driver = 'driver.example.com';
const node: Node = { metadata: { name: 'here', labels: { zone: 'a' } } };

const classes: Record<string, DeviceClass['spec']> = {
  any: {},
  big: {
    selectors: [{ cel: { expression: `device.capacity['${driver}'].memory.compareTo(quantity('10Gi')) >= 0` } }],
    config: [{ opaque: { driver, parameters: { mode: 'big' } } }],
  },
  broken: { selectors: [{ cel: { expression: `device.attributes['${driver}'].missing == 1` } }] },
};

let slices = 0;
const slice = (devices: Device[], spec: Partial<ResourceSlice['spec']> = {}): ResourceSlice => ({
  metadata: { name: `slice-${slices++}` },
  spec: { driver, pool: { name: 'pool', generation: 1, resourceSliceCount: 1 }, allNodes: true, devices, ...spec },
});
const claim = (devices: DeviceClaim, status?: ResourceClaim['status'], name = 'c'): ResourceClaim => ({
  metadata: { name, namespace: 'default' },
  spec: { devices },
  ...(status && { status }),
});
const asking = (exactly: object = {}, name = 'r'): NonNullable<DeviceClaim['requests']>[number] => ({
  name,
  exactly: { deviceClassName: 'any', allocationMode: 'ExactCount', count: 1, ...exactly },
});
const given = (...results: object[]): ResourceClaim =>
  claim({}, {
    allocation: { devices: { results: results.map((one) => ({ request: 'r', driver, pool: 'pool', ...one })) } },
  } as never);

function allocate(
  published: ResourceSlice[],
  claims: ResourceClaim[],
  others: ResourceClaim[] = [],
): readonly AllocationResult[] | undefined {
  const spec = (name: string) => (Object.hasOwn(classes, name) ? classes[name] : undefined);
  const world = {
    slices: published,
    inUse: inUseOf(others),
    classes: (name: string) => spec(name) && { metadata: { name }, spec: spec(name) as DeviceClass['spec'] },
    rng: seededRng(1),
  };
  return allocatorFor(claims, world).allocate(node);
}
const names = (results: readonly AllocationResult[] | undefined): string[] | undefined =>
  results?.flatMap(({ devices }) => (devices?.results ?? []).map(({ request, device }) => `${request}=${device}`));

const memory = (value: string): Device['capacity'] => ({ memory: { value } });
const numa = (name: string, node_: number): Device => ({ name, attributes: { numa: { int: node_ } } });

describe('devices are chosen', () => {
  it('by class and request, in the order of slices, and not twice', () => {
    const published = [
      slice([
        { name: 'small', capacity: memory('1Gi') },
        { name: 'large', capacity: memory('20Gi') },
      ]),
    ];
    expect(names(allocate(published, [claim({ requests: [asking({ deviceClassName: 'big' })] })]))).toEqual(['r=large']);
    expect(names(allocate(published, [claim({ requests: [asking({ count: 2 })] })]))).toEqual(['r=small', 'r=large']);
    expect(allocate(published, [claim({ requests: [asking({ count: 3 })] })])).toBeUndefined();
    expect(names(allocate(published, [claim({ requests: [asking()] })], [given({ device: 'small' })]))).toEqual(['r=large']);
    expect(
      names(allocate(published, [claim({ requests: [asking({ adminAccess: true })] })], [given({ device: 'small' })])),
    ).toEqual(['r=small']);
  });

  it('going back where the first choice leads nowhere', () => {
    const published = [
      slice([
        { name: 'large', capacity: memory('20Gi') },
        { name: 'small', capacity: memory('1Gi') },
      ]),
    ];
    const requests = [asking({}, 'first'), asking({ deviceClassName: 'big' }, 'second')];
    expect(names(allocate(published, [claim({ requests })]))).toEqual(['first=small', 'second=large']);
    const two = requests.map((request, index) => claim({ requests: [request] }, undefined, `c${index}`));
    expect(names(allocate(published, two))).toEqual(['first=small', 'second=large']);
  });

  it('all of them, if each can be had', () => {
    const published = [slice([{ name: 'a' }, { name: 'b' }])];
    const all = claim({ requests: [asking({ allocationMode: 'All', count: undefined })] });
    expect(names(allocate(published, [all]))).toEqual(['r=a', 'r=b']);
    expect(allocate(published, [all], [given({ device: 'b' })])).toBeUndefined();
    expect(allocate([], [all])).toBeUndefined();
  });

  it('by the first alternative that can be had', () => {
    const published = [slice([{ name: 'small', capacity: memory('1Gi') }])];
    const firstAvailable = [
      { name: 'big', deviceClassName: 'big' },
      { name: 'any', deviceClassName: 'any' },
    ];
    const [result] = allocate(published, [claim({ requests: [{ name: 'r', firstAvailable }] })]) ?? [];
    expect(names(result && [result])).toEqual(['r/any=small']);
  });

  it('with an attribute in common, or with different ones', () => {
    const published = [slice([numa('a', 0), numa('b', 1), numa('c', 1)])];
    const requests = [asking({ count: 2 })];
    const attribute = `${driver}/numa`;
    expect(names(allocate(published, [claim({ requests, constraints: [{ matchAttribute: attribute }] })]))).toEqual([
      'r=b',
      'r=c',
    ]);
    expect(names(allocate(published, [claim({ requests, constraints: [{ distinctAttribute: attribute }] })]))).toEqual([
      'r=a',
      'r=b',
    ]);
    expect(
      allocate(published, [claim({ requests, constraints: [{ matchAttribute: 'other.example.com/numa' }] })]),
    ).toBeUndefined();
  });
});

describe('devices stay away', () => {
  it('while a taint that the request does not tolerate is on them', () => {
    const published = [slice([{ name: 'a', taints: [{ key: 'sick', value: 'yes', effect: 'NoSchedule' }] }])];
    const tolerations = [{ key: 'sick', operator: 'Exists' }];
    expect(allocate(published, [claim({ requests: [asking()] })])).toBeUndefined();
    expect(names(allocate(published, [claim({ requests: [asking({ tolerations })] })]))).toEqual(['r=a']);
  });

  it('of pools that are not whole, or contradict themselves, and of generations that were replaced', () => {
    const requests = [asking()];
    expect(
      allocate([slice([{ name: 'a' }], { pool: { name: 'p', generation: 1, resourceSliceCount: 2 } })], [claim({ requests })]),
    ).toBeUndefined();
    const twice = { pool: { name: 'p', generation: 1, resourceSliceCount: 2 } };
    expect(allocate([slice([{ name: 'a' }], twice), slice([{ name: 'a' }], twice)], [claim({ requests })])).toBeUndefined();
    const newer = { pool: { name: 'pool', generation: 2, resourceSliceCount: 1 } };
    expect(names(allocate([slice([{ name: 'old' }]), slice([{ name: 'new' }], newer)], [claim({ requests })]))).toEqual([
      'r=new',
    ]);
  });

  it('of other nodes', () => {
    const elsewhere = { allNodes: false, nodeName: 'there' };
    expect(allocate([slice([{ name: 'a' }], elsewhere)], [claim({ requests: [asking()] })])).toBeUndefined();
    const perDevice = { allNodes: false, perDeviceNodeSelection: true };
    const devices = [
      { name: 'a', nodeName: 'there' },
      { name: 'b', nodeName: 'here' },
    ];
    expect(names(allocate([slice(devices, perDevice)], [claim({ requests: [asking()] })]))).toEqual(['r=b']);
  });

  it('whose counters others have used up', () => {
    const sharedCounters = [{ name: 'card', counters: { slots: { value: '2' } } }];
    const part = (name: string, value: string): Device => ({
      name,
      consumesCounters: [{ counterSet: 'card', counters: { slots: { value } } }],
    });
    const pool = { name: 'pool', generation: 1, resourceSliceCount: 2 };
    const published = [
      slice([], { pool, sharedCounters, devices: [] }),
      slice([part('whole', '2'), part('half-1', '1'), part('half-2', '1')], { pool }),
    ];
    const two = claim({ requests: [asking({ count: 2 })] });
    expect(names(allocate(published, [two]))).toEqual(['r=half-1', 'r=half-2']);
    expect(names(allocate(published, [claim({ requests: [asking()] })], [given({ device: 'half-1' })]))).toEqual(['r=half-2']);
    expect(allocate(published, [two], [given({ device: 'half-1' })])).toBeUndefined();
  });
});

describe('a device that several may use', () => {
  const capacity = { memory: { value: '10Gi', requestPolicy: { default: '1Gi', validRange: { min: '1Gi', step: '1Gi' } } } };
  const published = [slice([{ name: 'a', allowMultipleAllocations: true, capacity }])];
  const wanting = (amount: string, count = 1): ResourceClaim =>
    claim({ requests: [asking({ count, capacity: { requests: { memory: amount } } })] });
  const taken = (amount: string): ResourceClaim => given({ device: 'a', shareID: 'one', consumedCapacity: { memory: amount } });

  it('gives each what it asks for, rounded up, as long as there is some', () => {
    const [result] = allocate(published, [wanting('1500Mi')], [taken('8Gi')]) ?? [];
    expect(result?.devices?.results).toEqual([
      { request: 'r', driver, pool: 'pool', device: 'a', shareID: expect.any(String), consumedCapacity: { memory: '2Gi' } },
    ]);
    expect(allocate(published, [wanting('1500Mi')], [taken('9Gi')])).toBeUndefined();
    expect(names(allocate(published, [claim({ requests: [asking()] })], [taken('9Gi')]))).toEqual(['r=a']);
  });
});

describe('a claim says', () => {
  it('which nodes can use its devices, and how they are set up', () => {
    const nodeSelector = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }] };
    const published = [slice([{ name: 'a', capacity: memory('20Gi') }], { allNodes: false, nodeSelector })];
    const config = [
      { requests: ['r'], opaque: { driver, parameters: { own: true } } },
      { requests: ['other'], opaque: { driver, parameters: {} } },
    ];
    const [result] = allocate(published, [claim({ requests: [asking({ deviceClassName: 'big' })], config })]) ?? [];
    expect(result?.nodeSelector).toEqual(nodeSelector);
    expect(result?.devices?.config).toEqual([
      { source: 'FromClass', requests: ['r'], opaque: { driver, parameters: { mode: 'big' } } },
      { source: 'FromClaim', requests: ['r'], opaque: { driver, parameters: { own: true } } },
    ]);
  });

  it.each([
    [
      'that an expression fails',
      { deviceClassName: 'broken' },
      /^class broken: selector #0: CEL runtime error: no such key: missing/,
    ],
    [
      'that it asks for too many',
      { count: 33 },
      /^claim default\/c: number of requested devices 33 exceeds the claim limit of 32$/,
    ],
    ['that a class is gone', { deviceClassName: 'gone' }, /could not retrieve device class gone/],
  ])('%s', (_what, exactly, message) => {
    const act = (): unknown => allocate([slice([{ name: 'a' }])], [claim({ requests: [asking(exactly)] })]);
    expect(act).toThrow(AllocationError);
    expect(act).toThrow(message);
  });

  it('that a search has no end', () => {
    const devices = Array.from({ length: 100 }, (_, index) => numa(`d${index}`, index));
    const requests = [asking({ count: 20 })];
    const act = (): unknown =>
      allocate(
        [slice(devices)],
        [
          claim({ requests, constraints: [{ matchAttribute: `${driver}/numa` }] }),
          claim({ requests: [asking({ count: 30 })] }, undefined, 'd'),
        ],
      );
    expect(act()).toBeUndefined();
    const endless = claim({ requests: [asking({ count: 25 }), asking({ deviceClassName: 'big' }, 'never')] });
    expect(() => allocate([slice(devices.map((one) => ({ ...one, capacity: memory('1Gi') })))], [endless])).toThrow(TooManyTries);
  });
});
