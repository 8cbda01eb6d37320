// Which pods of a Job are made and which go (pkg/controller/job manageJob).
import type { Container, Pod, PodTemplateSpec } from '#api/core/v1';
import { deletionOrder } from '#component-helpers/workload';
import { type Intervals, lowestOutside, withIndexes } from './intervals.ts';
import { podBackoffMaxMs, podBackoffMs, podsPerSyncMax } from './limits.ts';
import { completionIndexName, indexFailureCount, indexIgnoredFailureCount, trackingFinalizer } from './names.ts';
import { judgeFailure } from './policies.ts';
import {
  countedFailures,
  finishedMs,
  ignoredFailures,
  indexOf,
  isFailed,
  isIndexed,
  isSuspended,
  type JobState,
  onlyReplacesFailed,
} from './state.ts';
import { isPodTerminating } from '#component-helpers/workload';

export interface PodWork {
  /** Templates and name prefixes of pods to make. */
  create: { template: PodTemplateSpec; generateName?: string }[];
  remove: Pod[];
  /** New pods wait this long for the back-off. */
  waitMs?: number;
}

const nothing: PodWork = { create: [], remove: [] };

export function managePods(state: JobState): PodWork {
  const { spec, active } = state;
  if (isSuspended(spec)) return { create: [], remove: surplus(state, active.length) };
  const wanted = wantedActive(state);
  const remove = surplus(state, Math.max(0, active.length - wanted)).slice(0, podsPerSyncMax);
  if (remove.length > 0) return { create: [], remove };
  const held = onlyReplacesFailed(spec) ? state.terminating : 0;
  const missing = Math.min(wanted - held - active.length, podsPerSyncMax);
  if (missing <= 0) return nothing;
  return isIndexed(spec) ? createIndexed(state, missing) : createPlain(state, missing);
}

function wantedActive({ spec, succeeded, active }: JobState): number {
  const parallelism = spec.parallelism ?? 1;
  if (spec.completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(0, Math.min(spec.completions - succeeded, parallelism));
}

/** At least `count` pods to delete: first those whose index is not wanted or is taken twice. */
function surplus({ spec, active, now }: JobState, count: number): Pod[] {
  const ordered = deletionOrder(active, () => 0, now);
  if (!isIndexed(spec)) return ordered.slice(0, count);
  const kept = new Set<number>();
  const doubled = new Set<Pod>();
  for (const pod of ordered.toReversed()) {
    const index = indexOf(pod);
    if (index === undefined || index >= (spec.completions ?? 0) || kept.has(index)) doubled.add(pod);
    else kept.add(index);
  }
  const others = ordered.filter((pod) => !doubled.has(pod));
  return [...doubled, ...others.slice(0, Math.max(0, count - doubled.size))];
}

const backoffFor = (failures: number): number => Math.min(podBackoffMs * 2 ** Math.min(failures - 1, 30), podBackoffMaxMs);

const leftMs = (failures: number, lastMs: number, now: number): number =>
  failures === 0 ? 0 : Math.max(0, backoffFor(failures) - (now - lastMs));

/** Back-off after the failures since the last success. */
function backoffLeftMs({ pods, spec, now }: JobState): number {
  const lastSuccess = Math.max(0, ...pods.filter(({ status }) => status?.phase === 'Succeeded').map(finishedMs));
  const failures = pods
    .filter((pod) => isFailed(pod, spec))
    .map(finishedMs)
    .filter((time) => time > lastSuccess);
  return leftMs(failures.length, Math.max(0, ...failures), now);
}

const tracked = (template: PodTemplateSpec): PodTemplateSpec => {
  const finalizers = template.metadata?.finalizers ?? [];
  if (finalizers.includes(trackingFinalizer)) return template;
  return { ...template, metadata: { ...template.metadata, finalizers: [...finalizers, trackingFinalizer] } };
};

function createPlain(state: JobState, count: number): PodWork {
  const waitMs = backoffLeftMs(state);
  if (waitMs > 0) return { ...nothing, waitMs };
  const template = tracked(state.spec.template);
  return { create: Array.from({ length: count }, () => ({ template })), remove: [] };
}

function createIndexed(state: JobState, count: number): PodWork {
  const { spec, delayed, now } = state;
  const perIndex = spec.backoffLimitPerIndex !== undefined;
  const all = perIndex ? 0 : backoffLeftMs(state);
  if (all > 0) return { ...nothing, waitMs: all };
  const pending = pendingIndexes(state, count);
  const waits = pending.map((index) => {
    const failed = perIndex ? delayed.get(index) : undefined;
    return failed ? leftMs(countedFailures(failed) + ignoredFailures(failed) + 1, finishedMs(failed), now) : 0;
  });
  const due = pending.filter((_, position) => waits[position] === 0);
  if (due.length === 0) return waits.length > 0 ? { ...nothing, waitMs: Math.min(...waits) } : nothing;
  const base = withIndexEnvironment(tracked(spec.template));
  return { create: due.map((index) => indexedPod(state, base, index)), remove: [] };
}

/** The lowest indexes that neither ran nor run. */
function pendingIndexes({ spec, pods, active, succeededIndexes, failedIndexes = [] }: JobState, count: number): number[] {
  const busy = onlyReplacesFailed(spec) ? [...active, ...pods.filter(isPodTerminating)] : active;
  const taken: Intervals = withIndexes(
    [...succeededIndexes, ...failedIndexes],
    busy.flatMap((pod) => indexOf(pod) ?? []),
  );
  return lowestOutside(taken, spec.completions ?? 0, count);
}

const indexVariable = {
  name: 'JOB_COMPLETION_INDEX',
  valueFrom: { fieldRef: { fieldPath: `metadata.labels['${completionIndexName}']` } },
};

function withIndexEnvironment(template: PodTemplateSpec): PodTemplateSpec {
  const add = <C extends Container>(container: C): C =>
    container.env?.some(({ name }) => name === indexVariable.name)
      ? container
      : { ...container, env: [...(container.env ?? []), indexVariable] };
  const { spec } = template;
  if (!spec) return template;
  const { initContainers } = spec;
  return {
    ...template,
    spec: { ...spec, containers: spec.containers.map(add), ...(initContainers && { initContainers: initContainers.map(add) }) },
  };
}

const generatedNameMax = 58;

function indexedPod({ job, spec, delayed }: JobState, base: PodTemplateSpec, index: number): PodWork['create'][number] {
  const suffix = `-${index}-`;
  const name = job.metadata.name ?? '';
  const template: PodTemplateSpec = {
    metadata: {
      ...base.metadata,
      labels: { ...base.metadata?.labels, [completionIndexName]: String(index) },
      annotations: {
        ...base.metadata?.annotations,
        [completionIndexName]: String(index),
        ...(spec.backoffLimitPerIndex !== undefined && failureCounts(spec.podFailurePolicy, delayed.get(index))),
      },
    },
    ...(base.spec && { spec: { ...base.spec, hostname: `${name}-${index}` } }),
  };
  return { template, generateName: `${name.slice(0, generatedNameMax - suffix.length)}${suffix}` };
}

/** What the next pod of an index remembers of those before it. */
function failureCounts(policy: JobState['spec']['podFailurePolicy'], replaced: Pod | undefined): Record<string, string> {
  if (!replaced) return { [indexFailureCount]: '0' };
  const { counts } = judgeFailure(policy, replaced);
  const ignored = ignoredFailures(replaced) + (counts ? 0 : 1);
  return {
    [indexFailureCount]: String(countedFailures(replaced) + (counts ? 1 : 0)),
    ...(ignored > 0 && { [indexIgnoredFailureCount]: String(ignored) }),
  };
}
