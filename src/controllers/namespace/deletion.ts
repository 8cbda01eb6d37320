// What is left of a namespace that is going away, and what its status says about it (pkg/controller/namespace/deletion). Pure.
import type { Namespace, NamespaceCondition } from '#api/core/v1';
import { formatTime, type GroupVersionResource, type KubeObject } from '#apimachinery/meta';
import type { Plan } from '#controller-runtime';
import { namespaces } from '#controller-runtime/platform';

/** How long finalizers are given when nothing says how long they take. */
const finalizerEstimateSeconds = 15;
const finalizer = 'kubernetes';

/** What one round of deletions saw of one resource. */
export interface ResourceReport {
  resource: GroupVersionResource;
  /** What is still there. */
  remaining: readonly KubeObject[];
  /** Why deleting or listing failed. */
  error?: string;
  /** Longest grace period of the pods when the round began. */
  graceSeconds?: number;
}

export interface DeletionReport {
  resources: readonly ResourceReport[];
  discoveryFailure?: string;
  /** Other resources were left alone, because pods still run. */
  podsFirst: boolean;
}

type ConditionType =
  | 'NamespaceDeletionDiscoveryFailure'
  | 'NamespaceDeletionGroupVersionParsingFailure'
  | 'NamespaceDeletionContentFailure'
  | 'NamespaceContentRemaining'
  | 'NamespaceFinalizersRemaining';

/** Reason and message while all is well. */
const fine: Record<ConditionType, [reason: string, message: string]> = {
  NamespaceDeletionDiscoveryFailure: ['ResourcesDiscovered', 'All resources successfully discovered'],
  NamespaceDeletionGroupVersionParsingFailure: ['ParsedGroupVersions', 'All legacy kube types successfully parsed'],
  NamespaceDeletionContentFailure: ['ContentDeleted', 'All content successfully deleted, may be waiting on finalization'],
  NamespaceContentRemaining: ['ContentRemoved', 'All content successfully removed'],
  NamespaceFinalizersRemaining: ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
};

interface Findings {
  troubles: Partial<Record<ConditionType, [reason: string, message: string]>>;
  errors: string[];
  estimateSeconds: number;
}

const gvrText = ({ group, version, resource }: GroupVersionResource): string => `${group}/${version}, Resource=${resource}`;

function countFinalizers(resources: readonly ResourceReport[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { remaining } of resources)
    for (const { metadata } of remaining)
      for (const one of metadata.finalizers ?? []) counts.set(one, (counts.get(one) ?? 0) + 1);
  return counts;
}

/** Seconds one resource's remains may still take, or why they should not be there. */
function judge(report: ResourceReport, name: string, waitedSeconds: number): { seconds: number; error?: string } {
  const { remaining, error, graceSeconds = 0 } = report;
  const grace = waitedSeconds >= graceSeconds ? 0 : graceSeconds;
  if (error !== undefined) return { seconds: grace, error };
  if (remaining.length === 0) return { seconds: 0 };
  if (grace > 0) return { seconds: grace };
  if (remaining.some(({ metadata }) => (metadata.finalizers ?? []).length > 0)) return { seconds: finalizerEstimateSeconds };
  return { seconds: 0, error: `unexpected items still remain in namespace: ${name} for gvr: ${gvrText(report.resource)}` };
}

const sorted = (texts: Iterable<string>): string => [...texts].sort().join(', ');

function find(namespace: Namespace, { resources, discoveryFailure, podsFirst }: DeletionReport, now: number): Findings {
  const waitedSeconds = (now - Date.parse(namespace.metadata.deletionTimestamp ?? '')) / 1000;
  const verdicts = resources.map((report) => judge(report, namespace.metadata.name ?? '', waitedSeconds));
  const contentErrors = verdicts.flatMap(({ error }) => error ?? []);
  const troubles: Findings['troubles'] = {};
  if (discoveryFailure !== undefined) troubles.NamespaceDeletionDiscoveryFailure = ['DiscoveryFailed', discoveryFailure];
  if (contentErrors.length > 0)
    troubles.NamespaceDeletionContentFailure = [
      'ContentDeletionFailed',
      `Failed to delete all resource types, ${contentErrors.length} remaining: ${sorted(contentErrors)}`,
    ];
  const remains = resources.filter(({ remaining }) => remaining.length > 0);
  const finalizers = countFinalizers(resources);
  // While pods go first, upstream says nothing yet about what else remains.
  if (!podsFirst && remains.length > 0)
    troubles.NamespaceContentRemaining = [
      'SomeResourcesRemain',
      `Some resources are remaining: ${sorted(remains.map(({ resource, remaining }) => `${resource.resource}.${resource.group} has ${remaining.length} resource instances`))}`,
    ];
  if (!podsFirst && finalizers.size > 0)
    troubles.NamespaceFinalizersRemaining = [
      'SomeFinalizersRemain',
      `Some content in the namespace has finalizers remaining: ${sorted([...finalizers].map(([one, count]) => `${one} in ${count} resource instances`))}`,
    ];
  return {
    troubles,
    errors: [...(discoveryFailure === undefined ? [] : [discoveryFailure]), ...contentErrors],
    estimateSeconds: Math.max(0, ...verdicts.map(({ seconds }) => seconds)),
  };
}

/** The conditions after a round; the old list itself when nothing changed. */
function conditionsAfter(old: readonly NamespaceCondition[], { troubles }: Findings, now: number): readonly NamespaceCondition[] {
  let conditions = old;
  for (const type of Object.keys(fine) as ConditionType[]) {
    const [reason, message] = troubles[type] ?? fine[type];
    const status = troubles[type] ? 'True' : 'False';
    const before = conditions.find((condition) => condition.type === type);
    if (before?.status === status && before.reason === reason && before.message === message) continue;
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : formatTime(now);
    const after: NamespaceCondition = { type, status, lastTransitionTime, reason, message };
    conditions = before ? conditions.map((condition) => (condition === before ? after : condition)) : [...conditions, after];
  }
  return conditions;
}

/** Decides what follows a round of deletions on the namespace as it is now: report, and then finalize, wait, or fail and try again. */
export function afterRound(namespace: Namespace, report: DeletionReport, now: number): Plan {
  const findings = find(namespace, report, now);
  const old = namespace.status?.conditions ?? [];
  const conditions = conditionsAfter(old, findings, now);
  const reported: Namespace = { ...namespace, status: { ...namespace.status, conditions: [...conditions] } };
  const effects: Plan['effects'] =
    conditions === old ? [] : [{ op: 'update', resource: namespaces, subresource: 'status', object: reported }];
  const { estimateSeconds, errors } = findings;
  if (errors.length > 0) return { effects, failure: errorText(errors) };
  if (estimateSeconds > 0) return { effects, requeueAfterMs: (Math.floor(estimateSeconds / 2) + 1) * 1000 };
  return { effects: [...effects, finalize(namespace)] };
}

/** Without a version: the status may have been written just before. */
function finalize(namespace: Namespace): Plan['effects'][number] {
  const { resourceVersion: _, ...metadata } = namespace.metadata;
  const finalizers = (namespace.spec?.finalizers ?? []).filter((one) => one !== finalizer).sort();
  const object: Namespace = { ...namespace, metadata, spec: { ...namespace.spec, finalizers } };
  return { op: 'update', resource: namespaces, subresource: 'finalize', object };
}

const errorText = (errors: readonly string[]): string => (errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`);
