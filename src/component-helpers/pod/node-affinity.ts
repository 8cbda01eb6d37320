// Whether a node is one of those a pod must run on (k8s.io/component-helpers/scheduling/corev1/nodeaffinity, required terms only).
import type { Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod } from '#api/core/v1';
import { isOneOf, own, parseGoInt } from '#utils';

function labelMatches(
  { key, operator, values = [] }: NodeSelectorRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && isOneOf(value, values);
    case 'NotIn':
      return value === undefined || !isOneOf(value, values);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
    case 'Lt': {
      const bound = parseGoInt(values[0] ?? '', 64);
      const number = parseGoInt(value ?? '', 64);
      if (number === undefined || bound === undefined) return false;
      return operator === 'Gt' ? number > bound : number < bound;
    }
    default:
      return false;
  }
}

function fieldMatches({ key, operator, values = [] }: NodeSelectorRequirement, node: Node): boolean {
  const name = node.metadata.name ?? '';
  return key === 'metadata.name' && (operator === 'In' ? isOneOf(name, values) : operator === 'NotIn' && !isOneOf(name, values));
}

/** Requirements are joined by "and"; a term without any matches nothing. */
function termMatches({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  if (matchExpressions.length === 0 && matchFields.length === 0) return false;
  const labels = node.metadata.labels ?? {};
  return (
    matchExpressions.every((requirement) => labelMatches(requirement, labels)) &&
    matchFields.every((requirement) => fieldMatches(requirement, node))
  );
}

/** Whether a node meets any term of the selector. */
export const nodeSelectorMatches = (selector: NodeSelector, node: Node): boolean =>
  selector.nodeSelectorTerms?.some((term) => termMatches(term, node)) ?? false;

/** Whether a node satisfies a pod's nodeSelector and required node affinity. */
export function requiredNodeAffinityMatches(pod: Pod, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  for (const [key, value] of Object.entries(pod.spec?.nodeSelector ?? {})) if (own(labels, key) !== value) return false;
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || nodeSelectorMatches(required, node);
}
