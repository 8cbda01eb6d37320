// The same story of devices told to upstream's scheduler and claim loop and to ours, on our apiserver: both must make the same claims, give them the
// same devices, tell pods the same, and take back the same. The test plays the drivers and the kubelets.
import { describe, expect, it } from 'vitest';
import { eventually } from '../../e2e/cluster/harness.ts';
import { Api, type Item } from './api.ts';
import { hasUpstream, type Maker, World } from './world.ts';

const core = '/api/v1';
const work = `${core}/namespaces/work`;
const resource = '/apis/resource.k8s.io/v1';
const claimsPath = `${resource}/namespaces/work/resourceclaims`;
const driver = 'dev.example.com';
const patienceMs = 60_000;

interface Claim extends Item {
  status?: {
    allocation?: { devices: { results: Record<string, unknown>[] }; allocationTimestamp?: string };
    reservedFor?: { name: string }[];
  };
}

const attributes = (numa: number, model = 'small'): object => ({
  numa: { int: numa },
  model: { string: model },
  firmware: { version: '1.2.3' },
});
const memory = (value: string): object => ({ memory: { value } });
const sharable = { memory: { value: '10Gi', requestPolicy: { default: '1Gi', validRange: { min: '1Gi', step: '1Gi' } } } };
const part = (name: string, value: string): object => ({
  name,
  consumesCounters: [{ counterSet: 'card', counters: { slots: { value } } }],
});

/** Slices by name; each pool is a kind of device that its class chooses. */
const slices: Record<string, object> = {
  'a-cards': {
    nodeName: 'a',
    pool: { name: 'cards', generation: 1, resourceSliceCount: 1 },
    devices: [
      { name: 'card-0', attributes: attributes(0), capacity: memory('1Gi') },
      { name: 'card-1', attributes: attributes(1, 'large'), capacity: memory('20Gi') },
      { name: 'card-2', attributes: attributes(1), capacity: memory('1Gi') },
    ],
  },
  'b-sick': {
    nodeName: 'b',
    pool: { name: 'sick', generation: 1, resourceSliceCount: 1 },
    devices: [
      {
        name: 'sick-0',
        attributes: attributes(0, 'sick'),
        taints: [{ key: 'example.com/sick', value: 'yes', effect: 'NoSchedule' }],
      },
    ],
  },
  'b-counters': {
    nodeName: 'b',
    pool: { name: 'parts', generation: 1, resourceSliceCount: 2 },
    sharedCounters: [{ name: 'card', counters: { slots: { value: '2' } } }],
  },
  'b-parts': {
    nodeName: 'b',
    pool: { name: 'parts', generation: 1, resourceSliceCount: 2 },
    devices: ['2', '1', '1'].map((slots, index) => ({ ...part(`part-${index}`, slots), attributes: attributes(0, 'part') })),
  },
  wide: {
    nodeSelector: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['z'] }] }] },
    pool: { name: 'wide', generation: 1, resourceSliceCount: 1 },
    devices: [{ name: 'wide-0', attributes: attributes(0, 'shared'), capacity: sharable, allowMultipleAllocations: true }],
  },
  unfinished: {
    allNodes: true,
    pool: { name: 'unfinished', generation: 1, resourceSliceCount: 2 },
    devices: [{ name: 'never', attributes: attributes(0, 'never') }],
  },
};

const model = (name: string): object => ({
  selectors: [{ cel: { expression: `device.attributes['${driver}'].model == '${name}'` } }],
});
const classes: Record<string, object> = {
  any: {},
  cards: {
    selectors: [
      { cel: { expression: `device.driver == '${driver}' && device.attributes['${driver}'].model in ['small', 'large']` } },
    ],
  },
  large: {
    selectors: [{ cel: { expression: `device.capacity['${driver}'].memory.isGreaterThan(quantity('10Gi'))` } }],
    config: [{ opaque: { driver, parameters: { mode: 'large' } } }],
  },
  sick: model('sick'),
  parts: model('part'),
  shared: model('shared'),
  never: model('never'),
  broken: { selectors: [{ cel: { expression: `device.attributes['${driver}'].absent == 1` } }] },
  versioned: { selectors: [{ cel: { expression: `device.attributes['${driver}'].firmware.isGreaterThan(semver('2.0.0'))` } }] },
};
const exactly = (deviceClassName: string, more: object = {}, name = 'r'): object => ({
  name,
  exactly: { deviceClassName, ...more },
});

/** What pods ask for, in this order; each is decided before the next one comes. `leaves`: pods that are removed before. */
const pods: { name: string; devices: object; leaves?: string[] }[] = [
  {
    name: 'one',
    devices: { requests: [exactly('cards')], config: [{ requests: ['r'], opaque: { driver, parameters: { own: 1 } } }] },
  },
  { name: 'large', devices: { requests: [exactly('large')] } },
  {
    name: 'second-choice',
    devices: {
      requests: [
        {
          name: 'r',
          firstAvailable: [
            { name: 'big', deviceClassName: 'large' },
            { name: 'any', deviceClassName: 'cards' },
          ],
        },
      ],
    },
  },
  { name: 'too-many', devices: { requests: [exactly('cards', { count: 2 })] } },
  {
    name: 'alike',
    leaves: ['one', 'large', 'second-choice', 'too-many'],
    devices: { requests: [exactly('cards', { count: 2 })], constraints: [{ matchAttribute: `${driver}/numa` }] },
  },
  {
    name: 'two-requests',
    leaves: ['alike'],
    devices: {
      requests: [exactly('cards', {}, 'first'), exactly('large', {}, 'second')],
      constraints: [{ requests: ['first', 'second'], distinctAttribute: `${driver}/numa` }],
    },
  },
  { name: 'all', leaves: ['two-requests'], devices: { requests: [exactly('cards', { allocationMode: 'All' })] } },
  { name: 'afraid', devices: { requests: [exactly('sick')] } },
  { name: 'brave', devices: { requests: [exactly('sick', { tolerations: [{ key: 'example.com/sick', operator: 'Exists' }] })] } },
  { name: 'half', devices: { requests: [exactly('parts', { selectors: [{ cel: { expression: 'true' } }], count: 2 })] } },
  { name: 'no-half', devices: { requests: [exactly('parts')] } },
  { name: 'share-1', devices: { requests: [exactly('shared', { capacity: { requests: { memory: '5500Mi' } } })] } },
  { name: 'share-2', devices: { requests: [exactly('shared', { capacity: { requests: { memory: '4Gi' } } })] } },
  { name: 'share-3', devices: { requests: [exactly('shared', { capacity: { requests: { memory: '1Gi' } } })] } },
  { name: 'never', devices: { requests: [exactly('never')] } },
  { name: 'versioned', devices: { requests: [exactly('versioned')] } },
  { name: 'classless', devices: { requests: [exactly('gone')] } },
  { name: 'administrator', devices: { requests: [exactly('cards', { adminAccess: true })] } },
  { name: 'broken', devices: { requests: [exactly('broken')] } },
];

interface Heard {
  claims: unknown[];
  pods: unknown[];
}

async function prepare(api: Api): Promise<void> {
  await api.create(`${core}/namespaces`, {
    metadata: { name: 'work', labels: { 'resource.kubernetes.io/admin-access': 'true' } },
  });
  await api.create(`${work}/serviceaccounts`, { metadata: { name: 'default' } });
  for (const name of ['a', 'b', 'c']) {
    await api.create(`${core}/nodes`, { metadata: { name, labels: name === 'c' ? { zone: 'z' } : {} } });
    const allocatable = { cpu: '8', memory: '8Gi', pods: '110' };
    await api.patch(`${core}/nodes/${name}/status`, {
      status: { allocatable, capacity: allocatable, conditions: [{ type: 'Ready', status: 'True' }] },
    });
  }
  for (const [name, spec] of Object.entries(classes)) await api.create(`${resource}/deviceclasses`, { metadata: { name }, spec });
  for (const [name, spec] of Object.entries(slices))
    await api.create(`${resource}/resourceslices`, { metadata: { name }, spec: { driver, ...spec } });
}

const conditionOf = (pod: Item): Record<string, unknown> | undefined =>
  ((pod.status?.['conditions'] ?? []) as Record<string, unknown>[]).find(({ type }) => type === 'PodScheduled');

async function remove(api: Api, name: string): Promise<void> {
  await api.call('DELETE', `${work}/pods/${name}`, { gracePeriodSeconds: 0 });
  await eventually(
    `the claim of ${name} is gone`,
    async () => !(await api.list(claimsPath)).some(({ metadata }) => metadata.name.startsWith(`${name}-d-`)),
    patienceMs,
  );
}

async function ask(api: Api, name: string, devices: object): Promise<void> {
  await api.create(`${resource}/namespaces/work/resourceclaimtemplates`, {
    metadata: { name },
    spec: { metadata: { labels: { of: name } }, spec: { devices } },
  });
  await api.create(`${work}/pods`, {
    metadata: { name },
    spec: {
      containers: [{ name: 'c', image: 'example.org/c:1', resources: { claims: [{ name: 'd' }] } }],
      resourceClaims: [{ name: 'd', resourceClaimTemplateName: name }],
    },
  });
  const isDecided = async (): Promise<boolean> => {
    const condition = conditionOf(await api.get(`${work}/pods/${name}`));
    return (
      condition?.['status'] === 'True' ||
      (typeof condition?.['message'] === 'string' && !condition['message'].includes('not created yet'))
    );
  };
  await eventually(`${name} is decided`, isDecided, patienceMs);
}

/** A claim without what differs from run to run. */
function shown({ metadata, spec, status = {} }: Claim): unknown {
  const { allocationTimestamp, ...allocation } = status.allocation ?? { devices: { results: [] } };
  const results = allocation.devices.results.map(({ shareID, ...result }) => ({ ...result, isShared: shareID !== undefined }));
  return {
    for: metadata.name.replace(/-.{5}$/, ''),
    labels: metadata.labels,
    owners: metadata.ownerReferences?.map(({ kind, name }) => `${kind}/${name}`),
    finalizers: metadata['finalizers' as 'name'],
    spec,
    isDated: allocationTimestamp !== undefined,
    allocation: { ...allocation, devices: { ...allocation.devices, results } },
    users: status.reservedFor?.map(({ name }) => name),
  };
}

async function hear(maker: Maker): Promise<Heard> {
  const world = await World.create();
  try {
    const api = await world.startApiServer('sagong');
    await prepare(api);
    await world.startControllerManager(maker, api, ['--controllers=resourceclaim-controller,garbage-collector-controller']);
    await world.startScheduler(maker, api);
    for (const { name, devices, leaves = [] } of pods) {
      for (const one of leaves) await remove(api, one);
      await ask(api, name, devices);
    }
    const claims = ((await api.list(claimsPath)) as Claim[])
      .map(shown)
      .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    const told = (await api.list(`${work}/pods`)).map((pod) => {
      const { status, reason, message } = conditionOf(pod) ?? {};
      return { name: pod.metadata.name, node: pod.spec?.['nodeName'], status, reason, message };
    });
    return { claims, pods: told };
  } catch (error) {
    throw new Error(
      `${maker}: ${String(error)}\n${world.log('kube-scheduler').slice(-3000)}\n${world.log('kube-controller-manager').slice(-1000)}`,
    );
  } finally {
    await world.stop();
  }
}

const canRun = hasUpstream('kube-controller-manager') && hasUpstream('kube-scheduler');
const without = canRun ? '' : '(needs SAGONG_UPSTREAM_BIN, see build.sh)';

describe.skipIf(!canRun)(`devices by upstream's scheduler and claim loop and by ours ${without}`, () => {
  it('go to the same pods, for the same reasons', async () => {
    const upstream = await hear('upstream');
    const ours = await hear('sagong');
    expect(ours.pods).toEqual(upstream.pods);
    expect(ours.claims).toEqual(upstream.claims);
    expect(upstream.pods.length).toBeGreaterThan(10);
  });
});
