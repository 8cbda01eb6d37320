// On which nodes a DaemonSet's pods belong, and what such a pod looks like (pkg/controller/daemon, daemon/util).
import type { DaemonSet, DaemonSetSpec } from '#api/apps/v1';
import type { Affinity, Node, Pod, PodSpec, PodTemplateSpec, Toleration } from '#api/core/v1';
import { requiredNodeAffinityMatches, untoleratedTaint } from '#component-helpers/pod';
import { revisionHashLabel } from '#controller-runtime/workload';
import { deepEqual } from '#utils';

const templateGenerationAnnotation = 'deprecated.daemonset.template.generation';
const templateGenerationLabel = 'pod-template-generation';

const toleration = (key: string, effect: string): Toleration => ({
  key: `node.kubernetes.io/${key}`,
  operator: 'Exists',
  effect,
});

const daemonTolerations: readonly Toleration[] = [
  toleration('not-ready', 'NoExecute'),
  toleration('unreachable', 'NoExecute'),
  toleration('disk-pressure', 'NoSchedule'),
  toleration('memory-pressure', 'NoSchedule'),
  toleration('pid-pressure', 'NoSchedule'),
  toleration('unschedulable', 'NoSchedule'),
];
const hostNetworkToleration = toleration('network-unavailable', 'NoSchedule');

/** A daemon stays on a node in trouble. */
function withDaemonTolerations(spec: PodSpec): Toleration[] {
  const added = spec.hostNetwork ? [...daemonTolerations, hostNetworkToleration] : daemonTolerations;
  const own = spec.tolerations ?? [];
  return [...own, ...added.filter((one) => !own.some((known) => deepEqual(known, one)))];
}

export interface Placement {
  /** A pod may be put there. */
  run: boolean;
  /** A pod that is there may stay. */
  stay: boolean;
}

/** Makes the function that judges whether a node is for the pods of one DaemonSet. */
export function placer({ template }: DaemonSetSpec): (node: Node) => Placement {
  const spec = template.spec ?? { containers: [] };
  const tolerations = withDaemonTolerations(spec);
  const probe: Pod = { metadata: {}, spec };
  const nowhere: Placement = { run: false, stay: false };
  return (node) => {
    if (spec.nodeName && spec.nodeName !== node.metadata.name) return nowhere;
    if (!requiredNodeAffinityMatches(probe, node)) return nowhere;
    const { taints } = node.spec ?? {};
    if (!untoleratedTaint(taints, tolerations, ['NoExecute', 'NoSchedule'])) return { run: true, stay: true };
    return { run: false, stay: !untoleratedTaint(taints, tolerations, ['NoExecute']) };
  };
}

const generationOf = ({ metadata }: DaemonSet): string | undefined => {
  const text = metadata.annotations?.[templateGenerationAnnotation];
  return text !== undefined && /^-?\d+$/.test(text) ? text : undefined;
};

/** The template with what the DaemonSet adds to it, but for the node. */
export function podTemplate(set: DaemonSet, template: PodTemplateSpec, hash: string): PodTemplateSpec {
  const generation = generationOf(set);
  const spec = template.spec ?? { containers: [] };
  return {
    metadata: {
      ...template.metadata,
      labels: {
        ...template.metadata?.labels,
        ...(generation !== undefined && { [templateGenerationLabel]: generation }),
        [revisionHashLabel]: hash,
      },
    },
    spec: { ...spec, tolerations: withDaemonTolerations(spec) },
  };
}

/** Binds a template to one node; the scheduler does the rest. */
export function onNode(template: PodTemplateSpec, node: string): PodTemplateSpec {
  const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] };
  const { affinity, ...spec } = template.spec ?? { containers: [] };
  const bound: Affinity = {
    ...affinity,
    nodeAffinity: { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } },
  };
  return { ...template, spec: { ...spec, affinity: bound } };
}

/** The node a daemon pod is on or is bound for. */
export function targetNode({ spec }: Pod): string | undefined {
  if (spec?.nodeName) return spec.nodeName;
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const field = terms
    .flatMap(({ matchFields = [] }) => matchFields)
    .find(({ key, operator }) => key === 'metadata.name' && operator === 'In');
  return field?.values?.length === 1 ? field.values[0] : undefined;
}

/** Whether a pod was made from the DaemonSet's current template. */
export function isUpdated({ metadata: { labels = {} } }: Pod, set: DaemonSet, hash: string): boolean {
  const generation = generationOf(set);
  return labels[revisionHashLabel] === hash || (generation !== undefined && labels[templateGenerationLabel] === generation);
}
