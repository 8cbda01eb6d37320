// What enforces network policies on a joined machine lists all Pods: it may, as long as the machine's Node is there. Each has a name of its own, and a
// binding that comes and goes with the Node, so that the certificate of a machine that was removed is good for nothing.
import type { Node } from '#api/core/v1';
import type { ClusterRoleBinding } from '#api/rbac/v1';
import { defineController, type Plan, watch } from '#controller-runtime';
import { nodes, refOf } from '#controller-runtime/platform';
import { allow } from '#controller-runtime/workload';
import { networkPolicyGrant } from '../cloud/node-choices.ts';
import { identities } from '../certificates/identities.ts';

const rbac = 'rbac.authorization.k8s.io';
const clusterRoleBindings = { group: rbac, version: 'v1', resource: 'clusterrolebindings' };
const { role } = networkPolicyGrant();
const prefix = identities.networkPolicyOf('').name;

interface RightsView {
  name: string;
  node: Node | undefined;
  binding: ClusterRoleBinding | undefined;
}

const bindingOf = (node: string): ClusterRoleBinding => {
  const { name } = identities.networkPolicyOf(node);
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'User', apiGroup: rbac, name }],
  };
};

export function reconcileRights({ name, node, binding }: RightsView): Plan {
  if (node && !binding) {
    const because = 'There is a Node: what enforces network policies on it may list Pods.';
    return { effects: [{ op: 'create', resource: clusterRoleBindings, object: bindingOf(name) }], because };
  }
  if (node || !binding) return { effects: [] };
  const because = 'The Node is gone, and with it the rights of what enforced network policies on it.';
  return { effects: [{ op: 'delete', ref: refOf(clusterRoleBindings, binding) }], because };
}

export const nodePolicyRights = defineController<RightsView>({
  name: 'node-policy-rights',
  for: nodes,
  rights: [
    allow('get,list,watch', 'core', 'nodes'),
    allow('get,list,watch,create,delete', rbac, 'clusterrolebindings'),
    { ...allow('bind', rbac, 'clusterroles'), resourceNames: [role] },
  ],
  watches: [
    watch<Node>({ resource: nodes, keys: ({ metadata }) => [metadata.name ?? ''] }),
    watch<ClusterRoleBinding>({
      resource: clusterRoleBindings,
      keys: ({ metadata: { name = '' } }) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []),
    }),
  ],
  view: (name, cache) => ({
    name,
    node: cache.get<Node>(nodes, '', name),
    binding: cache.get<ClusterRoleBinding>(clusterRoleBindings, '', `${prefix}${name}`),
  }),
  reconcile: reconcileRights,
});
