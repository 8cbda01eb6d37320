// Scopes of pods, and what a quota on compute resources makes every container say (pkg/quota/v1/evaluator/core/pods.go).
import type { Pod, PodAffinityTerm } from '#api/core/v1';
import { podQos } from '../pod/index.ts';
import type { ScopeSelector } from './scopes.ts';

const crosses = (term: PodAffinityTerm): boolean => (term.namespaces?.length ?? 0) > 0 || term.namespaceSelector !== undefined;

function crossesNamespaces({ spec }: Pod): boolean {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {};
  return [podAffinity, podAntiAffinity].some(
    (affinity) =>
      affinity?.requiredDuringSchedulingIgnoredDuringExecution?.some(crosses) ||
      affinity?.preferredDuringSchedulingIgnoredDuringExecution?.some(({ podAffinityTerm }) => crosses(podAffinityTerm)),
  );
}

export function podMatchesScope({ scopeName, matches }: ScopeSelector, pod: Pod): boolean {
  const terminating = (pod.spec?.activeDeadlineSeconds ?? -1) >= 0;
  const bestEffort = (): boolean => podQos(pod) === 'BestEffort';
  switch (scopeName) {
    case 'Terminating':
      return terminating;
    case 'NotTerminating':
      return !terminating;
    case 'BestEffort':
      return bestEffort();
    case 'NotBestEffort':
      return !bestEffort();
    case 'PriorityClass':
      return matches(pod.spec?.priorityClassName || undefined);
    case 'CrossNamespacePodAffinity':
      return crossesNamespaces(pod);
    default:
      return false;
  }
}

const demanded = new Set(['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']);

/** `must specify limits.cpu for: a,b; ...`. Pod-level resources say it for all containers. */
export function podConstraintProblem(required: readonly string[], { spec }: Pod): string | undefined {
  const names = required.filter((name) => demanded.has(name)).sort();
  if (names.length === 0 || spec?.resources) return undefined;
  const missing = new Map<string, Set<string>>();
  for (const { name: container, resources } of [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]) {
    for (const name of names) {
      const [kind, resource] = name.includes('.') ? name.split('.') : ['requests', name];
      const list = kind === 'limits' ? resources?.limits : resources?.requests;
      if (list?.[resource as string] === undefined) missing.set(name, (missing.get(name) ?? new Set<string>()).add(container));
    }
  }
  if (missing.size === 0) return undefined;
  const parts = [...missing].map(([name, containers]) => `${name} for: ${[...containers].sort().join(',')}`);
  return `must specify ${parts.join('; ')}`;
}
