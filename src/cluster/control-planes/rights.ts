// What the programs of control-plane machines may do, beside the roles that every apiserver has from the start: no more than they need.
import { beyondDocumented, delegationRole, documentedRole, leaderElectionRole } from '#cloud-controller-manager';
import type { KubeClient } from '#client';
import { type Applied, applyObjects } from '../objects/apply.ts';
import { grantClusterRole } from '../objects/grant.ts';
import { kubeletClientBinding } from '../objects/kubelet-client.ts';

const rbac = 'rbac.authorization.k8s.io';
const apiVersion = `${rbac}/v1`;
const namespace = 'kube-system';
const name = 'cloud-controller-manager';

const binding = (role: string, bound: string, subject: Record<string, string>): { resource: string; object: Applied } => ({
  resource: 'rolebindings',
  object: {
    apiVersion,
    kind: 'RoleBinding',
    metadata: { name: bound, namespace },
    roleRef: { apiGroup: rbac, kind: 'Role', name: role },
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
    binding(`system:${name}`, `system:${name}`, account),
    binding('extension-apiserver-authentication-reader', `system:${name}:extension-apiserver-authentication-reader`, account),
    kubeletClientBinding,
  ]);
}
