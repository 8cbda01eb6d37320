// ResourceQuota: a write that would take a namespace over its quota is refused; one that fits is added to the quota's status before it
// goes on, so that the next one sees it (k8s.io/apiserver/pkg/admission/plugin/resourcequota). Releasing is the controller's work.
import type { ResourceQuota } from '#api/core/v1';
import { isConflict } from '#apimachinery/errors';
import type { KubeObject } from '#apimachinery/meta';
import { parseQuantity, type Quantity, zeroQuantity } from '#apimachinery/quantity';
import { type Amounts, type Evaluator, evaluatorOf, scopesOf } from '#component-helpers/quota';
import type { AdmissionRequest } from '../../../registry/generic/admission.ts';
import { limits } from '../../limits.ts';
import { definePlugin, deny, handling, type PluginContext, type PluginFactory } from '../../plugin.ts';

const amountsOf = (list: Record<string, string> | undefined): Amounts =>
  new Map(Object.entries(list ?? {}).map(([name, text]) => [name, parseQuantity(text)]));

const pretty = (amounts: Amounts, names: readonly string[]): string =>
  [...names]
    .sort()
    .map((name) => `${name}=${amounts.get(name) ?? zeroQuantity}`)
    .join(',');

function matches(quota: ResourceQuota, evaluator: Evaluator, object: KubeObject): boolean {
  const hard = Object.keys(quota.status?.hard ?? {});
  return hard.some((name) => evaluator.counts(name)) && scopesOf(quota).every((scope) => evaluator.matchesScope(scope, object));
}

/** What the write adds; never below zero. */
function growth(now: Amounts, before: Amounts | undefined): Amounts {
  const delta: Amounts = new Map();
  for (const [name, amount] of now) {
    const had = before?.get(name);
    const added = had ? amount.sub(had) : amount;
    if (added.sign > 0) delta.set(name, added);
  }
  return delta;
}

interface Demand {
  request: AdmissionRequest;
  evaluator: Evaluator;
  nowMs: number;
}

function deltaFor({ request, evaluator, nowMs }: Demand, quota: ResourceQuota): Amounts {
  const now = evaluator.usage(request.object as KubeObject, nowMs);
  const { oldObject } = request;
  const counted = request.operation === 'UPDATE' && oldObject && matches(quota, evaluator, oldObject);
  return growth(now, counted ? evaluator.usage(oldObject, nowMs) : undefined);
}

/** The new usage of the quota; undefined when the write adds nothing to it. Throws 403. */
function usageAfter(demand: Demand, quota: ResourceQuota): Record<string, string> | undefined {
  const { request, evaluator } = demand;
  const name = quota.metadata.name ?? '';
  const hard = amountsOf(quota.status?.hard);
  const used = amountsOf(quota.status?.used);
  const delta = [...deltaFor(demand, quota)].filter(([resource]) => hard.has(resource));
  const required = [...hard.keys()].filter((resource) => evaluator.counts(resource));
  const problem = evaluator.problem?.(required, request.object as KubeObject);
  if (problem !== undefined) throw deny(request, `failed quota: ${name}: ${problem}`);
  if (required.some((resource) => !used.has(resource))) {
    throw deny(request, `status unknown for quota: ${name}, resources: ${[...required].sort().join(',')}`);
  }
  if (delta.length === 0) return undefined;
  const after = new Map<string, Quantity>(used);
  for (const [resource, amount] of delta) after.set(resource, (used.get(resource) ?? zeroQuantity).add(amount));
  if (request.subresource !== 'status') {
    const exceeded = delta
      .map(([resource]) => resource)
      .filter((resource) => (after.get(resource) as Quantity).compare(hard.get(resource) as Quantity) > 0);
    if (exceeded.length > 0) {
      const amounts: Amounts = new Map(delta);
      throw deny(
        request,
        `exceeded quota: ${name}, requested: ${pretty(amounts, exceeded)}, used: ${pretty(used, exceeded)}, limited: ${pretty(hard, exceeded)}`,
      );
    }
  }
  return Object.fromEntries([...after].map(([resource, amount]) => [resource, amount.toString()]));
}

async function charge({ writer }: PluginContext, demand: Demand, quotas: readonly ResourceQuota[]): Promise<void> {
  for (const quota of quotas) {
    const { namespace = '', name = '' } = quota.metadata;
    const spend = (current: ResourceQuota): ResourceQuota | undefined => {
      const used = usageAfter(demand, current);
      return used && { ...current, status: { ...current.status, used } };
    };
    for (let attempt = 1; ; attempt++) {
      try {
        const as = { subresource: 'status', manager: 'kube-apiserver' };
        await writer.update<ResourceQuota>('', 'resourcequotas', namespace, name, spend, as);
        break;
      } catch (error) {
        if (!isConflict(error) || attempt >= limits.quotaAttemptsMax) throw error;
      }
    }
  }
}

export const resourceQuota: PluginFactory = (context) => ({
  name: 'ResourceQuota',
  handles: handling('CREATE', 'UPDATE'),
  validate(request) {
    const { namespace, group, resource, kind, object } = request;
    if (namespace === '' || (group === '' && kind === 'Namespace') || !object) return;
    const quotas = context.cluster.list<ResourceQuota>('', 'resourcequotas', namespace);
    if (quotas.length === 0) return;
    const evaluator = evaluatorOf(group, resource);
    if (!evaluator.handles(request)) return;
    const demand = { request, evaluator, nowMs: context.clock.now() };
    const concerned = quotas.filter((quota) => matches(quota, evaluator, object));
    // All are asked before any is charged: a refusal must leave none of them changed.
    const charged = concerned.filter((quota) => usageAfter(demand, quota) !== undefined);
    if (charged.length > 0 && !request.dryRun) return charge(context, demand, charged);
  },
});

export const plugin = definePlugin('ResourceQuota', resourceQuota);
