import { expect, test } from 'vitest';
import type { UnknownObject } from '#apimachinery/meta';
import { MemoryCluster } from '../test-support/memory-cluster.ts';
import { ownRequest } from '../../request/own.ts';
import { RbacAuthorizer } from '../../authorization/rbac.ts';
import type { UserInfo } from '../../request/request.ts';
import type { HookedWrite } from '../generic/storage-hook.ts';
import { escalationHooks } from './escalation.ts';

const settings = { rest: () => undefined } as HookedWrite['settings'];
const rbac = 'rbac.authorization.k8s.io';
const alice: UserInfo = { name: 'alice', groups: ['system:authenticated'] };

function setUp(...rules: object[]) {
  const cluster = new MemoryCluster();
  const owned = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }, ...rules];
  cluster.put(rbac, 'roles', { metadata: { name: 'mgr', namespace: 'ns' }, rules: owned } as UnknownObject);
  cluster.put(rbac, 'clusterroles', {
    metadata: { name: 'all' },
    rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
  } as UnknownObject);
  cluster.put(rbac, 'rolebindings', {
    metadata: { name: 'mgr', namespace: 'ns' },
    roleRef: { kind: 'Role', name: 'mgr' },
    subjects: [{ kind: 'User', name: 'alice' }],
  } as UnknownObject);
  const authorizer = new RbacAuthorizer(cluster);
  const [roles, , bindings] = escalationHooks(authorizer, authorizer);
  const target = {
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    resource: 'roles',
    subresource: '',
    namespace: 'ns',
    name: '',
  };
  const context = { request: ownRequest(alice, 'create', target, 0), target, dryRun: false, settings };
  const meta = (name: string) => ({ name, namespace: 'ns' });
  return {
    role: (wanted: object[], old?: UnknownObject) =>
      roles?.check?.({ metadata: meta('r'), rules: wanted } as UnknownObject, old, context),
    bind: (kind: string, name: string) =>
      bindings?.check?.({ metadata: meta('b'), roleRef: { apiGroup: rbac, kind, name } } as UnknownObject, undefined, context),
  };
}

test('a role may hold only what its writer holds', async () => {
  const { role } = setUp();
  await role([{ apiGroups: [''], resources: ['pods'], resourceNames: ['x'], verbs: ['list'] }]);
  await expect(role([{ apiGroups: [''], resources: ['pods', 'secrets'], verbs: ['get', 'delete'] }])).rejects.toThrow(
    'roles.rbac.authorization.k8s.io "r" is forbidden: user "alice" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
      '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}',
  );
  await expect(role([{ apiGroups: [''], resources: ['pods/status'], verbs: ['get'] }])).rejects.toMatchObject({
    status: { code: 403 },
  });
});

test('escalate, and changes of bookkeeping only, need no rights', async () => {
  const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }];
  await setUp({ apiGroups: [rbac], resources: ['roles'], verbs: ['escalate'] }).role(rules);
  await setUp().role(rules, { metadata: { name: 'r', namespace: 'ns', finalizers: ['x'] }, rules });
});

test('a binding needs the rights of its role, or the verb bind', async () => {
  const { bind } = setUp();
  await bind('Role', 'mgr');
  await expect(bind('ClusterRole', 'all')).rejects.toThrow('{APIGroups:["*"], Resources:["*"], Verbs:["*"]}');
  await expect(bind('Role', 'absent')).rejects.toThrow('rolebindings.rbac.authorization.k8s.io "absent" not found');
  await setUp({ apiGroups: [rbac], resources: ['clusterroles'], resourceNames: ['all'], verbs: ['bind'] }).bind(
    'ClusterRole',
    'all',
  );
});

const words = (count: number, letter: string): string[] => Array.from({ length: count }, (_, at) => `${letter}${at}`);

test('a rule of a thousand million permissions is refused before they are looked at', async () => {
  const rule = { apiGroups: words(1000, 'g'), resources: words(1000, 'r'), verbs: words(1000, 'v') };
  await expect(setUp().role([rule])).rejects.toThrow('the rules stand for 1000000000 single permissions');
  await setUp(rule).role([rule]);
  await setUp({ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }).role([rule]);
});

test('a rule that several others hold together is looked at permission by permission', async () => {
  const rule = { apiGroups: words(10, 'g'), resources: words(10, 'r'), verbs: words(10, 'v') };
  const halves = [rule.verbs.slice(0, 5), rule.verbs.slice(5)].map((verbs) => ({ ...rule, verbs }));
  await setUp(...halves).role([rule]);
  await expect(setUp(halves[0] as object).role([rule])).rejects.toThrow('Verbs:["v5" "v6" "v7" "v8" "v9"]');
});
