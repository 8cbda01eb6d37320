// A pod's spread constraints made ready to count by, its own or the profile's (upstream plugins/podtopologyspread common.go).
import type { Pod, Service, TopologySpreadConstraint } from '#api/core/v1';
import { add, everything, fromLabelSelector, fromSet, type Selector } from '#apimachinery/labels';
import { controllerOf } from '#apimachinery/meta';
import { requiredNodeAffinityMatches, untoleratedTaint } from '#component-helpers/pod';
import { own } from '#utils';
import type { ClusterView, NodeInfo, PodInfo, Snapshot } from '../../framework/index.ts';

export const hostnameLabel = 'kubernetes.io/hostname';
export type Action = 'DoNotSchedule' | 'ScheduleAnyway';

export interface SpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly selector: Selector;
  readonly minDomains: number;
  readonly honorsAffinity: boolean;
  readonly honorsTaints: boolean;
}

function ready(constraint: TopologySpreadConstraint, { metadata }: Pod): SpreadConstraint {
  const { matchLabelKeys = [], maxSkew, topologyKey, minDomains = 1, nodeAffinityPolicy, nodeTaintsPolicy } = constraint;
  const labels = metadata.labels ?? {};
  const given = matchLabelKeys.flatMap((key) => {
    const value = own(labels, key);
    return value === undefined ? [] : [{ key, operator: '=' as const, values: [value] }];
  });
  const selector = fromLabelSelector(constraint.labelSelector);
  return {
    maxSkew,
    topologyKey,
    minDomains,
    selector: given.length === 0 ? selector : add(selector, ...given),
    honorsAffinity: nodeAffinityPolicy !== 'Ignore',
    honorsTaints: nodeTaintsPolicy === 'Honor',
  };
}

// Objects of the informers are never changed, so what was made from one stays right.
const serviceSelectors = (): ((service: Service) => Selector) => {
  const known = new WeakMap<Service, Selector>();
  return (service) => {
    let selector = known.get(service);
    if (selector === undefined) known.set(service, (selector = fromSet(service.spec?.selector)));
    return selector;
  };
};

/** Selects the pods that belong together with one: those of its Services and of its controller (upstream helper.DefaultSelector). */
function defaultSelector(pod: Pod, view: ClusterView, selectorOf: (service: Service) => Selector): Selector {
  const namespace = pod.metadata.namespace ?? '';
  let labels: Record<string, string> = {};
  for (const service of view.list('Service', namespace)) {
    const own = service.spec?.selector;
    if (own !== undefined && selectorOf(service).matches(pod.metadata.labels)) labels = { ...labels, ...own };
  }
  const owner = controllerOf(pod.metadata);
  const name = owner?.name ?? '';
  if (owner?.kind === 'ReplicationController' && owner.apiVersion === 'v1') {
    labels = { ...labels, ...view.get('ReplicationController', namespace, name)?.spec?.selector };
  }
  const selector = Object.keys(labels).length === 0 ? everything : fromSet(labels);
  if (owner?.apiVersion !== 'apps/v1' || (owner.kind !== 'ReplicaSet' && owner.kind !== 'StatefulSet')) return selector;
  const controller = view.get(owner.kind, namespace, name);
  return controller === undefined ? selector : add(selector, ...fromLabelSelector(controller.spec?.selector).requirements);
}

export type ConstraintsOf = (pod: Pod, action: Action, view: ClusterView) => readonly SpreadConstraint[];

/** The constraints of one kind that hold for a pod. */
export function constraintsBy(defaults: readonly TopologySpreadConstraint[]): ConstraintsOf {
  const selectorOf = serviceSelectors();
  return (pod, action, view) => {
    const own = pod.spec?.topologySpreadConstraints;
    const wanted = (own?.length ? own : defaults).filter(({ whenUnsatisfiable }) => whenUnsatisfiable === action);
    if (wanted.length === 0) return [];
    const constraints = wanted.map((constraint) => ready(constraint, pod));
    if (own?.length) return constraints;
    const selector = defaultSelector(pod, view, selectorOf);
    return selector.empty ? [] : constraints.map((constraint) => ({ ...constraint, selector }));
  };
}

/** Whether pods on the node count for the constraint. */
export function inclusion(pod: Pod): (constraint: SpreadConstraint, node: NodeInfo) => boolean {
  const picky =
    pod.spec?.nodeSelector !== undefined ||
    pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution !== undefined;
  return ({ honorsAffinity, honorsTaints }, { node }) => {
    if (picky && honorsAffinity && !requiredNodeAffinityMatches(pod, node)) return false;
    return !honorsTaints || untoleratedTaint(node.spec?.taints, pod.spec?.tolerations, ['NoSchedule', 'NoExecute']) === undefined;
  };
}

/** Matching pods per node that are not on their way out; undefined: none anywhere. */
export function matchingPods({ selector }: SpreadConstraint, namespace: string, snapshot: Snapshot): Int32Array | undefined {
  if (selector.empty || selector.nothing) return undefined;
  const matches = (info: PodInfo): boolean =>
    info.namespace === namespace &&
    info.pod.metadata.deletionTimestamp === undefined &&
    selector.matches(info.pod.metadata.labels);
  return snapshot.podCounts(`spread ${namespace} ${selector.toString()}`, matches);
}
