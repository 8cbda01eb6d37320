// Devices from the slices that drivers publish to the pods that ask for them, over the whole cluster: templates make claims, the scheduler gives them
// devices of its nodes, pods run, and what they had goes to others when they are done (KEP-4381).
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Event as CoreEvent, Pod } from '#api/core/v1';
import type { Device, DeviceClaim, DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice } from '#api/resource/v1';
import { startCluster, type TestCluster } from '#testing';

const resource = (name: string) => ({ group: 'resource.k8s.io', version: 'v1', resource: name });
const pods = { group: '', version: 'v1', resource: 'pods' };
const driver = 'gpu.example.com';
const pollMs = 20_000;

let cluster: TestCluster;
let nodeNames: string[];

beforeEach(async () => {
  cluster = await startCluster({ nodes: 2, cloud: false });
  nodeNames = (await cluster.client.resource({ group: '', version: 'v1', resource: 'nodes' }).list()).items.map(
    ({ metadata }) => metadata.name ?? '',
  );
  await cluster.client.resource<DeviceClass>(resource('deviceclasses')).create({
    metadata: { name: 'gpu' },
    spec: { selectors: [{ cel: { expression: `device.driver == '${driver}'` } }] },
  });
});
afterEach(() => cluster.stop());

const publish = (
  nodeName: string | undefined,
  devices: Device[],
  more: Partial<ResourceSlice['spec']> = {},
): Promise<ResourceSlice> => {
  const pool = { name: nodeName ?? 'shared', generation: 1, resourceSliceCount: 1 };
  const spec = { driver, pool, devices, ...(nodeName ? { nodeName } : { allNodes: true }), ...more };
  return cluster.client
    .resource<ResourceSlice>(resource('resourceslices'))
    .create({ metadata: { generateName: 'slice-' }, spec });
};

const template = (name: string, devices: DeviceClaim): Promise<ResourceClaimTemplate> =>
  cluster.client
    .resource<ResourceClaimTemplate>(resource('resourceclaimtemplates'), 'default')
    .create({ metadata: { name, namespace: 'default' }, spec: { spec: { devices } } });

const pod = (name: string, resourceClaimTemplateName: string, spec: Partial<NonNullable<Pod['spec']>> = {}): Promise<Pod> =>
  cluster.client.resource<Pod>(pods, 'default').create({
    metadata: { name, namespace: 'default' },
    spec: {
      containers: [{ name: 'c', image: 'example.org/c:1', resources: { claims: [{ name: 'device' }] } }],
      resourceClaims: [{ name: 'device', resourceClaimTemplateName }],
      ...spec,
    },
  });

const get = (name: string): Promise<Pod> => cluster.client.resource<Pod>(pods, 'default').get(name);
const claims = async (): Promise<ResourceClaim[]> =>
  (await cluster.client.resource<ResourceClaim>(resource('resourceclaims'), 'default').list()).items;
const runs = (name: string) => expect.poll(async () => (await get(name)).status?.phase, { timeout: pollMs }).toBe('Running');
const reason = async (name: string): Promise<string | undefined> =>
  (await get(name)).status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message;
const waitsFor = (name: string, why: RegExp) => expect.poll(() => reason(name), { timeout: pollMs }).toMatch(why);
const warnings = async (): Promise<(string | undefined)[]> =>
  (await cluster.client.resource<CoreEvent>({ group: '', version: 'v1', resource: 'events' }, 'default').list()).items.map(
    ({ message }) => message,
  );
const one = (more: object = {}): DeviceClaim => ({ requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu', ...more } }] });

describe('a pod with a claim', () => {
  it('runs where its device is, and leaves it to the next one', async () => {
    await publish(nodeNames[1], [{ name: 'gpu-0', attributes: { model: { string: 'large' } } }]);
    await template('one', one({ selectors: [{ cel: { expression: `device.attributes['${driver}'].model == 'large'` } }] }));
    await pod('first', 'one');
    await runs('first');
    expect((await get('first')).spec?.nodeName).toBe(nodeNames[1]);
    const [claim] = await claims();
    expect(claim?.metadata.annotations).toMatchObject({ 'resource.kubernetes.io/pod-claim-name': 'device' });
    expect(claim?.metadata.finalizers).toEqual(['resource.kubernetes.io/delete-protection']);
    expect(claim?.status).toMatchObject({
      allocation: {
        devices: { results: [{ request: 'gpu', driver, pool: nodeNames[1], device: 'gpu-0' }] },
        nodeSelector: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [nodeNames[1]] }] }],
        },
      },
      reservedFor: [{ resource: 'pods', name: 'first' }],
    });

    await pod('second', 'one');
    await waitsFor('second', /^0\/2 nodes are available: 2 cannot allocate all claims/);
    await cluster.client.resource<Pod>(pods, 'default').delete('first');
    await runs('second');
    await expect.poll(async () => (await claims()).length, { timeout: pollMs }).toBe(1);
    expect(cluster.failures).toEqual([]);
  });

  it('waits for its template, its class and its slice, and says for which', async () => {
    await pod('waiting', 'late');
    await expect
      .poll(warnings, { timeout: pollMs })
      .toContain(
        'PodResourceClaim device: resource claim template "late": resourceclaimtemplate.resource.k8s.io "late" not found',
      );
    const classes = cluster.client.resource<DeviceClass>(resource('deviceclasses'));
    await template('late', { requests: [{ name: 'gpu', exactly: { deviceClassName: 'later' } }] });
    await waitsFor('waiting', /request gpu: device class later does not exist/);
    await classes.create({ metadata: { name: 'later' }, spec: {} });
    await waitsFor('waiting', /cannot allocate all claims/);
    await publish(nodeNames[0], [{ name: 'gpu-0' }]);
    await runs('waiting');
  });

  it('gives its devices back when it is done', async () => {
    await publish(nodeNames[0], [{ name: 'gpu-0' }]);
    await template('one', one());
    await pod('short', 'one', { restartPolicy: 'Never' });
    await expect.poll(async () => (await get('short')).spec?.nodeName, { timeout: pollMs }).toBe(nodeNames[0]);
    const client = cluster.client.resource<Pod>(pods, 'default');
    await client.patch('short', 'application/merge-patch+json', { status: { phase: 'Succeeded' } }, { subresource: 'status' });
    await expect.poll(claims, { timeout: pollMs }).toEqual([]);
  });

  it('shares a claim with others, who go where its devices are', async () => {
    await publish(nodeNames[0], [{ name: 'gpu-0' }]);
    const devices = one();
    const created = { metadata: { name: 'shared', namespace: 'default' }, spec: { devices } };
    await cluster.client.resource<ResourceClaim>(resource('resourceclaims'), 'default').create(created);
    for (const name of ['a', 'b']) await pod(name, 'none', { resourceClaims: [{ name: 'device', resourceClaimName: 'shared' }] });
    await runs('a');
    await runs('b');
    const [claim] = await claims();
    expect(claim?.status?.reservedFor?.map(({ name }) => name).sort()).toEqual(['a', 'b']);
    for (const name of ['a', 'b']) await cluster.client.resource<Pod>(pods, 'default').delete(name);
    await expect.poll(async () => (await claims())[0]?.status?.allocation, { timeout: pollMs }).toBeUndefined();
    await expect.poll(async () => (await claims())[0]?.metadata.finalizers, { timeout: pollMs }).toBeUndefined();
  });

  it('leaves a device that gets a taint', async () => {
    const slice = await publish(nodeNames[0], [{ name: 'gpu-0' }]);
    await template('one', one());
    await pod('unlucky', 'one');
    await runs('unlucky');
    const taints = [{ key: 'example.com/broken', effect: 'NoExecute' }];
    await cluster.client
      .resource<ResourceSlice>(resource('resourceslices'))
      .update({ ...slice, spec: { ...slice.spec, devices: [{ name: 'gpu-0', taints }] } });
    await expect
      .poll(async () => (await cluster.client.resource<Pod>(pods, 'default').list()).items, { timeout: pollMs })
      .toEqual([]);
    expect(await warnings()).toContain('Marking for deletion');
  });

  it('is bound once its device is ready', async () => {
    await publish(undefined, [
      {
        name: 'fabric-0',
        bindsToNode: true,
        bindingConditions: ['example.com/attached'],
        bindingFailureConditions: ['example.com/failed'],
      },
    ]);
    await template('one', one());
    await pod('patient', 'one');
    await expect.poll(async () => (await claims())[0]?.status?.allocation, { timeout: pollMs }).toBeDefined();
    expect((await get('patient')).spec?.nodeName).toBeUndefined();
    const [claim] = await claims();
    const condition = {
      type: 'example.com/attached',
      status: 'True',
      reason: 'Attached',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    await cluster.client.resource<ResourceClaim>(resource('resourceclaims'), 'default').updateStatus({
      ...(claim as ResourceClaim),
      status: { ...claim?.status, devices: [{ driver, pool: 'shared', device: 'fabric-0', conditions: [condition] }] },
    });
    await runs('patient');
  });
});
