// Evicting a pod within its disruption budget (KEP-85 and KEP-3017, pkg/registry/core/pod/storage, EvictionREST).
import type { Pod, PodCondition } from '#api/core/v1';
import type { Eviction, PodDisruptionBudget } from '#api/policy/v1';
import {
  badRequest,
  conflict,
  forbidden,
  invalidObject,
  isConflict,
  notFound,
  plainError,
  tooManyRequests,
} from '#apimachinery/errors';
import { invalid, root } from '#apimachinery/field';
import { fromLabelSelector } from '#apimachinery/labels';
import { asKind, formatTime, type KubeObject } from '#apimachinery/meta';
import { validateDeleteOptions } from '#apimachinery/validation';
import { isConditionTrue } from '#component-helpers/pod';
import type { SpecialContext, SpecialRest } from '../../special.ts';
import { successStatus } from '../success-status.ts';

const disruptedPodsMax = 2000;
const pods = { group: '', resource: 'pods' };
const budgets = { group: 'policy', resource: 'poddisruptionbudget' };
const cannotEvict = "Cannot evict pod as it would violate the pod's disruption budget.";

type DeleteOptions = NonNullable<Eviction['deleteOptions']>;

function refusal(message: string, retryAfterSeconds: number) {
  const error = tooManyRequests(cannotEvict, retryAfterSeconds);
  const details = (error.status.details ??= {});
  details.causes = [{ reason: 'DisruptionBudget', message }];
  return error;
}

const ignoresBudget = ({ metadata, status }: Pod): boolean =>
  ['Succeeded', 'Failed', 'Pending'].includes(status?.phase ?? '') || metadata.deletionTimestamp !== undefined;

function budgetsOf(context: SpecialContext, pod: Pod): PodDisruptionBudget[] {
  return context.cluster
    .list<PodDisruptionBudget>('policy', 'poddisruptionbudgets', context.target.namespace)
    .filter(({ spec }) => fromLabelSelector(spec?.selector).matches(pod.metadata.labels ?? {}));
}

function exhausted({ metadata, status }: PodDisruptionBudget): string {
  const name = metadata.name ?? '';
  const condition = status?.conditions?.find(({ type, status: value }) => type === 'DisruptionAllowed' && value === 'False');
  const healthy = status?.currentHealthy ?? 0;
  const desired = status?.desiredHealthy ?? 0;
  const why = condition?.message ?? '';
  if (why !== '' && condition?.reason === 'SyncFailed') {
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${why}`;
  }
  if (healthy <= desired) return `The disruption budget ${name} needs ${desired} healthy pods and has ${healthy} currently`;
  return why !== ''
    ? `The disruption budget ${name} does not allow evicting pods currently (${condition?.reason}): ${why}`
    : `The disruption budget ${name} does not allow evicting pods currently`;
}

/** The budget with one disruption less. Throws when it allows no disruption. */
export function decremented(budget: PodDisruptionBudget, podName: string, nowMs: number): PodDisruptionBudget {
  const { metadata, status } = budget;
  const name = metadata.name ?? '';
  const stillProcessed = `The disruption budget ${name} is still being processed by the server.`;
  if (!status || (status.observedGeneration ?? 0) < (metadata.generation ?? 0)) throw refusal(stillProcessed, 10);
  const allowed = status.disruptionsAllowed ?? 0;
  if (allowed < 0) throw forbidden(budgets, name, 'pdb disruptions allowed is negative');
  if (Object.keys(status.disruptedPods ?? {}).length > disruptedPodsMax) {
    throw forbidden(budgets, name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  }
  if (allowed === 0) throw refusal(exhausted(budget), 0);
  const spent = {
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'InsufficientPods',
    message: '',
    observedGeneration: metadata.generation,
    lastTransitionTime: formatTime(nowMs),
  };
  const conditions = (status.conditions ?? []).filter(({ type }) => type !== spent.type);
  return {
    ...budget,
    status: {
      ...status,
      disruptionsAllowed: allowed - 1,
      disruptedPods: { ...status.disruptedPods, [podName]: formatTime(nowMs) },
      ...(allowed === 1 && { conditions: [...conditions, spent] }),
    },
  };
}

function markedForDisruption(pod: Pod, options: DeleteOptions, nowMs: number): Pod {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const name = pod.metadata.name ?? '';
  const about = { group: '', resource: 'Pod' };
  if (uid && uid !== pod.metadata.uid) {
    throw conflict(
      about,
      name,
      `the UID in the precondition (${uid}) does not match the UID in record (${pod.metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion && resourceVersion !== pod.metadata.resourceVersion) {
    throw conflict(
      about,
      name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${pod.metadata.resourceVersion}). The object might have been modified`,
    );
  }
  const condition: PodCondition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
    lastTransitionTime: formatTime(nowMs),
  };
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== condition.type);
  return { ...pod, status: { ...pod.status, conditions: [...others, condition] } };
}

async function remove(context: SpecialContext, options: DeleteOptions, nowMs: number): Promise<void> {
  const { writer, dryRun } = context;
  const { namespace, name } = context.target;
  let effective = options;
  if (!dryRun) {
    const marked = await writer.update<Pod>('', 'pods', namespace, name, (pod) => markedForDisruption(pod, options, nowMs), {
      unchecked: true,
    });
    if (options.preconditions?.resourceVersion) {
      effective = { ...options, preconditions: { ...options.preconditions, resourceVersion: marked.metadata.resourceVersion } };
    }
  }
  const problems = validateDeleteOptions(options as Parameters<typeof validateDeleteOptions>[0]);
  if (problems.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', problems);
  await writer.delete('', 'pods', namespace, name, { dryRun, deleteOptions: effective as Record<string, unknown> });
}

const podOf = ({ cluster, target: { namespace, name } }: SpecialContext): Pod => {
  const pod = cluster.get<Pod>('', 'pods', namespace, name);
  if (!pod) throw notFound(pods, name);
  return pod;
};

/** A pod that is not ready may go when its budget is met without it, or when the budget says so. */
function isUnhealthyEvictable(pod: Pod, { spec, status }: PodDisruptionBudget): boolean {
  if (isConditionTrue(pod.status, 'Ready')) return false;
  const desired = status?.desiredHealthy ?? 0;
  return spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow' || ((status?.currentHealthy ?? 0) >= desired && desired > 0);
}

const pinned = (options: DeleteOptions, pod: Pod): DeleteOptions => ({
  ...options,
  preconditions: { ...options.preconditions, resourceVersion: pod.metadata.resourceVersion },
});

async function evict(context: SpecialContext, options: DeleteOptions, nowMs: number): Promise<KubeObject> {
  const { writer, dryRun } = context;
  const { namespace, name } = context.target;
  const pod = podOf(context);
  if (ignoresBudget(pod)) {
    await remove(context, options, nowMs);
    return successStatus(201);
  }
  const [budget, ...more] = budgetsOf(context, pod);
  if (more.length > 0) {
    throw plainError('This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.');
  }
  if (!budget) {
    await remove(context, options, nowMs);
    return successStatus(201);
  }
  if (isUnhealthyEvictable(pod, budget)) {
    try {
      await remove(context, options.preconditions?.resourceVersion ? options : pinned(options, pod), nowMs);
    } catch (error) {
      const raced = isConflict(error) && !options.preconditions?.resourceVersion;
      if (!raced) throw error;
      throw refusal(`The disruption budget ${budget.metadata.name} is still being processed by the server.`, 10);
    }
    return successStatus(201);
  }
  const spend = (current: PodDisruptionBudget) => decremented(current, name, nowMs);
  await writer.update<PodDisruptionBudget>('policy', 'poddisruptionbudgets', namespace, budget.metadata.name ?? '', spend, {
    dryRun,
    subresource: 'status',
  });
  await remove(context, options, nowMs);
  return successStatus(201);
}

const deleteOptionsPath = root('deleteOptions');

/** What is refused before the eviction is looked at. */
function checkOptions(options: DeleteOptions, context: SpecialContext): void {
  const unsafe = 'ignoreStoreReadErrorWithClusterBreakingPotential';
  if (options[unsafe] === true) {
    const detail = 'can not be set for pod eviction, try after removing the option';
    const problem = invalid(deleteOptionsPath.child(unsafe), true, detail);
    throw invalidObject({ group: 'policy', kind: 'Eviction' }, context.target.name, [problem]);
  }
  const { dryRun = [] } = options;
  if (context.dryRun && dryRun.length > 0 && !(dryRun.length === 1 && dryRun[0] === 'All'))
    throw plainError(`Non-matching dry-run options in request and content: [All] and [${dryRun.join(' ')}]`);
}

/** Makes the endpoint pods/eviction. */
export const evictionEndpoint = (now: () => number): SpecialRest => ({
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: 'eviction',
  namespaced: true,
  methods: ['POST'],
  kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
  alsoAccepts: ['policy/v1beta1'],
  async handle(context) {
    const eviction = asKind<Eviction>(context.object);
    if (eviction.metadata.name !== context.target.name) throw badRequest('name in URL does not match name in Eviction object');
    const options = eviction.deleteOptions ?? {};
    checkOptions(options, context);
    await context.validate();
    const dryRun = context.dryRun || (options.dryRun?.length ?? 0) > 0;
    return { status: 201, object: await evict({ ...context, dryRun }, options, now()) };
  },
});
