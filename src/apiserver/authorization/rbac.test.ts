import { expect, test } from 'vitest';
import type { Attributes, UserInfo } from '../request/request.ts';
import { MemoryCluster } from '../registry/test-support/memory-cluster.ts';
import { forbiddenError } from './messages.ts';
import { RbacAuthorizer } from './rbac.ts';
import { mastersAuthorizer, unionAuthorizer } from './union.ts';

const rbac = 'rbac.authorization.k8s.io';
const dave: UserInfo = { name: 'dave', groups: ['devs', 'system:authenticated'] };
const robot: UserInfo = { name: 'system:serviceaccount:ns:robot', groups: ['system:serviceaccounts'] };

function world(): MemoryCluster {
  const cluster = new MemoryCluster();
  cluster.put(rbac, 'roles', {
    metadata: { name: 'r', namespace: 'ns' },
    rules: [
      { apiGroups: [''], resources: ['pods', 'pods/log'], verbs: ['get', 'list'] },
      { apiGroups: ['batch'], resources: ['*'], verbs: ['get'] },
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'], verbs: ['*'] },
      { apiGroups: ['apps'], resources: ['*/scale'], verbs: ['update'] },
    ],
  });
  cluster.put(rbac, 'rolebindings', {
    metadata: { name: 'r', namespace: 'ns' },
    roleRef: { apiGroup: rbac, kind: 'Role', name: 'r' },
    subjects: [
      { kind: 'User', name: 'dave' },
      { kind: 'ServiceAccount', name: 'robot' },
    ],
  });
  cluster.put(rbac, 'clusterroles', {
    metadata: { name: 'health' },
    rules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/api*'] }],
  });
  cluster.put(rbac, 'clusterrolebindings', {
    metadata: { name: 'health' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'health' },
    subjects: [{ kind: 'Group', name: 'system:authenticated' }],
  });
  return cluster;
}

const ask = (user: UserInfo, verb: string, what: string, namespace = 'ns', name = ''): Attributes => {
  const [path = '', group = ''] = what.split('.');
  const [resource = '', subresource = ''] = path.split('/');
  return { user, verb, target: { group, version: 'v1', resource, subresource, namespace, name } };
};

test.each([
  [dave, 'get', 'pods', 'ns', '', 'RoleBinding "r/ns" of Role "r" to User "dave"'],
  [robot, 'get', 'pods/log', 'ns', '', 'RoleBinding "r/ns" of Role "r" to ServiceAccount "robot/ns"'],
  [dave, 'get', 'jobs/status.batch', 'ns', '', 'RoleBinding "r/ns" of Role "r" to User "dave"'],
  [dave, 'delete', 'configmaps', 'ns', 'a', 'RoleBinding "r/ns" of Role "r" to User "dave"'],
  [dave, 'update', 'deployments/scale.apps', 'ns', '', 'RoleBinding "r/ns" of Role "r" to User "dave"'],
])('allows %j %s %s', (user, verb, what, namespace, name, source) => {
  const authorizer = new RbacAuthorizer(world());
  expect(authorizer.authorize(ask(user, verb, what, namespace, name))).toEqual({
    allowed: true,
    reason: `RBAC: allowed by ${source}`,
  });
});

test.each([
  [dave, 'delete', 'pods', 'ns', ''],
  [dave, 'get', 'pods', 'other', ''],
  [dave, 'get', 'pods', '', ''],
  [dave, 'get', 'pods/status', 'ns', ''],
  [dave, 'delete', 'configmaps', 'ns', 'c'],
  [dave, 'list', 'configmaps', 'ns', ''],
  [dave, 'update', 'deployments.apps', 'ns', ''],
  [dave, '*', 'jobs.batch', 'ns', ''],
  [{ name: 'eve', groups: [] }, 'get', 'pods', 'ns', ''],
])('has no opinion on %j %s %s in %s', (user, verb, what, namespace, name) => {
  const authorizer = new RbacAuthorizer(world());
  expect(authorizer.authorize(ask(user, verb, what, namespace, name))).toEqual({ allowed: false, reason: '' });
});

test('paths match exactly or by prefix', () => {
  const authorizer = new RbacAuthorizer(world());
  const allowed = (path: string) => authorizer.authorize({ user: dave, verb: 'get', path }).allowed;
  expect([allowed('/healthz'), allowed('/healthz/x'), allowed('/apis/apps')]).toEqual([true, false, true]);
});

test('follows changes of roles and bindings', () => {
  const cluster = world();
  const authorizer = new RbacAuthorizer(cluster);
  const list = ask(dave, 'list', 'secrets');
  expect(authorizer.authorize(list).allowed).toBe(false);
  cluster.put(rbac, 'roles', {
    metadata: { name: 'r', namespace: 'ns' },
    rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['list'] }],
  });
  expect(authorizer.authorize(list).allowed).toBe(true);
  cluster.put(rbac, 'rolebindings', {
    metadata: { name: 'r', namespace: 'ns' },
    roleRef: { kind: 'Role', name: 'r' },
    subjects: [],
  });
  expect(authorizer.authorize(list).allowed).toBe(false);
});

test('a binding to a missing role is told', () => {
  const cluster = world();
  cluster.put(rbac, 'rolebindings', {
    metadata: { name: 'x', namespace: 'ns' },
    roleRef: { kind: 'Role', name: 'gone' },
    subjects: [{ kind: 'User', name: 'dave' }],
  });
  const decision = new RbacAuthorizer(cluster).authorize(ask(dave, 'list', 'secrets'));
  expect(decision.reason).toBe('RBAC: role.rbac.authorization.k8s.io "gone" not found');
});

test('masters pass, and the refusal reads as upstream has it', async () => {
  const union = unionAuthorizer([mastersAuthorizer, new RbacAuthorizer(world())]);
  expect(await union.authorize(ask({ name: 'root', groups: ['system:masters'] }, 'delete', 'nodes', ''))).toMatchObject({
    allowed: true,
  });
  const asked = ask(dave, 'list', 'deployments.apps');
  expect(forbiddenError(asked, '').message).toBe(
    'deployments.apps is forbidden: User "dave" cannot list resource "deployments" in API group "apps" in the namespace "ns"',
  );
  expect(forbiddenError({ user: dave, verb: 'get', path: '/x<y' }, 'no').message).toBe(
    'forbidden: User "dave" cannot get path "/x&lt;y": no',
  );
});
