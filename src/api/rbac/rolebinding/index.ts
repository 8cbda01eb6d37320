// Role bindings (rbac.authorization.k8s.io/v1; pkg/registry/rbac/rolebinding).
import type { RoleBinding } from '#api/rbac/v1';
import { defineKind } from '../../kind.ts';
import { bindingRules } from '../common/bindings.ts';

export const roleBinding = defineKind<RoleBinding>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'RoleBinding',
  ...bindingRules(true),
});
