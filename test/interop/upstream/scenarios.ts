// What any Kubernetes does, whoever made its parts: asked of the apiserver alone, with nothing of either side's own.
import { expect } from 'vitest';
import { eventually } from '../../e2e/cluster/harness.ts';
import type { Api, Item } from './api.ts';

const timeoutMs = 60_000;
const apps = '/apis/apps/v1/namespaces';
const core = '/api/v1/namespaces';
const batch = '/apis/batch/v1/namespaces';

const template = (app: string, image: string, restartPolicy = 'Always') => ({
  metadata: { labels: { app } },
  spec: {
    restartPolicy,
    containers: [{ name: 'app', image, resources: { requests: { cpu: '10m', memory: '16Mi' } } }],
  },
});

export const deployment = (name: string, replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name, 'example.org/app:1') },
});

export async function makeNamespace(api: Api, name: string): Promise<void> {
  await api.create('/api/v1/namespaces', { metadata: { name } });
  await eventually('the default service account', () => api.get(`${core}/${name}/serviceaccounts/default`), timeoutMs);
}

export async function available(api: Api, namespace: string, name: string, replicas: number): Promise<Item> {
  return eventually(
    `${replicas} available replicas of ${namespace}/${name}`,
    async () => {
      const found = await api.get(`${apps}/${namespace}/deployments/${name}`);
      const { availableReplicas, updatedReplicas, replicas: all } = found.status ?? {};
      if (availableReplicas === replicas && updatedReplicas === replicas && all === replicas) return found;
      const events = await api.list(`${core}/${namespace}/events`);
      throw new Error(
        `${JSON.stringify(found.status)} ${events.map(({ reason, message }) => `${String(reason)}: ${String(message)}`).join('; ')}`,
      );
    },
    timeoutMs,
  );
}

/** A Deployment comes up on the nodes, rolls over to a new image, and goes with all it owns. */
export async function rollsOut(api: Api, namespace: string): Promise<void> {
  await api.create(`${apps}/${namespace}/deployments`, deployment('web', 3));
  await available(api, namespace, 'web', 3);
  const pods = await api.list(`${core}/${namespace}/pods?labelSelector=app%3Dweb`);
  expect(new Set(pods.map(({ spec }) => spec?.['nodeName']))).toEqual(new Set(['node-1', 'node-2']));
  expect(pods.map(({ status }) => status?.['phase'])).toEqual(['Running', 'Running', 'Running']);

  const image = { spec: { template: { spec: { containers: [{ name: 'app', image: 'example.org/app:2' }] } } } };
  await api.patch(`${apps}/${namespace}/deployments/web`, image);
  await eventually('the new revision', async () => {
    const found = await api.get<Item & { metadata: { generation: number } }>(`${apps}/${namespace}/deployments/web`);
    return found.status?.['observedGeneration'] === found.metadata.generation;
  });
  const rolled = await available(api, namespace, 'web', 3);
  expect(rolled.metadata).toMatchObject({ annotations: { 'deployment.kubernetes.io/revision': '2' } });
  const sets = await api.list(`${apps}/${namespace}/replicasets`);
  expect(sets.map(({ spec }) => Number(spec?.['replicas'])).sort((a, b) => a - b)).toEqual([0, 3]);

  await api.delete(`${apps}/${namespace}/deployments/web`, { propagationPolicy: 'Background' });
  await eventually(
    'the garbage collector',
    async () =>
      (await api.list(`${apps}/${namespace}/replicasets`)).length === 0 &&
      (await api.list(`${core}/${namespace}/pods?labelSelector=app%3Dweb`)).length === 0,
    timeoutMs,
  );
}

/** A Deployment deleted in the foreground stays until its pods are gone; one deleted with Orphan leaves its ReplicaSet. */
export async function collectsAsAsked(api: Api, namespace: string): Promise<void> {
  for (const name of ['fore', 'orphan']) await api.create(`${apps}/${namespace}/deployments`, deployment(name, 1));
  for (const name of ['fore', 'orphan']) await available(api, namespace, name, 1);
  await api.delete(`${apps}/${namespace}/deployments/fore`, { propagationPolicy: 'Foreground' });
  await api.delete(`${apps}/${namespace}/deployments/orphan`, { propagationPolicy: 'Orphan' });
  for (const name of ['fore', 'orphan'])
    await eventually(`${name} gone`, () => api.isGone(`${apps}/${namespace}/deployments/${name}`), timeoutMs);
  expect(await api.list(`${core}/${namespace}/pods?labelSelector=app%3Dfore`)).toEqual([]);
  const [left, ...more] = await api.list(`${apps}/${namespace}/replicasets?labelSelector=app%3Dorphan`);
  expect(more).toEqual([]);
  expect(left?.metadata.ownerReferences ?? []).toEqual([]);
}

export async function runsJobs(api: Api, namespace: string): Promise<void> {
  const job = { completions: 3, parallelism: 2, template: template('job', 'example.org/job:1', 'Never') };
  await api.create(`${batch}/${namespace}/jobs`, { metadata: { name: 'job' }, spec: job });
  const done = await eventually(
    'a complete job',
    async () => {
      const found = await api.get(`${batch}/${namespace}/jobs/job`);
      if (found.status?.['completionTime']) return found;
      throw new Error(JSON.stringify(found.status));
    },
    timeoutMs,
  );
  expect(done.status).toMatchObject({ succeeded: 3, uncountedTerminatedPods: {} });
  const conditions = done.status?.['conditions'] as { type: string; status: string }[];
  expect(conditions.map(({ type, status }) => `${type}=${status}`)).toContain('Complete=True');
  await api.delete(`${batch}/${namespace}/jobs/job`, { propagationPolicy: 'Background' });
}

/** StatefulSet in order, DaemonSet on every node, Service with the addresses of ready pods. */
export async function runsOtherWorkloads(api: Api, namespace: string): Promise<void> {
  const selector = (app: string) => ({ matchLabels: { app } });
  const service = { clusterIP: 'None', selector: { app: 'db' }, ports: [{ name: 'db', port: 5432 }] };
  await api.create(`${core}/${namespace}/services`, { metadata: { name: 'db' }, spec: service });
  const set = { serviceName: 'db', replicas: 2, selector: selector('db'), template: template('db', 'example.org/db:1') };
  await api.create(`${apps}/${namespace}/statefulsets`, { metadata: { name: 'db' }, spec: set });
  const daemon = { selector: selector('agent'), template: template('agent', 'example.org/agent:1') };
  await api.create(`${apps}/${namespace}/daemonsets`, { metadata: { name: 'agent' }, spec: daemon });
  const ready = (kind: string, field: string) => async () => {
    const [found] = await api.list(`${apps}/${namespace}/${kind}`);
    if (found?.status?.[field] === 2) return true;
    throw new Error(JSON.stringify(found?.status));
  };
  await eventually('the StatefulSet', ready('statefulsets', 'readyReplicas'), timeoutMs);
  await eventually('the DaemonSet', ready('daemonsets', 'numberReady'), timeoutMs);
  const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
  await eventually('two ready endpoints', async () => {
    const found = await api.list(`${slices}?labelSelector=kubernetes.io%2Fservice-name%3Ddb`);
    const endpoints = found.flatMap((slice) => slice['endpoints'] as { conditions: { ready: boolean }; hostname: string }[]);
    return endpoints.filter(({ conditions }) => conditions.ready).length === 2;
  });
}

/** The namespace goes, and everything in it; what every namespace has was there. */
export async function emptiesNamespace(api: Api, namespace: string): Promise<void> {
  const roots = await eventually<Item>('the root certificates', () =>
    api.get(`${core}/${namespace}/configmaps/kube-root-ca.crt`),
  );
  expect(roots['data']).toMatchObject({ 'ca.crt': expect.stringContaining('BEGIN CERTIFICATE') as unknown });
  await api.create(`${core}/${namespace}/configmaps`, { metadata: { name: 'c' }, data: { a: 'b' } });
  await api.create(`${core}/${namespace}/secrets`, { metadata: { name: 's' }, stringData: { a: 'b' } });
  await api.delete(`${core}/${namespace}`);
  await eventually(
    'an empty namespace to go',
    async () => {
      const { status, text } = await api.raw('GET', `${core}/${namespace}`);
      if (status === 404) return true;
      throw new Error(text);
    },
    timeoutMs,
  );
}
