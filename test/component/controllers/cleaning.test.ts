// Loops that remove what nobody needs any more, over the real apiserver in virtual time: pods, certificate requests, finished Jobs, tokens.
import { afterEach, describe, expect, it } from 'vitest';
import type { Job } from '#api/batch/v1';
import type { CertificateSigningRequest } from '#api/certificates/v1';
import type { Node, Pod, Secret, ServiceAccount } from '#api/core/v1';
import { createControllers, type ControllersConfig, defaultControllersConfig } from '#controllers';
import { formatTime, type GroupVersionResource, type KubeObject } from '#apimachinery/meta';
import { createCertificateRequest, generateKeyPair } from '#pki';
import { startTestControlPlane, type TestControlPlane, virtualClock } from '#testing';

const of = (group: string, version: string, resource: string): GroupVersionResource => ({ group, version, resource });
const pods = of('', 'v1', 'pods');
const nodes = of('', 'v1', 'nodes');
const secrets = of('', 'v1', 'secrets');
const jobs = of('batch', 'v1', 'jobs');
const requests = of('certificates.k8s.io', 'v1', 'certificatesigningrequests');
const merge = 'application/merge-patch+json';
const hourMs = 3_600_000;

const clock = virtualClock();
let plane: TestControlPlane;

async function start(names: string[], config: Partial<ControllersConfig> = {}, whole = false): Promise<void> {
  const controllers = createControllers({ ...defaultControllersConfig, ...config }).filter(({ name }) => names.includes(name));
  expect(controllers).toHaveLength(names.length);
  plane = await startTestControlPlane({ clock, controllers, whole });
  for (const name of whole ? ['one'] : ['one', 'kube-system']) await create(of('', 'v1', 'namespaces'), { metadata: { name } });
  await clock.advance(1_000);
}
afterEach(() => plane.stop());

const create = <T extends KubeObject>(resource: GroupVersionResource, object: T, namespace?: string) =>
  plane.client.resource<T>(resource, namespace).create(object);
const names = async (resource: GroupVersionResource, namespace?: string): Promise<string[]> =>
  (await plane.client.resource(resource, namespace).list()).items.map(({ metadata }) => metadata.name ?? '').sort();
const status = (resource: GroupVersionResource, name: string, body: unknown, namespace?: string) =>
  plane.client.resource(resource, namespace).patch(name, merge, { status: body }, { subresource: 'status' });
const pod = (name: string, spec: Partial<Pod['spec']> = {}): Pod => ({
  metadata: { name },
  spec: { containers: [{ name: 'web', image: 'web:1' }], ...spec },
});

describe('pod garbage collector', () => {
  it('removes pods of nodes that are gone, after a while, and says why', async () => {
    await start(['pod-garbage-collector-controller']);
    for (const name of ['here', 'gone']) await create<Node>(nodes, { metadata: { name } });
    for (const nodeName of ['here', 'gone'])
      await create(
        pods,
        { ...pod(nodeName, { nodeName }), metadata: { name: nodeName, finalizers: ['example.com/look'] } },
        'one',
      );
    await clock.advance(60_000);
    expect(await names(pods, 'one')).toEqual(['gone', 'here']);
    await plane.client.resource(nodes).delete('gone');
    await clock.advance(39_000);
    expect((await plane.client.resource<Pod>(pods, 'one').get('gone')).metadata.deletionTimestamp).toBeUndefined();
    await clock.advance(45_000);
    const removed = await plane.client.resource<Pod>(pods, 'one').get('gone');
    expect(removed.metadata.deletionTimestamp).toBeDefined();
    expect(removed.status?.phase).toBe('Failed');
    expect(removed.status?.conditions).toContainEqual(
      expect.objectContaining({
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'DeletionByPodGC',
        message: 'PodGC: node no longer exists',
      }),
    );
    expect((await plane.client.resource<Pod>(pods, 'one').get('here')).metadata.deletionTimestamp).toBeUndefined();
  });

  it('removes the oldest finished pods beyond the limit, evicted ones first', async () => {
    await start(['pod-garbage-collector-controller'], { terminatedPodGcThreshold: 2 });
    await create<Node>(nodes, { metadata: { name: 'here' } });
    for (const [name, phase, reason] of [
      ['done-1', 'Succeeded', undefined],
      ['done-2', 'Failed', undefined],
      ['evicted', 'Failed', 'Evicted'],
      ['done-3', 'Succeeded', undefined],
      ['runs', 'Running', undefined],
    ] as const) {
      await create(pods, pod(name, { nodeName: 'here' }), 'one');
      await status(pods, name, { phase, reason }, 'one');
      await clock.advance(1_000);
    }
    await clock.advance(21_000);
    expect(await names(pods, 'one')).toEqual(['done-2', 'done-3', 'runs']);
  });

  it('removes deleted pods that never had a node, and those of nodes out of service', async () => {
    await start(['pod-garbage-collector-controller']);
    const taint = { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' };
    await create<Node>(nodes, { metadata: { name: 'broken' }, spec: { taints: [taint] } });
    await create<Node>(nodes, { metadata: { name: 'fine' } });
    for (const nodeName of ['broken', 'fine']) {
      await create(pods, pod(nodeName, { nodeName }), 'one');
      await status(pods, nodeName, { phase: 'Running' }, 'one');
      await plane.client.resource(pods, 'one').delete(nodeName);
    }
    await clock.advance(21_000);
    expect(await names(pods, 'one')).toEqual(['fine']);
  });
});

describe('certificate requests', () => {
  const { privateKey } = generateKeyPair();
  const request = (commonName: string, organizations: string[]): string =>
    Buffer.from(createCertificateRequest({ commonName, organizations, privateKey })).toString('base64');
  const make = (name: string, commonName: string, organizations = ['system:nodes']) =>
    create<CertificateSigningRequest>(requests, {
      metadata: { name },
      spec: {
        request: request(commonName, organizations),
        signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
        usages: ['digital signature', 'client auth'],
      },
    });
  const conditions = async (name: string) =>
    (await plane.client.resource<CertificateSigningRequest>(requests).get(name)).status?.conditions;

  it('of kubelets are approved, others wait', async () => {
    await start(['certificatesigningrequest-approving-controller'], {}, true);
    await make('kubelet', 'system:node:a');
    await make('stranger', 'ann', ['team']);
    await clock.advance(5_000);
    expect(await conditions('kubelet')).toEqual([
      expect.objectContaining({
        type: 'Approved',
        status: 'True',
        reason: 'AutoApproved',
        message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
      }),
    ]);
    expect(await conditions('stranger')).toBeUndefined();
  });

  it('go when they were decided for an hour, or nobody decided for a day', async () => {
    await start(['certificatesigningrequest-cleaner-controller']);
    await make('pending', 'system:node:a');
    const denied = await make('denied', 'system:node:b');
    const lastUpdateTime = formatTime(clock.now());
    const object = {
      ...denied,
      status: { conditions: [{ type: 'Denied', status: 'True', reason: 'No', message: '', lastUpdateTime }] },
    };
    await plane.client.transport.call({ verb: 'update', ...requests, name: 'denied', subresource: 'approval', object });
    await clock.advance(hourMs - 2_000);
    expect(await names(requests)).toEqual(['denied', 'pending']);
    await clock.advance(hourMs + 2_000);
    expect(await names(requests)).toEqual(['pending']);
    await clock.advance(21 * hourMs);
    expect(await names(requests)).toEqual(['pending']);
    await clock.advance(2 * hourMs);
    expect(await names(requests)).toEqual([]);
  });
});

describe('finished Jobs', () => {
  it('go after the time they ask for, which may change', async () => {
    await start(['ttl-after-finished-controller']);
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'c:1' }] } };
    for (const [name, ttlSecondsAfterFinished] of [
      ['short', 60],
      ['extended', 60],
      ['kept', undefined],
    ] as const) {
      await create<Job>(
        jobs,
        { metadata: { name }, spec: { template, ...(ttlSecondsAfterFinished && { ttlSecondsAfterFinished }) } },
        'one',
      );
      const at = formatTime(clock.now());
      const complete = ['SuccessCriteriaMet', 'Complete'].map((type) => ({
        type,
        status: 'True',
        lastTransitionTime: at,
        lastProbeTime: at,
      }));
      await status(
        jobs,
        name,
        { startTime: at, completionTime: at, succeeded: 1, conditions: complete, uncountedTerminatedPods: {} },
        'one',
      );
    }
    await clock.advance(30_000);
    await plane.client.resource(jobs, 'one').patch('extended', merge, { spec: { ttlSecondsAfterFinished: 600 } });
    await clock.advance(29_000);
    expect(await names(jobs, 'one')).toEqual(['extended', 'kept', 'short']);
    await clock.advance(2_000);
    const short = await plane.client.resource<Job>(jobs, 'one').get('short');
    // It goes in the foreground; nobody collects garbage here.
    expect(short.metadata.finalizers).toEqual(['foregroundDeletion']);
    expect((await plane.client.resource<Job>(jobs, 'one').get('extended')).metadata.deletionTimestamp).toBeUndefined();
    await clock.advance(600_000);
    expect((await plane.client.resource<Job>(jobs, 'one').get('extended')).metadata.deletionTimestamp).toBeDefined();
    expect((await plane.client.resource<Job>(jobs, 'one').get('kept')).metadata.deletionTimestamp).toBeUndefined();
  });
});

describe('tokens made by old clusters', () => {
  it('are marked when unused for the period, and go a period later; used and mounted ones stay', async () => {
    const dayMs = 24 * hourMs;
    await start(['legacy-serviceaccount-token-cleaner-controller'], { legacyTokenCleanUpPeriodMs: 2 * dayMs });
    const today = (): string => formatTime(clock.now()).slice(0, 10);
    const tracking = { metadata: { name: 'kube-apiserver-legacy-service-account-token-tracking' }, data: { since: today() } };
    await create(of('', 'v1', 'configmaps'), tracking, 'kube-system');
    const refs = ['unused', 'used', 'mounted'].map((name) => ({ name }));
    const account = await create<ServiceAccount>(
      of('', 'v1', 'serviceaccounts'),
      { metadata: { name: 'robot' }, secrets: refs },
      'one',
    );
    const annotations = {
      'kubernetes.io/service-account.name': 'robot',
      'kubernetes.io/service-account.uid': account.metadata.uid ?? '',
    };
    for (const name of ['unused', 'used', 'mounted', 'made-by-hand'])
      await create<Secret>(secrets, { metadata: { name, annotations }, type: 'kubernetes.io/service-account-token' }, 'one');
    await create(pods, pod('user', { volumes: [{ name: 'token', secret: { secretName: 'mounted' } }] }), 'one');
    const label = async (name: string) =>
      (await plane.client.resource<Secret>(secrets, 'one').get(name)).metadata.labels?.[
        'kubernetes.io/legacy-token-invalid-since'
      ];
    const use = () =>
      plane.client
        .resource(secrets, 'one')
        .patch('used', merge, { metadata: { labels: { 'kubernetes.io/legacy-token-last-used': today() } } });
    for (let day = 0; day < 2; day++) {
      await use();
      await clock.advance(dayMs);
    }
    expect(await label('unused')).toBeUndefined();
    for (let day = 0; day < 3; day++) {
      await use();
      await clock.advance(dayMs);
    }
    expect(await label('unused')).toMatch(/^\d{4}-\d\d-\d\d$/);
    for (const name of ['used', 'mounted', 'made-by-hand']) expect(await label(name)).toBeUndefined();
    for (let day = 0; day < 4; day++) {
      await use();
      await clock.advance(dayMs);
    }
    expect(await names(secrets, 'one')).toEqual(['made-by-hand', 'mounted', 'used']);
  });
});
