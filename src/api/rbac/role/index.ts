// Roles (rbac.authorization.k8s.io/v1; pkg/registry/rbac/role).
import type { Role } from '#api/rbac/v1';
import { isPathSegmentName } from '#apimachinery/validation';
import { collect } from '../../common/report.ts';
import { defineKind } from '../../kind.ts';
import { validatePolicyRules } from '../common/rules.ts';

const validate = ({ rules }: Role) => collect((report) => validatePolicyRules(report, rules, true));

export const role = defineKind<Role>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'Role',
  generation: false,
  validateName: isPathSegmentName,
  validate,
  validateUpdate: validate,
  allowCreateOnUpdate: true,
});
