// What a pod needs and may use in total (k8s.io/component-helpers/resource PodRequests, PodLimits; KEP-753 for sidecars).
import type { Container, ContainerStatus, Pod } from '#api/core/v1';
import { parseQuantity, type Quantity } from '#apimachinery/quantity';
import { isRestartableInitContainer } from './restart.ts';

export type Amounts = Map<string, Quantity>;
type Field = 'requests' | 'limits';

export interface RequestOptions {
  /** Taken for each container that does not name the resource. */
  nonMissing?: Readonly<Record<string, Quantity>>;
  /** Counts what a running container still holds while its resize goes on (KEP-1287). */
  useStatus?: boolean;
}

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

const resizeInfeasible = (pod: Pod): boolean =>
  pod.status?.conditions?.some(({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible') === true;

/** The most of what is asked for, allocated and in use; an infeasible wish does not count. */
function heldRequests(pod: Pod, container: Container, status: ContainerStatus): Amounts {
  const held = resizeInfeasible(pod) ? new Map<string, Quantity>() : amountsOf(container.resources?.requests);
  maxAll(held, amountsOf(status.resources?.requests));
  maxAll(held, amountsOf(status.allocatedResources));
  return held;
}

function of(pod: Pod, container: Container, field: Field, { nonMissing, useStatus }: RequestOptions): Amounts {
  const statuses = useStatus ? [pod.status?.containerStatuses, pod.status?.initContainerStatuses] : [];
  const status = statuses.flatMap((list) => list ?? []).find(({ name }) => name === container.name);
  const amounts = status?.resources ? heldRequests(pod, container, status) : amountsOf(container.resources?.[field]);
  for (const name in nonMissing) {
    const amount = nonMissing[name];
    if (amount !== undefined && !amounts.has(name)) amounts.set(name, amount);
  }
  return amounts;
}

/** Containers together with sidecars, or the largest step of the init sequence, whichever is more. */
function containerTotals(pod: Pod, field: Field, options: RequestOptions): Amounts {
  const total: Amounts = new Map();
  for (const container of pod.spec?.containers ?? []) addAll(total, of(pod, container, field, options));
  const sidecars: Amounts = new Map();
  const init: Amounts = new Map();
  for (const container of pod.spec?.initContainers ?? []) {
    const sidecar = isRestartableInitContainer(container);
    const step = of(pod, container, field, sidecar ? options : { ...options, useStatus: false });
    if (sidecar) {
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

function podTotals(pod: Pod, field: Field, options: RequestOptions = {}): Amounts {
  const total = containerTotals(pod, field, options);
  for (const [name, amount] of amountsOf(pod.spec?.resources?.[field])) total.set(name, amount);
  return total;
}

/** What a whole pod requests, its overhead included. */
export function podRequests(pod: Pod, options?: RequestOptions): Amounts {
  const total = podTotals(pod, 'requests', options);
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
