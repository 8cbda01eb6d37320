// Cluster role bindings (rbac.authorization.k8s.io/v1; pkg/registry/rbac/clusterrolebinding).
import type { ClusterRoleBinding } from '#api/rbac/v1';
import { defineKind } from '../../kind.ts';
import { bindingRules } from '../common/bindings.ts';

export const clusterRoleBinding = defineKind<ClusterRoleBinding>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRoleBinding',
  ...bindingRules(false),
});
