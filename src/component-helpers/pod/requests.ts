// What a pod needs and may use in total (k8s.io/component-helpers/resource PodRequests, PodLimits; KEP-753 for sidecars).
import type { Container, Pod } from '#api/core/v1';
import { parseQuantity, type Quantity } from '#apimachinery/quantity';
import { isRestartableInitContainer } from './restart.ts';

export type Amounts = Map<string, Quantity>;
type Field = 'requests' | 'limits';

const amountsOf = (list: Record<string, string> | undefined): Amounts =>
  new Map(Object.entries(list ?? {}).map(([name, text]) => [name, parseQuantity(text)]));

function addAll(into: Amounts, from: Amounts): void {
  for (const [name, amount] of from) into.set(name, into.get(name)?.add(amount) ?? amount);
}

function maxAll(into: Amounts, from: Amounts): void {
  for (const [name, amount] of from) {
    const known = into.get(name);
    if (known === undefined || known.compare(amount) < 0) into.set(name, amount);
  }
}

const of = (container: Container, field: Field): Amounts => amountsOf(container.resources?.[field]);

/** Containers together with sidecars, or the largest step of the init sequence, whichever is more. */
function containerTotals(pod: Pod, field: Field): Amounts {
  const total: Amounts = new Map();
  for (const container of pod.spec?.containers ?? []) addAll(total, of(container, field));
  const sidecars: Amounts = new Map();
  const init: Amounts = new Map();
  for (const container of pod.spec?.initContainers ?? []) {
    const step = of(container, field);
    if (isRestartableInitContainer(container)) {
      addAll(total, step);
      addAll(sidecars, step);
      maxAll(init, sidecars);
    } else {
      addAll(step, sidecars);
      maxAll(init, step);
    }
  }
  maxAll(total, init);
  return total;
}

function podTotals(pod: Pod, field: Field): Amounts {
  const total = containerTotals(pod, field);
  for (const [name, amount] of amountsOf(pod.spec?.resources?.[field])) total.set(name, amount);
  return total;
}

/** Requests of the whole pod, overhead included. */
export function podRequests(pod: Pod): Amounts {
  const total = podTotals(pod, 'requests');
  addAll(total, amountsOf(pod.spec?.overhead));
  return total;
}

/** Limits of the whole pod; overhead counts only where there is a limit. */
export function podLimits(pod: Pod): Amounts {
  const total = podTotals(pod, 'limits');
  for (const [name, amount] of amountsOf(pod.spec?.overhead)) {
    const limit = total.get(name);
    if (limit) total.set(name, limit.add(amount));
  }
  return total;
}
