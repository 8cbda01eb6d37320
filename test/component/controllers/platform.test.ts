// Budgets, quotas, certificates, volumes, roles and autoscalers over the real apiserver, in virtual time.
import { afterEach, describe, expect, it } from 'vitest';
import type { Deployment } from '#api/apps/v1';
import type { HorizontalPodAutoscaler } from '#api/autoscaling/v2';
import type { CertificateSigningRequest } from '#api/certificates/v1';
import type { PersistentVolume, PersistentVolumeClaim, Pod, ResourceQuota, Secret } from '#api/core/v1';
import type { PodDisruptionBudget } from '#api/policy/v1';
import type { ClusterRole } from '#api/rbac/v1';
import { createControllers, defaultControllersConfig } from '#controllers';
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta';
import {
  createCertificateAuthority,
  createCertificateRequest,
  decodeJwt,
  generateKeyPair,
  parseCertificate,
  privateKeyPem,
} from '#pki';
import { startTestControlPlane, type TestControlPlane, virtualClock } from '#testing';

const core = (resource: string): GroupVersionResource => ({ group: '', version: 'v1', resource });
const of = (group: string, version: string, resource: string): GroupVersionResource => ({ group, version, resource });
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const clock = virtualClock();
const authority = createCertificateAuthority({ commonName: 'cluster', clock });
let plane: TestControlPlane;

async function start(...names: string[]): Promise<void> {
  const clusterSigning = { cert: authority.cert, key: authority.key, durationMs: 365 * 86_400_000 };
  const all = createControllers({ ...defaultControllersConfig, clusterSigning });
  const controllers = all.filter(({ name }) => names.includes(name));
  expect(controllers).toHaveLength(names.length);
  plane = await startTestControlPlane({ clock, controllers });
  await plane.client.resource(core('namespaces')).create({ metadata: { name: 'one' } });
  await clock.advance(1_000);
}
afterEach(() => plane.stop());

const create = <T extends KubeObject>(resource: GroupVersionResource, object: T, namespace?: string) =>
  plane.client.resource<T>(resource, namespace).create(object);
const read = <T extends KubeObject>(resource: GroupVersionResource, name: string, namespace?: string) =>
  plane.client.resource<T>(resource, namespace).get(name);
const pod = (name: string, more: Partial<Pod['metadata']> = {}): Pod => ({
  metadata: { name, labels: { app: 'web' }, ...more },
  spec: { containers: [{ name: 'web', image: 'web:1', resources: { requests: { cpu: '250m' } } }] },
});

async function makeReady(name: string): Promise<void> {
  const body = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
  await plane.client
    .resource(core('pods'), 'one')
    .patch(name, 'application/strategic-merge-patch+json', body, { subresource: 'status' });
}

describe('platform loops', () => {
  it('say how many pods may be disrupted', async () => {
    await start('disruption-controller');
    const budgets = of('policy', 'v1', 'poddisruptionbudgets');
    const budget: PodDisruptionBudget = {
      metadata: { name: 'web' },
      spec: { minAvailable: 2, selector: { matchLabels: { app: 'web' } } },
    };
    await create(budgets, budget, 'one');
    for (const name of ['a', 'b', 'c']) {
      await create(core('pods'), pod(name), 'one');
      await makeReady(name);
    }
    await clock.advance(2_000);
    const { status } = await read<PodDisruptionBudget>(budgets, 'web', 'one');
    expect(status).toMatchObject({ currentHealthy: 3, desiredHealthy: 2, expectedPods: 3, disruptionsAllowed: 1 });
    expect(status?.conditions?.[0]).toMatchObject({ type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods' });
  });

  it('count what a namespace uses', async () => {
    await start('resourcequota-controller');
    for (const name of ['a', 'b']) await create(core('pods'), pod(name), 'one');
    await create(core('configmaps'), { metadata: { name: 'map' } }, 'one');
    await create<ResourceQuota>(
      core('resourcequotas'),
      { metadata: { name: 'all' }, spec: { hard: { pods: '10', 'requests.cpu': '2', configmaps: '5' } } },
      'one',
    );
    await clock.advance(2_000);
    const used = async () => (await read<ResourceQuota>(core('resourcequotas'), 'all', 'one')).status?.used;
    expect(await used()).toEqual({ pods: '2', 'requests.cpu': '500m', configmaps: '1' });
    await plane.client.resource(core('pods'), 'one').delete('a', { gracePeriodSeconds: 0 });
    await clock.advance(2_000);
    expect(await used()).toEqual({ pods: '1', 'requests.cpu': '250m', configmaps: '1' });
  });

  it('sign approved certificate requests, and say why they do not', async () => {
    await start('certificatesigningrequest-signing-controller');
    const requests = of('certificates.k8s.io', 'v1', 'certificatesigningrequests');
    const { privateKey } = generateKeyPair();
    const pem = createCertificateRequest({ commonName: 'ann', organizations: ['team'], privateKey });
    for (const [name, usages] of [
      ['good', ['client auth']],
      ['bad', ['server auth']],
    ] as const) {
      const spec = { request: base64(pem), signerName: 'kubernetes.io/kube-apiserver-client', usages: [...usages] };
      const made = await create<CertificateSigningRequest>(requests, { metadata: { name }, spec });
      const object = { ...made, status: { conditions: [{ type: 'Approved', status: 'True', reason: 'Test', message: '' }] } };
      await plane.client.transport.call({ verb: 'update', ...requests, name, subresource: 'approval', object });
    }
    await clock.advance(2_000);
    const good = await read<CertificateSigningRequest>(requests, 'good');
    const certificate = parseCertificate(Buffer.from(good.status?.certificate ?? '', 'base64').toString());
    expect(certificate.subject).toMatchObject({ commonName: 'ann', organizations: ['team'] });
    const bad = await read<CertificateSigningRequest>(requests, 'bad');
    expect(bad.status?.conditions?.find(({ type }) => type === 'Failed')).toMatchObject({
      reason: 'SignerValidationFailure',
      message: 'invalid usage for client certificate: server auth',
    });
  });

  it('bind claims to volumes, and release them', async () => {
    await start('persistentvolume-binder-controller', 'persistentvolumeclaim-protection-controller');
    const volume = (name: string, storage: string): PersistentVolume => ({
      metadata: { name },
      spec: {
        capacity: { storage },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Retain',
        hostPath: { path: '/data' },
      },
    });
    for (const [name, size] of [
      ['large', '10Gi'],
      ['fitting', '2Gi'],
      ['small', '100Mi'],
    ] as const)
      await create(core('persistentvolumes'), volume(name, size));
    await create<PersistentVolumeClaim>(
      core('persistentvolumeclaims'),
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: '' },
      },
      'one',
    );
    await clock.advance(20_000);
    const claim = await read<PersistentVolumeClaim>(core('persistentvolumeclaims'), 'data', 'one');
    expect(claim.spec?.volumeName).toBe('fitting');
    expect(claim.status).toMatchObject({ phase: 'Bound', capacity: { storage: '2Gi' } });
    expect(claim.metadata.finalizers).toEqual(['kubernetes.io/pvc-protection']);
    const phase = async (name: string) => (await read<PersistentVolume>(core('persistentvolumes'), name)).status?.phase;
    expect([await phase('fitting'), await phase('large')]).toEqual(['Bound', 'Available']);
    await plane.client.resource(core('persistentvolumeclaims'), 'one').delete('data');
    await clock.advance(20_000);
    expect(await phase('fitting')).toBe('Released');
  });

  it('put roles together', async () => {
    await start('clusterrole-aggregation-controller');
    const roles = of('rbac.authorization.k8s.io', 'v1', 'clusterroles');
    const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }];
    await create<ClusterRole>(roles, {
      metadata: { name: 'whole' },
      rules: [],
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: 'yes' } }] },
    });
    await create<ClusterRole>(roles, { metadata: { name: 'part', labels: { part: 'yes' } }, rules });
    await clock.advance(2_000);
    expect((await read<ClusterRole>(roles, 'whole')).rules).toEqual(rules);
  });

  it('say that nothing is measured without a metrics API', async () => {
    await start('horizontal-pod-autoscaler-controller');
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
    await create<Deployment>(
      of('apps', 'v1', 'deployments'),
      { metadata: { name: 'web' }, spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template } },
      'one',
    );
    // Nobody runs the Deployment here, so its status is set by hand.
    const hpas = of('autoscaling', 'v2', 'horizontalpodautoscalers');
    const target = { type: 'Utilization', averageUtilization: 50 };
    const hpa: HorizontalPodAutoscaler = {
      metadata: { name: 'web' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        maxReplicas: 5,
        metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }],
      },
    };
    await create(hpas, hpa, 'one');
    await clock.advance(2_000);
    const { status } = await read<HorizontalPodAutoscaler>(hpas, 'web', 'one');
    const said = Object.fromEntries(
      (status?.conditions ?? []).map(({ type, status: value, reason, message }) => [type, `${value} ${reason}: ${message}`]),
    );
    expect(said).toEqual({
      AbleToScale: "True SucceededGetScale: the HPA controller was able to get the target's current scale",
      ScalingActive:
        'False FailedGetResourceMetric: the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)',
    });
    await plane.client.resource(hpas, 'one').patch('web', 'application/merge-patch+json', { spec: { minReplicas: 3 } });
    await clock.advance(16_000);
    expect((await read<Deployment>(of('apps', 'v1', 'deployments'), 'web', 'one')).spec?.replicas).toBe(3);
    const events = (await plane.client.resource<KubeObject & { reason?: string; message?: string }>(core('events'), 'one').list())
      .items;
    expect(events.map(({ reason, message }) => `${reason}: ${message}`)).toContain(
      'SuccessfulRescale: New size: 3; reason: Current number of replicas below Spec.MinReplicas',
    );
  });
});

describe('token secrets', () => {
  it('are filled, and go with their account', async () => {
    const { privateKey } = generateKeyPair();
    const config = { ...defaultControllersConfig, rootCa: 'PEM', serviceAccountSigningKey: privateKeyPem(privateKey) };
    const controllers = createControllers(config).filter(({ name }) => name === 'serviceaccount-token-controller');
    plane = await startTestControlPlane({ clock, controllers });
    await create(core('namespaces'), { metadata: { name: 'one' } });
    const account = await create<KubeObject>(core('serviceaccounts'), { metadata: { name: 'robot' } }, 'one');
    await create<Secret>(
      core('secrets'),
      {
        metadata: { name: 'robot-token', annotations: { 'kubernetes.io/service-account.name': 'robot' } },
        type: 'kubernetes.io/service-account-token',
      },
      'one',
    );
    await clock.advance(2_000);
    const { data, metadata } = await read<Secret>(core('secrets'), 'robot-token', 'one');
    expect(metadata.annotations?.['kubernetes.io/service-account.uid']).toBe(account.metadata.uid);
    expect(data).toMatchObject({ 'ca.crt': base64('PEM'), namespace: base64('one') });
    const { claims } = decodeJwt(Buffer.from(data?.['token'] ?? '', 'base64').toString());
    expect(claims).toMatchObject({ iss: 'kubernetes/serviceaccount', sub: 'system:serviceaccount:one:robot' });
    await plane.client.resource(core('serviceaccounts'), 'one').delete('robot');
    await clock.advance(2_000);
    await expect(read(core('secrets'), 'robot-token', 'one')).rejects.toThrow('not found');
  });
});
