// Enough of every requested resource, and the node whose use suits the strategy (upstream plugins/noderesources Fit).
import type { Node, Pod } from '#api/core/v1';
import {
  amountOf,
  interest,
  isExtendedResource,
  isScalarResource,
  type NodeInfo,
  nodeInfoOf,
  type Plugin,
  type PodInfo,
  podInfoOf,
  type Resources,
  type Status,
} from '../../framework/index.ts';
import { strategyOf } from './scoring.ts';
import type { NodeResourcesFitArgs } from './args.ts';

const name = 'NodeResourcesFit';

interface Shortage {
  reason: string;
  /** Even an empty node would not do. */
  never: boolean;
}

type Ignored = (resource: string) => boolean;

const asksNothing = ({ cpu, memory, ephemeralStorage, scalars }: Resources): boolean =>
  cpu === 0 && memory === 0 && ephemeralStorage === 0 && scalars === undefined;

/** What the node is short of, in upstream's order. */
function shortages(pod: PodInfo, node: NodeInfo, ignored: Ignored): Shortage[] {
  const found: Shortage[] = [];
  const check = (resource: string, wanted: number, used: number, capacity: number): void => {
    if (wanted > 0 && wanted > capacity - used) found.push({ reason: `Insufficient ${resource}`, never: wanted > capacity });
  };
  if (node.pods.size + 1 > node.allowedPods) found.push({ reason: 'Too many pods', never: false });
  const { requests } = pod;
  if (asksNothing(requests)) return found;
  const { requested, allocatable } = node;
  check('cpu', requests.cpu, requested.cpu, allocatable.cpu);
  check('memory', requests.memory, requested.memory, allocatable.memory);
  check('ephemeral-storage', requests.ephemeralStorage, requested.ephemeralStorage, allocatable.ephemeralStorage);
  for (const [resource, wanted] of requests.scalars ?? []) {
    if (isExtendedResource(resource) && ignored(resource)) continue;
    check(resource, wanted, requested.scalars?.get(resource) ?? 0, allocatable.scalars?.get(resource) ?? 0);
  }
  return found;
}

/** The common case without making anything. */
const surelyFits = ({ requests }: PodInfo, { pods, allowedPods, requested, allocatable }: NodeInfo): boolean =>
  pods.size < allowedPods &&
  (requests.cpu === 0 || requests.cpu <= allocatable.cpu - requested.cpu) &&
  (requests.memory === 0 || requests.memory <= allocatable.memory - requested.memory) &&
  (requests.ephemeralStorage === 0 || requests.ephemeralStorage <= allocatable.ephemeralStorage - requested.ephemeralStorage) &&
  requests.scalars === undefined;

/** Gives equal shortages one and the same status. */
function statusTable(): (found: readonly Shortage[]) => Status {
  const known = new Map<string, Status>();
  return (found) => {
    const reasons = found.map(({ reason }) => reason);
    const code = found.some(({ never }) => never) ? 'UnschedulableAndUnresolvable' : 'Unschedulable';
    const key = `${code} ${reasons.join()}`;
    let status = known.get(key);
    if (status === undefined) known.set(key, (status = { plugin: name, code, reasons }));
    return status;
  };
}

const amounts = (resources: Resources): [string, number][] => [
  ['cpu', resources.cpu],
  ['memory', resources.memory],
  ['ephemeral-storage', resources.ephemeralStorage],
  ...(resources.scalars ?? []),
];

/** The pod gave up some of what the waiting one wants. */
function freesSome(waiting: PodInfo, old: Pod, now: Pod): boolean {
  if (now.metadata.uid === waiting.uid) return true;
  if (!now.spec?.nodeName) return false;
  const before = podInfoOf(old).requests;
  const after = podInfoOf(now).requests;
  return amounts(waiting.requests).some(
    ([resource, wanted]) => wanted > 0 && amountOf(before, resource) > amountOf(after, resource),
  );
}

function growsEnough(pod: PodInfo, old: Node | undefined, now: Node, ignored: Ignored): boolean {
  const after = nodeInfoOf(now);
  if (shortages(pod, after, ignored).length > 0) return false;
  if (old === undefined) return true;
  const before = nodeInfoOf(old);
  if (after.allowedPods > before.allowedPods) return true;
  return amounts(pod.requests).some(
    ([resource, wanted]) => wanted > 0 && amountOf(after.allocatable, resource) > amountOf(before.allocatable, resource),
  );
}

export function nodeResourcesFit(args: NodeResourcesFitArgs = {}): Plugin {
  const names = new Set(args.ignoredResources);
  const groups = new Set(args.ignoredResourceGroups);
  const ignored: Ignored = (resource) => names.has(resource) || groups.has(resource.split('/')[0] ?? '');
  const none: Ignored = () => false;
  const strategy = strategyOf(args.scoringStrategy ?? {});
  const statusOf = statusTable();
  const requested = new Float64Array(strategy.resources.length);
  const allocatable = new Float64Array(strategy.resources.length);
  return {
    name,
    local: true,
    events: [
      interest<Pod>('Pod', ['Delete', 'UpdatePodScaleDown'], (pod, { old, now }) => {
        if (old === undefined) return false;
        if (now === undefined) return Boolean(old.spec?.nodeName || old.status?.nominatedNodeName);
        return freesSome(pod, old, now);
      }),
      interest<Node>('Node', ['Add', 'UpdateNodeAllocatable'], (pod, { old, now }) => {
        return now !== undefined && growsEnough(pod, old, now, none);
      }),
    ],
    preFilter: () => ({}),
    filter(_state, node, { pod }) {
      if (surelyFits(pod, node)) return undefined;
      const found = shortages(pod, node, ignored);
      return found.length === 0 ? undefined : statusOf(found);
    },
    preScore: () => ({}),
    score(_state, node, { pod }) {
      for (let i = 0; i < strategy.resources.length; i++) {
        const resource = strategy.resources[i]?.name ?? '';
        const isCpu = resource === 'cpu';
        const isMemory = resource === 'memory';
        const wanted = isCpu ? pod.nonZeroCpu : isMemory ? pod.nonZeroMemory : amountOf(pod.requests, resource);
        const used = isCpu ? node.nonZeroCpu : isMemory ? node.nonZeroMemory : amountOf(node.requested, resource);
        const counts = wanted !== 0 || !isScalarResource(resource);
        allocatable[i] = counts ? amountOf(node.allocatable, resource) : 0;
        requested[i] = used + wanted;
      }
      return strategy.score(requested, allocatable);
    },
  };
}

export type { ResourceWeight, ScoringStrategy, UtilizationPoint } from './scoring.ts';
