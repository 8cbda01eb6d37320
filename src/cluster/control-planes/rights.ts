// What the programs of control-plane machines may do, beside the roles that every apiserver has from the start: no more than they need.
import { beyondDocumented, delegationRole, documentedRole, leaderElectionRole } from '#cloud-controller-manager';
import type { KubeClient } from '#client';
import { type Applied, applyObjects } from '../apply.ts';
import { grantClusterRole } from '../grant.ts';

const rbac = 'rbac.authorization.k8s.io';
const apiVersion = `${rbac}/v1`;
const namespace = 'kube-system';
const name = 'cloud-controller-manager';

/** As whom apiservers speak to kubelets. */
export const kubeletClientName = 'kube-apiserver-kubelet-client';

const binding = (
  kind: 'Role' | 'ClusterRole',
  role: string,
  bound: string,
  subject: Record<string, string>,
): { resource: string; object: Applied } => ({
  resource: kind === 'Role' ? 'rolebindings' : 'clusterrolebindings',
  object: {
    apiVersion,
    kind: `${kind}Binding`,
    metadata: { name: bound, ...(kind === 'Role' && { namespace }) },
    roleRef: { apiGroup: rbac, kind, name: role },
    subjects: [subject],
  },
});

export async function grantControlPlanes(client: KubeClient): Promise<void> {
  await grantClusterRole(client, {
    role: `system:${name}`,
    serviceAccount: name,
    rules: [
      ...documentedRole,
      ...beyondDocumented.map(({ verb, resource, group }) => ({ apiGroups: [group], resources: [resource], verbs: [verb] })),
      ...delegationRole,
    ],
  });
  const account = { kind: 'ServiceAccount', name, namespace };
  const role = { apiVersion, kind: 'Role', metadata: { name: `system:${name}`, namespace }, rules: leaderElectionRole };
  await applyObjects(client, [
    { resource: 'roles', object: role },
    binding('Role', `system:${name}`, `system:${name}`, account),
    binding(
      'Role',
      'extension-apiserver-authentication-reader',
      `system:${name}:extension-apiserver-authentication-reader`,
      account,
    ),
    binding('ClusterRole', 'system:kubelet-api-admin', `sagong:${kubeletClientName}`, {
      apiGroup: rbac,
      kind: 'User',
      name: kubeletClientName,
    }),
  ]);
}
