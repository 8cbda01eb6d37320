// metrics.k8s.io as clients of a cluster meet it: in memory, over TLS, through an autoscaler.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { HorizontalPodAutoscaler } from '#api/autoscaling/v2';
import type { Deployment } from '#api/apps/v1';
import type { Pod } from '#api/core/v1';
import type { APIService } from '#api/apiregistration/v1';
import { StatusError } from '#apimachinery/errors';
import type { KubeObject } from '#apimachinery/meta';
import { clientConfigOf, createClient, createRestTransport, type KubeClient, type Kubeconfig } from '#client';
import { systemClock } from '#host';
import { startCluster, type TestCluster } from '#testing';

type Metrics = KubeObject & { window: string; timestamp: string; usage?: object; containers?: { name: string; usage: object }[] };
const core = (resource: string) => ({ group: '', version: 'v1', resource });
const metricsOf = (resource: string) => ({ group: 'metrics.k8s.io', version: 'v1beta1', resource });
const prefix = 'simulated.sagong.dev/';
let cluster: TestCluster;
let wire: KubeClient;

const podOf = (name: string, annotations: Record<string, string>, labels: Record<string, string> = {}): Pod =>
  ({
    metadata: { name, labels, annotations },
    spec: { containers: [{ name: 'app', image: 'a:1' }] },
  }) as unknown as Pod;

const isRunning = async (name: string): Promise<boolean> =>
  (await cluster.client.resource<Pod>(core('pods'), 'default').get(name)).status?.phase === 'Running';

beforeAll(async () => {
  cluster = await startCluster({ nodes: 2 });
  const config = clientConfigOf(parse(cluster.kubeconfig) as Kubeconfig);
  wire = createClient(createRestTransport({ config, clock: systemClock(), userAgent: 'test' }));
  const pods = cluster.client.resource<Pod>(core('pods'), 'default');
  await pods.create(podOf('busy', { [`${prefix}cpu`]: '250m', [`${prefix}memory`]: '100Mi' }, { app: 'web' }));
  await pods.create(podOf('idle', {}, { app: 'other' }));
});
beforeEach(async () => {
  await expect.poll(async () => (await isRunning('busy')) && (await isRunning('idle')), { timeout: 10_000 }).toBe(true);
});
afterAll(async () => {
  wire.transport.close();
  await cluster.stop();
});

const refusal = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'none',
    (error: unknown) => (error instanceof StatusError ? [error.status.code, error.status.message] : error),
  );

describe.each<[string, () => KubeClient]>([
  ['in memory', () => cluster.client],
  ['over TLS', () => wire],
])('a client %s', (_, client) => {
  const pods = () => client().resource<Metrics>(metricsOf('pods'), 'default');

  it('reads what pods use, all or chosen by label or field', async () => {
    const busy = await pods().get('busy');
    expect(busy).toMatchObject({
      kind: 'PodMetrics',
      apiVersion: 'metrics.k8s.io/v1beta1',
      metadata: { name: 'busy', namespace: 'default', labels: { app: 'web' } },
      window: '10s',
      containers: [{ name: 'app', usage: { cpu: '250m', memory: '100Mi' } }],
    });
    const names = async (options: object): Promise<unknown> =>
      (await pods().list(options)).items.map(({ metadata }) => metadata.name);
    expect(await names({})).toEqual(['busy', 'idle']);
    expect(await names({ labelSelector: 'app=other' })).toEqual(['idle']);
    expect(await names({ fieldSelector: 'metadata.name=busy' })).toEqual(['busy']);
    expect(await names({ labelSelector: 'app=nothing' })).toEqual([]);
    const everywhere = await client().resource<Metrics>(metricsOf('pods')).list({ labelSelector: 'app' });
    expect(everywhere.items).toHaveLength(2);
  });

  it('reads what nodes use', async () => {
    const { items } = await client().resource<Metrics>(metricsOf('nodes')).list();
    expect(items.map(({ metadata }) => metadata.name)).toEqual(cluster.nodes.names().sort());
    for (const { usage } of items) expect(usage).toEqual({ cpu: expect.any(String), memory: expect.any(String) });
  });

  it('is told what is not there, and what cannot be asked', async () => {
    expect(await refusal(pods().get('nobody'))).toEqual([404, 'pods "default/nobody" not found']);
    expect(await refusal(client().resource(metricsOf('nodes')).get('nobody'))).toEqual([404, 'nodes "nobody" not found']);
    expect(await refusal(pods().list({ labelSelector: 'a in (' }))).toEqual([400, expect.any(String)]);
    expect(await refusal(pods().create({ metadata: { name: 'x' } } as never))).toEqual([405, expect.any(String)]);
  });
});

it('finds the group in discovery and OpenAPI, and shows it as a table', async () => {
  const raw = async (path: string): Promise<unknown> => JSON.parse((await wire.transport.raw('GET', path)).text);
  const list = (await raw('/apis/metrics.k8s.io/v1beta1')) as { resources: { name: string; verbs: string[] }[] };
  expect(list.resources.map(({ name, verbs }) => [name, verbs])).toEqual([
    ['nodes', ['get', 'list']],
    ['pods', ['get', 'list']],
  ]);
  const { components } = (await raw('/openapi/v3/apis/metrics.k8s.io/v1beta1')) as { components: { schemas: object } };
  expect(components.schemas).toHaveProperty(['io.k8s.metrics.pkg.apis.metrics.v1beta1.PodMetrics', 'properties', 'containers']);
  const services = cluster.client.resource<APIService>({
    group: 'apiregistration.k8s.io',
    version: 'v1',
    resource: 'apiservices',
  });
  expect((await services.get('v1beta1.metrics.k8s.io')).status?.conditions).toMatchObject([
    { type: 'Available', reason: 'Local' },
  ]);
});

it('lets whoever may view a namespace view what its pods use, and nobody else', async () => {
  const as = (name: string): KubeClient => cluster.clientFor({ name, groups: ['system:authenticated'] });
  const bindings = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'rolebindings' };
  await cluster.client.resource(bindings, 'default').create({
    metadata: { name: 'viewers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }],
  });
  const list = (name: string): Promise<unknown> => refusal(as(name).resource(metricsOf('pods'), 'default').list());
  await expect.poll(() => list('ann'), { timeout: 10_000 }).toBe('none');
  expect(await list('bob')).toEqual([403, expect.any(String)]);
});

it('gives the group to a metrics-server of the user, and takes it back when that goes', async () => {
  const services = cluster.client.resource<APIService>({
    group: 'apiregistration.k8s.io',
    version: 'v1',
    resource: 'apiservices',
  });
  const ours = await services.get('v1beta1.metrics.k8s.io');
  const service = { name: 'metrics-server', namespace: 'kube-system' };
  await services.update({ ...ours, spec: { ...ours.spec, insecureSkipTLSVerify: true, service } } as APIService);
  const list = (): Promise<unknown> => refusal(cluster.client.resource(metricsOf('nodes')).list());
  await expect.poll(list, { timeout: 10_000 }).toEqual([503, expect.any(String)]);
  await services.delete('v1beta1.metrics.k8s.io');
  await expect.poll(list, { timeout: 10_000 }).toBe('none');
});

it('scales a Deployment by the CPU that its pods use', async () => {
  const container = { name: 'app', image: 'a:1', resources: { requests: { cpu: '100m' } } };
  const labels = { app: 'scaled' };
  const deployments = cluster.client.resource<Deployment>({ group: 'apps', version: 'v1', resource: 'deployments' }, 'default');
  await deployments.create({
    metadata: { name: 'scaled' },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations: { [`${prefix}cpu`]: '90m' } }, spec: { containers: [container] } },
    },
  } as Deployment);
  const scalers = { group: 'autoscaling', version: 'v2', resource: 'horizontalpodautoscalers' };
  await cluster.client.resource<HorizontalPodAutoscaler>(scalers, 'default').create({
    metadata: { name: 'scaled' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'scaled' },
      minReplicas: 1,
      maxReplicas: 3,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 30 } } }],
    },
  } as HorizontalPodAutoscaler);
  await expect.poll(async () => (await deployments.get('scaled')).status?.readyReplicas, { timeout: 60_000 }).toBe(3);
});

it("is nobody's with `metrics: none`", async () => {
  await using bare = await startCluster({ nodes: 0, metrics: 'none' });
  expect(await refusal(bare.client.resource(metricsOf('nodes')).list())).toEqual([404, expect.any(String)]);
});
