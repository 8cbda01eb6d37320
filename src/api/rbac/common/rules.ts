// Rules of roles (pkg/apis/rbac/validation, ValidatePolicyRule).
import type { PolicyRule } from '#api/rbac/v1';
import { root } from '#apimachinery/field';
import { isEmpty, type Report } from '../../common/report.ts';

export function validatePolicyRules(report: Report, rules: PolicyRule[] | null | undefined, namespaced: boolean): void {
  rules?.forEach((rule, index) => {
    const at = root('rules').index(index);
    if (isEmpty(rule.verbs)) report.required(at.child('verbs'), 'verbs must contain at least one value');
    if (!isEmpty(rule.nonResourceURLs)) {
      const urls = at.child('nonResourceURLs');
      if (namespaced) report.invalid(urls, rule.nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs');
      if (!isEmpty(rule.apiGroups) || !isEmpty(rule.resources) || !isEmpty(rule.resourceNames)) {
        report.invalid(urls, rule.nonResourceURLs, 'rules cannot apply to both regular resources and non-resource URLs');
      }
      return;
    }
    if (isEmpty(rule.apiGroups)) report.required(at.child('apiGroups'), 'resource rules must supply at least one api group');
    if (isEmpty(rule.resources)) report.required(at.child('resources'), 'resource rules must supply at least one resource');
  });
}
