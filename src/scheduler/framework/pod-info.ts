// A pod with what scheduling asks of it again and again worked out once (upstream scheduler framework.PodInfo).
import type { Container, Pod } from '#api/core/v1';
import { type Amounts, type HostPort, hostPorts, podRequests } from '#component-helpers/pod';
import { parseQuantity } from '#apimachinery/quantity';
import {
  type AffinityTerm,
  affinityTerms,
  type KeptTerms,
  keptTerms,
  type WeightedAffinityTerm,
  weightedAffinityTerms,
} from './affinity-term.ts';
import { type Resources, resourcesOf } from './resources.ts';

// What scoring takes a container for that asks for nothing.
const nonMissing = { cpu: parseQuantity('100m'), memory: parseQuantity('200Mi') };

export interface PodInfo {
  readonly pod: Pod;
  /** `namespace/name`. */
  readonly key: string;
  readonly uid: string;
  readonly namespace: string;
  readonly priority: number;
  readonly requests: Resources;
  /** CPU (thousandths) and memory with defaults for containers that ask for nothing. */
  readonly nonZeroCpu: number;
  readonly nonZeroMemory: number;
  readonly ports: readonly HostPort[];
  readonly requiredAffinity: readonly AffinityTerm[];
  readonly requiredAntiAffinity: readonly AffinityTerm[];
  readonly preferredAffinity: readonly WeightedAffinityTerm[];
  readonly preferredAntiAffinity: readonly WeightedAffinityTerm[];
  /** Required terms that the pod has; with more than `affinityTermsMax` it is placed nowhere. */
  readonly requiredTerms: number;
  readonly hasAffinity: boolean;
  /** Equal for pods with the same terms about the same namespaces; '' without any. */
  readonly affinityKey: string;
  /** Names of claims among its volumes. */
  readonly claims: readonly string[];
  /**
   * Equal for pods that every plugin marked `local` treats alike on every node: the part of the spec those plugins read.
   */
  readonly classKey: string;
}

const noTerms: KeptTerms = { required: [], requiredAnti: [], preferred: [], preferredAnti: [], requiredTotal: 0 };

const containerFacts = ({ image, resources, ports, restartPolicy }: Container): unknown => [
  image,
  resources?.requests,
  ports?.filter(({ hostPort }) => hostPort).map(({ hostIP, hostPort, protocol }) => [hostIP, hostPort, protocol]),
  restartPolicy,
];

function classKeyOf(pod: Pod): string {
  const spec = pod.spec;
  return JSON.stringify([
    spec?.containers.map(containerFacts),
    spec?.initContainers?.map(containerFacts),
    spec?.nodeSelector,
    spec?.affinity?.nodeAffinity,
    spec?.tolerations,
    spec?.nodeName,
    spec?.overhead,
    spec?.resources?.requests,
    spec?.volumes?.map(({ image }) => image?.reference).filter(Boolean),
  ]);
}

/** The name of a volume's claim; generic ephemeral volumes have one named after pod and volume. */
export function claimNames(pod: Pod): string[] {
  const names: string[] = [];
  for (const { name, persistentVolumeClaim, ephemeral } of pod.spec?.volumes ?? []) {
    if (persistentVolumeClaim) names.push(persistentVolumeClaim.claimName);
    else if (ephemeral) names.push(`${pod.metadata.name}-${name}`);
  }
  return names;
}

/** The requests with defaults for what has none: a resource that the whole pod or any container requests gets no default. */
function withDefaults(pod: Pod, requested: Amounts): Resources {
  const known = pod.spec?.resources?.requests === undefined ? [] : [...requested.keys()];
  const missing = Object.entries(nonMissing).filter(([name]) => !known.includes(name));
  return resourcesOf(
    missing.length === 0 ? requested : podRequests(pod, { nonMissing: Object.fromEntries(missing), useStatus: true }),
  );
}

/** Throws a StatusError when an affinity term's selector is not valid. */
export function podInfoOf(pod: Pod): PodInfo {
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  const some = podAffinity !== undefined || podAntiAffinity !== undefined;
  const requested = podRequests(pod, { useStatus: true });
  const nonZero = withDefaults(pod, requested);
  const terms = some ? keptTerms(pod) : noTerms;
  const { required, requiredAnti, preferred, preferredAnti, requiredTotal } = terms;
  const hasAffinity = requiredTotal + preferred.length + preferredAnti.length > 0;
  return {
    pod,
    key: `${pod.metadata.namespace}/${pod.metadata.name}`,
    uid: pod.metadata.uid ?? '',
    namespace: pod.metadata.namespace ?? '',
    priority: pod.spec?.priority ?? 0,
    requests: resourcesOf(requested),
    nonZeroCpu: nonZero.cpu,
    nonZeroMemory: nonZero.memory,
    ports: hostPorts(pod),
    requiredAffinity: affinityTerms(pod, required),
    requiredAntiAffinity: affinityTerms(pod, requiredAnti),
    preferredAffinity: weightedAffinityTerms(pod, preferred),
    preferredAntiAffinity: weightedAffinityTerms(pod, preferredAnti),
    requiredTerms: requiredTotal,
    hasAffinity,
    affinityKey: hasAffinity ? JSON.stringify([pod.metadata.namespace, terms]) : '',
    claims: claimNames(pod),
    classKey: classKeyOf(pod),
  };
}
