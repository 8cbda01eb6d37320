// Whether a webhook or a policy wants to see a request, and by which of its resources (k8s.io/apiserver/pkg/admission/plugin/webhook/predicates).
import type { RuleWithOperations } from '#api/admissionregistration/v1';
import type { Namespace } from '#api/core/v1';
import { notFound } from '#apimachinery/errors';
import { type LabelSelector, fromLabelSelector, type Selector } from '#apimachinery/labels';
import type { AdmissionRequest, EquivalentResource } from '../registry/generic/admission.ts';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';
import type { Through } from './sight.ts';

const holds = (items: readonly string[] | undefined, wanted: string): boolean =>
  (items ?? []).some((item) => item === '*' || item === wanted);

/** A rule of a webhook, or of a policy, which may name objects as well. */
export type Rule = RuleWithOperations & { resourceNames?: readonly string[] };

type NamedResource = Pick<EquivalentResource, 'group' | 'version' | 'resource'>;

const isNamespace = ({ group, resource }: NamedResource): boolean => group === '' && resource === 'namespaces';

function matchesScope({ scope }: RuleWithOperations, request: AdmissionRequest): boolean {
  if (scope === undefined || scope === '*') return true;
  const namespaced = !isNamespace(request) && request.namespace !== '';
  return scope === 'Namespaced' ? namespaced : scope === 'Cluster' && !namespaced;
}

function matchesResource({ resources }: RuleWithOperations, { resource }: NamedResource, subresource: string): boolean {
  return (resources ?? []).some((item) => {
    const slash = item.indexOf('/');
    const [wanted, sub] = slash < 0 ? [item, ''] : [item.slice(0, slash), item.slice(slash + 1)];
    return (wanted === '*' || wanted === resource) && (sub === '*' || sub === subresource);
  });
}

/** `as`: the resource that the request is taken to be about. */
export const matchesRule = (rule: Rule, request: AdmissionRequest, as: NamedResource = request): boolean =>
  matchesScope(rule, request) &&
  holds(rule.operations, request.operation) &&
  holds(rule.apiGroups, as.group) &&
  holds(rule.apiVersions, as.version) &&
  matchesResource(rule, as, request.subresource) &&
  (!rule.resourceNames?.length || rule.resourceNames.includes(request.name));

/** The resource by which one of the rules names the request: its own before equivalent ones, the first rule's of these; undefined: none does. */
export function namedThrough(
  rules: readonly Rule[] = [],
  matchPolicy: string | undefined,
  request: AdmissionRequest,
): Through | undefined {
  if (rules.some((rule) => matchesRule(rule, request))) return 'own';
  if (matchPolicy !== 'Equivalent') return undefined;
  const { equivalents = [] } = request;
  if (equivalents.length === 0) return undefined;
  for (const rule of rules) {
    const found = equivalents.find((one) => matchesRule(rule, request, one));
    if (found) return found;
  }
  return undefined;
}

/** The compiled selectors of one webhook. */
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
