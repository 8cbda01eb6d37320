// Who may view a cluster may view what it uses: the role that metrics-server's own manifests bring (aggregated into admin, edit and view).
import type { ClusterRole } from '#api/rbac/v1';
import type { StartHook } from '../start-hook.ts';
import { isAlreadyExists } from '#apimachinery/errors';

const role: ClusterRole = {
  metadata: {
    name: 'system:aggregated-metrics-reader',
    labels: {
      'k8s-app': 'metrics-server',
      'rbac.authorization.k8s.io/aggregate-to-admin': 'true',
      'rbac.authorization.k8s.io/aggregate-to-edit': 'true',
      'rbac.authorization.k8s.io/aggregate-to-view': 'true',
    },
  },
  rules: [{ apiGroups: ['metrics.k8s.io'], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] }],
};

/** Makes the role once: what somebody changes of it stays. */
export const metricsRoleHook: StartHook = {
  name: 'metrics-reader-role',
  after: 'rbac/bootstrap-roles',
  async run(cluster, writer) {
    const group = 'rbac.authorization.k8s.io';
    if (cluster.get(group, 'clusterroles', '', role.metadata.name ?? '')) return;
    await writer.create(group, 'clusterroles', role).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  },
};
