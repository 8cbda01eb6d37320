// What every component has to do for a namespace of ordinary objects: a sign of life of each.
import type { DaemonSet, Deployment, StatefulSet } from '#api/apps/v1';
import type { CronJob, Job } from '#api/batch/v1';
import type { ConfigMap, PersistentVolumeClaim, Pod, Service } from '#api/core/v1';
import type { EndpointSlice } from '#api/discovery/v1';
import type { PodDisruptionBudget } from '#api/policy/v1';
import { isNotFound } from '#apimachinery/errors';
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta';
import type { OddWorld } from './odd-world.ts';

const namespaces = { group: '', version: 'v1', resource: 'namespaces' };
const of = (resource: string, group = ''): GroupVersionResource => ({ group, version: 'v1', resource });
const replicas = 3;
const limitMs = 300_000;

const template = (app: string, extra: object = {}) => ({
  metadata: { labels: { app } },
  spec: {
    // Among the pods of odd objects these come first; odd nodes have no kubelet.
    priorityClassName: 'system-cluster-critical',
    nodeSelector: { 'canary.example.com/here': 'yes' },
    containers: [{ name: 'c', image: 'example.org/c:1', ports: [{ name: 'http', containerPort: 80 }] }],
    ...extra,
  },
});
const workload = (app: string) => ({ replicas, selector: { matchLabels: { app } }, template: template(app) });
const claimTemplate = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'standard', resources: { requests: { storage: '1Gi' } } },
};
const jobSpec = { template: template('job', { restartPolicy: 'Never' }) };

const objects: [GroupVersionResource, KubeObject][] = [
  [of('deployments', 'apps'), { metadata: { name: 'web' }, spec: workload('web') } as Deployment],
  [
    of('services'),
    {
      metadata: { name: 'web' },
      spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
    } as Service,
  ],
  [
    of('statefulsets', 'apps'),
    {
      metadata: { name: 'db' },
      spec: { ...workload('db'), serviceName: 'db', volumeClaimTemplates: [claimTemplate] },
    } as StatefulSet,
  ],
  [
    of('daemonsets', 'apps'),
    {
      metadata: { name: 'agent' },
      spec: { selector: { matchLabels: { app: 'agent' } }, template: template('agent') },
    } as DaemonSet,
  ],
  [of('jobs', 'batch'), { metadata: { name: 'once' }, spec: jobSpec } as Job],
  [
    of('cronjobs', 'batch'),
    { metadata: { name: 'often' }, spec: { schedule: '* * * * *', jobTemplate: { spec: jobSpec } } } as CronJob,
  ],
  [
    of('poddisruptionbudgets', 'policy'),
    { metadata: { name: 'web' }, spec: { minAvailable: 2, selector: { matchLabels: { app: 'web' } } } } as PodDisruptionBudget,
  ],
];

/** Signs of life, each by who gives it. */
function signs(world: OddWorld, namespace: string): [string, () => Promise<boolean>][] {
  const { client } = world.cluster;
  const get = <T extends KubeObject>(resource: GroupVersionResource, name: string): Promise<T> =>
    client.resource<T>(resource, namespace).get(name);
  const web = (): Promise<Service> => get(of('services'), 'web');
  const endpoints = async (): Promise<string[]> => {
    const { items } = await client
      .resource<EndpointSlice>(of('endpointslices', 'discovery.k8s.io'), namespace)
      .list({ labelSelector: 'kubernetes.io/service-name=web' });
    return items
      .flatMap(({ endpoints: all }) => all ?? [])
      .flatMap(({ addresses, conditions }) => (conditions?.ready ? addresses : []));
  };
  return [
    [
      'root CA and service account',
      async () => {
        const published = await client.resource<ConfigMap>(of('configmaps'), namespace).list();
        const accounts = await client.resource(of('serviceaccounts'), namespace).list();
        return published.items.some(({ metadata }) => metadata.name === 'kube-root-ca.crt') && accounts.items.length > 0;
      },
    ],
    [
      'deployment, replicaset, scheduler, kubelet',
      async () => (await get<Deployment>(of('deployments', 'apps'), 'web')).status?.availableReplicas === replicas,
    ],
    [
      'statefulset, provisioner, volume binder',
      async () => {
        const { items } = await client.resource<PersistentVolumeClaim>(of('persistentvolumeclaims'), namespace).list();
        const set = await get<StatefulSet>(of('statefulsets', 'apps'), 'db');
        return set.status?.readyReplicas === replicas && items.every(({ status }) => status?.phase === 'Bound');
      },
    ],
    ['daemonset', async () => ((await get<DaemonSet>(of('daemonsets', 'apps'), 'agent')).status?.numberReady ?? 0) >= 2],
    ['job', async () => (await get<Job>(of('jobs', 'batch'), 'once')).status?.succeeded === 1],
    ['cronjob', async () => (await get<CronJob>(of('cronjobs', 'batch'), 'often')).status?.lastSuccessfulTime !== undefined],
    [
      'disruption',
      async () => (await get<PodDisruptionBudget>(of('poddisruptionbudgets', 'policy'), 'web')).status?.disruptionsAllowed === 1,
    ],
    ['endpointslice', async () => (await endpoints()).length === replicas],
    ['cloud', async () => ((await web()).status?.loadBalancer?.ingress?.length ?? 0) > 0],
    ['name server', async () => (await world.resolve(`web.${namespace}.svc.cluster.local`))[0] === (await web()).spec?.clusterIP],
    ['proxy', async () => (await endpoints()).every((address) => world.rules().includes(`--to-destination ${address}:80`))],
  ];
}

/** Who does not do its part. */
export async function canaryLives(world: OddWorld, namespace: string): Promise<string[]> {
  const dead: string[] = [];
  const expectLife = (who: string, alive: () => Promise<boolean>): Promise<void> =>
    world.until(alive, limitMs).catch((error: unknown) => void dead.push(`${who}: ${String(error)}`));
  const { client } = world.cluster;
  // While an API server does not answer nobody knows what else is in a namespace, and none is emptied.
  const apiServices = client.resource(of('apiservices', 'apiregistration.k8s.io'));
  for (const { metadata, spec } of (await apiServices.list()).items as (KubeObject & { spec?: { service?: unknown } })[])
    if (spec?.service) {
      // One that an odd finalizer keeps is still listed, and as unreadable as before.
      if (metadata.finalizers?.length)
        await apiServices.patch(metadata.name ?? '', 'application/merge-patch+json', { metadata: { finalizers: null } });
      await apiServices.delete(metadata.name ?? '');
    }
  await client.resource(namespaces).create({ metadata: { name: namespace } });
  await world.pass(2000);
  for (const [resource, object] of objects)
    await client.resource<KubeObject>(resource, namespace).create(structuredClone(object));
  for (const [who, alive] of signs(world, namespace)) await expectLife(who, alive);
  const pods = await client.resource<Pod>(of('pods'), namespace).list();
  const victim = pods.items.find(({ metadata }) => metadata.labels?.['app'] === 'web')?.metadata.name ?? '';
  await client.resource(of('pods'), namespace).delete(victim, { gracePeriodSeconds: 0 });
  await client.resource(namespaces).delete(namespace);
  const gone = async (): Promise<boolean> => {
    try {
      await client.resource(namespaces).get(namespace);
      return false;
    } catch (error) {
      if (isNotFound(error)) return true;
      throw error;
    }
  };
  await expectLife('namespace controller and garbage collector', gone);
  return dead;
}
