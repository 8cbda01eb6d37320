// Cluster roles (rbac.authorization.k8s.io/v1; pkg/registry/rbac/clusterrole).
import type { ClusterRole } from '#api/rbac/v1';
import { type FieldError, root } from '#apimachinery/field';
import { isPathSegmentName } from '#apimachinery/validation';
import { validateLabelSelector } from '../../common/labels.ts';
import { compiled } from '../../core/pod/templates.ts';
import { collect, isEmpty } from '../../common/report.ts';
import { defineKind } from '../../kind.ts';
import { validatePolicyRules } from '../common/rules.ts';

const selectorsPath = root('aggregationRule', 'clusterRoleSelectors');

function validate({ rules, aggregationRule }: ClusterRole, old?: ClusterRole): FieldError[] {
  const selectors = aggregationRule?.clusterRoleSelectors;
  const hadInvalid = old?.aggregationRule?.clusterRoleSelectors?.some(
    (selector) => collect((report) => validateLabelSelector(report, selectorsPath, selector)).length > 0,
  );
  return collect((report) => {
    validatePolicyRules(report, rules, false);
    if (aggregationRule && isEmpty(selectors)) {
      report.required(selectorsPath, 'at least one clusterRoleSelector required if aggregationRule is non-nil');
    }
    selectors?.forEach((selector, index) => {
      const at = selectorsPath.index(index);
      validateLabelSelector(report, at, selector, hadInvalid);
      if (!compiled(selector)) report.invalid(at, null, 'invalid label selector.');
    });
  });
}

export const clusterRole = defineKind<ClusterRole>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  generation: false,
  validateName: isPathSegmentName,
  validate: (role) => validate(role),
  validateUpdate: validate,
  allowCreateOnUpdate: true,
});
