// The user as which apiservers speak to kubelets. It may do what upstream's role for it allows (nodes/proxy, nodes/log, nodes/stats, ...), and read
// nodes at the API.
import type { KubeClient } from '#client';
import { type Applied, applyObjects } from './apply.ts';

const rbac = 'rbac.authorization.k8s.io';

export const kubeletClientName = 'kube-apiserver-kubelet-client';

export const kubeletClientBinding: { resource: string; object: Applied } = {
  resource: 'clusterrolebindings',
  object: {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: `sagong:${kubeletClientName}` },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'system:kubelet-api-admin' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: kubeletClientName }],
  },
};

export const grantKubeletClient = (client: KubeClient): Promise<void> => applyObjects(client, [kubeletClientBinding]);
