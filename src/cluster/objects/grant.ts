// Rights of what runs beside a cluster: a ClusterRole for one service account of kube-system.
import type { PolicyRule } from '#api/rbac/v1';
import type { KubeClient } from '#client';
import { applyObjects } from './apply.ts';

const rbac = 'rbac.authorization.k8s.io';
const apiVersion = `${rbac}/v1`;

export interface Grant {
  /** Name of the ClusterRole and of its binding. */
  role: string;
  /** Name in kube-system. */
  serviceAccount: string;
  rules: readonly PolicyRule[];
}

/** A ClusterRole alone, for bindings that come and go. */
export const applyClusterRole = (client: KubeClient, { role, rules }: Omit<Grant, 'serviceAccount'>): Promise<void> =>
  applyObjects(client, [
    { resource: 'clusterroles', object: { apiVersion, kind: 'ClusterRole', metadata: { name: role }, rules } },
  ]);

export const grantClusterRole = (client: KubeClient, { role, serviceAccount, rules }: Grant): Promise<void> =>
  applyObjects(client, [
    { resource: 'clusterroles', object: { apiVersion, kind: 'ClusterRole', metadata: { name: role }, rules } },
    {
      resource: 'clusterrolebindings',
      object: {
        apiVersion,
        kind: 'ClusterRoleBinding',
        metadata: { name: role },
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
        subjects: [{ kind: 'ServiceAccount', name: serviceAccount, namespace: 'kube-system' }],
      },
    },
  ]);
