import { expect, test } from 'vitest';
import type { FlowSchema } from '#api/flowcontrol/v1';
import type { ClusterRole, ClusterRoleBinding } from '#api/rbac/v1';
import type { KubeObject } from '#apimachinery/meta';
import { MemoryCluster } from '../registry/test-support/memory-cluster.ts';
import { RbacAuthorizer } from '../authorization/rbac.ts';
import { systemClock } from '#host';
import { openMemoryStore } from '#store';
import { silentLogger } from '#utils';
import { bootstrapHooks, KubernetesServiceController } from './index.ts';
import { keepFlowControl } from './keep-flow-control.ts';
import { parseRule, rbacGroup } from '../authorization/policy/role-data.ts';

const hooks = bootstrapHooks({
  service: new KubernetesServiceController(
    { clusterIp: '10.96.0.1', advertiseAddress: '192.0.2.1', port: () => 6443 },
    { store: openMemoryStore({}), clock: systemClock(), logger: silentLogger },
  ),
  serviceCidrs: ['10.96.0.0/16'],
  trust: { clientCa: 'PEM' },
  clock: { ...systemClock(), now: () => 0 },
});

async function started(cluster = new MemoryCluster()): Promise<MemoryCluster> {
  const running = new AbortController();
  for (const hook of hooks) await hook.run(cluster, cluster, running.signal);
  running.abort();
  return cluster;
}

test('makes what a cluster starts with', async () => {
  const cluster = await started();
  const names = (group: string, resource: string) => cluster.list(group, resource).map(({ metadata }) => metadata.name);
  expect(names('', 'namespaces').sort()).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system']);
  expect(names('flowcontrol.apiserver.k8s.io', 'flowschemas')).toHaveLength(11);
  expect(names('scheduling.k8s.io', 'priorityclasses')).toHaveLength(2);
  expect(names(rbacGroup, 'clusterroles')).toContain('system:controller:deployment-controller');
  expect(cluster.get<KubeObject & { subsets: unknown }>('', 'endpoints', 'default', 'kubernetes')?.subsets).toEqual([
    { addresses: [{ ip: '192.0.2.1' }], ports: [{ name: 'https', port: 6443, protocol: 'TCP' }] },
  ]);
});

test('a second start writes nothing', async () => {
  const cluster = await started();
  let changes = 0;
  for (const resource of ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'])
    cluster.onChange(rbacGroup, resource, () => changes++);
  for (const resource of ['services', 'endpoints', 'namespaces', 'configmaps']) cluster.onChange('', resource, () => changes++);
  await started(cluster);
  expect(changes).toBe(0);
});

test('adds what is missing, keeps what was added, honours autoupdate=false', async () => {
  const cluster = await started();
  const own = parseRule('get example.com things');
  cluster.put<ClusterRole>(rbacGroup, 'clusterroles', {
    metadata: { name: 'system:basic-user', labels: { mine: 'yes' } },
    rules: [own],
  });
  const locked = {
    metadata: { name: 'system:discovery', annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'false' } },
    rules: [],
  };
  cluster.put<ClusterRole>(rbacGroup, 'clusterroles', locked);
  cluster.put<ClusterRoleBinding>(rbacGroup, 'clusterrolebindings', {
    metadata: { name: 'system:basic-user' },
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: 'system:basic-user' },
    subjects: [{ kind: 'User', apiGroup: rbacGroup, name: 'guest' }],
  });
  await started(cluster);
  const role = cluster.get<ClusterRole>(rbacGroup, 'clusterroles', '', 'system:basic-user');
  expect(role?.metadata.labels).toEqual({ mine: 'yes', 'kubernetes.io/bootstrapping': 'rbac-defaults' });
  expect(role?.rules?.[0]).toEqual(own);
  expect(role?.rules?.slice(1).flatMap(({ resources }) => resources)).toContain('selfsubjectreviews');
  expect(cluster.get<ClusterRole>(rbacGroup, 'clusterroles', '', 'system:discovery')?.rules).toEqual([]);
  const binding = cluster.get<ClusterRoleBinding>(rbacGroup, 'clusterrolebindings', '', 'system:basic-user');
  expect(binding?.subjects?.map(({ name }) => name)).toEqual(['guest', 'system:authenticated']);
});

test('the default policy lets components work and users look at themselves', async () => {
  const authorizer = new RbacAuthorizer(await started());
  const may = (name: string, groups: string[], verb: string, group: string, resource: string, namespace = '') =>
    authorizer.authorize({
      user: { name, groups },
      verb,
      target: { group, version: 'v1', resource, subresource: '', namespace, name: '' },
    }).allowed;
  expect(may('system:kube-scheduler', [], 'list', '', 'pods')).toBe(true);
  expect(may('system:serviceaccount:kube-system:deployment-controller', [], 'create', 'apps', 'replicasets', 'x')).toBe(true);
  expect(may('jane', ['system:authenticated'], 'create', 'authorization.k8s.io', 'selfsubjectaccessreviews')).toBe(true);
  expect(may('jane', ['system:authenticated'], 'list', '', 'pods')).toBe(false);
});

test('what priority and fairness needs comes back at once when it is deleted, and its spec within a minute', async () => {
  const cluster = new MemoryCluster();
  const running = new AbortController();
  const due: (() => void)[] = [];
  const clock = { ...systemClock(), setTimer: (_: number, callback: () => void) => (due.push(callback), { cancel() {} }) };
  await keepFlowControl(cluster, cluster, running.signal, clock);
  const place = ['flowcontrol.apiserver.k8s.io', 'flowschemas', ''] as const;
  const levelOf = (name: string) => cluster.get<FlowSchema>(...place, name)?.spec?.priorityLevelConfiguration.name;
  await cluster.delete(...place, 'system-nodes');
  await expect.poll(() => levelOf('system-nodes')).toBe('system');
  const moved = (schema: FlowSchema, mine: boolean): FlowSchema => ({
    ...schema,
    metadata: { ...schema.metadata, annotations: { 'apf.kubernetes.io/autoupdate-spec': mine ? 'false' : 'true' } },
    spec: { ...schema.spec, priorityLevelConfiguration: { name: 'elsewhere' } },
  });
  for (const [name, mine] of [
    ['catch-all', true],
    ['system-nodes', false],
    ['service-accounts', true],
  ] as const)
    await cluster.update<FlowSchema>(...place, name, (schema) => moved(schema, mine));
  due.shift()?.();
  // The mandatory one and the server's own are mended; what an administrator took over stays.
  await expect
    .poll(() => ['catch-all', 'system-nodes', 'service-accounts'].map(levelOf))
    .toEqual(['catch-all', 'system', 'elsewhere']);
  running.abort();
});
