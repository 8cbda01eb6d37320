// Whether a webhook wants to see a request (k8s.io/apiserver/pkg/admission/plugin/webhook/predicates).
import type { RuleWithOperations } from '#api/admissionregistration/v1';
import type { Namespace } from '#api/core/v1';
import { notFound } from '#apimachinery/errors';
import { type LabelSelector, fromLabelSelector, type Selector } from '#apimachinery/labels';
import type { AdmissionRequest } from '../../registry/generic/admission.ts';
import type { ReadOnlyCluster } from '../../storage/read-only-cluster.ts';

const holds = (items: readonly string[] | undefined, wanted: string): boolean =>
  (items ?? []).some((item) => item === '*' || item === wanted);

const isNamespace = ({ group, resource }: AdmissionRequest): boolean => group === '' && resource === 'namespaces';

function matchesScope({ scope }: RuleWithOperations, request: AdmissionRequest): boolean {
  if (scope === undefined || scope === '*') return true;
  const namespaced = !isNamespace(request) && request.namespace !== '';
  return scope === 'Namespaced' ? namespaced : scope === 'Cluster' && !namespaced;
}

function matchesResource({ resources }: RuleWithOperations, { resource, subresource }: AdmissionRequest): boolean {
  return (resources ?? []).some((item) => {
    const slash = item.indexOf('/');
    const [wanted, sub] = slash < 0 ? [item, ''] : [item.slice(0, slash), item.slice(slash + 1)];
    return (wanted === '*' || wanted === resource) && (sub === '*' || sub === subresource);
  });
}

export const matchesRule = (rule: RuleWithOperations, request: AdmissionRequest): boolean =>
  matchesScope(rule, request) &&
  holds(rule.operations, request.operation) &&
  holds(rule.apiGroups, request.group) &&
  holds(rule.apiVersions, request.version) &&
  matchesResource(rule, request);

/** Selectors of one webhook, compiled. */
export interface Selectors {
  namespace: Selector;
  object: Selector;
}

export const compileSelectors = (namespace: LabelSelector | undefined, object: LabelSelector | undefined): Selectors => ({
  namespace: fromLabelSelector(namespace ?? {}),
  object: fromLabelSelector(object ?? {}),
});

/** Labels of the namespace the request is in, or of the namespace it is about; undefined for cluster-scoped ones, which always match. */
function namespaceLabels(cluster: ReadOnlyCluster, request: AdmissionRequest): Record<string, string> | undefined {
  const own = isNamespace(request);
  if (own && (request.operation === 'CREATE' || request.operation === 'UPDATE')) return request.object?.metadata.labels ?? {};
  const name = own ? request.name : request.namespace;
  if (name === '') return undefined;
  const found = cluster.get<Namespace>('', 'namespaces', '', name);
  if (!found) throw notFound({ group: '', resource: 'namespaces' }, name);
  return found.metadata.labels ?? {};
}

export function matchesSelectors(cluster: ReadOnlyCluster, selectors: Selectors, request: AdmissionRequest): boolean {
  if (!selectors.namespace.empty) {
    const labels = namespaceLabels(cluster, request);
    if (labels && !selectors.namespace.matches(labels)) return false;
  }
  if (selectors.object.empty) return true;
  return [request.object, request.oldObject].some((object) => object && selectors.object.matches(object.metadata.labels ?? {}));
}

const configurationKinds = new Set([
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
]);

/** Webhooks do not see what configures them: a broken one could not be repaired. */
export const isExempt = ({ group, kind }: AdmissionRequest): boolean =>
  group === 'admissionregistration.k8s.io' && configurationKinds.has(kind);
