// What the enforcement may read and write.
import type { PolicyRule } from '#api/rbac/v1';

export const networkPolicyRights: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['pods', 'namespaces'], verbs: ['list', 'watch'] },
  { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: ['list', 'watch'] },
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
];
