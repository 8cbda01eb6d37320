// Which routes have to be made and removed, and what is reported at Nodes (k8s.io/cloud-provider controllers/route, KEP-5237). Pure.
import type { Node, NodeAddress } from '#api/core/v1';
import { type IPPrefix, parseCIDR } from '#apimachinery/validation';
import { formatDurationMs } from '#apimachinery/duration';
import { formatTime } from '#apimachinery/meta';
import type { Route } from '#cloud-provider';
import type { Effect, Plan } from '#controller-runtime';
import { nodes as nodeResource, refOf } from '#controller-runtime/platform';
import { deepEqual } from '#utils';
import { asNode, warning } from '../events.ts';

export interface RouteToMake {
  node: Node;
  route: Route;
}

export interface RouteChanges {
  remove: readonly Route[];
  make: readonly RouteToMake[];
  /** Nothing is made before all is removed: the same route may be in both. */
  removeFirst: boolean;
  /** Nodes with CIDRs, or with routes although they have none. */
  concerned: readonly Node[];
}

/** How it went to make one route. */
export interface RouteOutcome {
  node: Node;
  cidr: string;
  /** Each failed try, with the time it took. */
  failures: readonly { message: string; durationMs: number }[];
  made: boolean;
}

const bits = (family: 4 | 6): bigint => (family === 4 ? 32n : 128n);
const holds = ({ network, length }: IPPrefix, value: bigint, family: 4 | 6): boolean => {
  const shift = bits(network.family) - BigInt(length);
  return network.family === family && network.value >> shift === value >> shift;
};

/** Whether a route is ours to remove: one end of it lies in a cluster CIDR. An unreadable one is not. */
export function isResponsible(clusterCidrs: readonly IPPrefix[], cidr: string): boolean {
  const prefix = parseCIDR(cidr);
  if (!prefix) return false;
  const { value: first, family } = prefix.network;
  const last = first | ((1n << (bits(family) - BigInt(prefix.length))) - 1n);
  return clusterCidrs.some((cluster) => holds(cluster, first, family) || holds(cluster, last, family));
}

const sameAddresses = (a: readonly NodeAddress[], b: readonly NodeAddress[]): boolean =>
  a.length === b.length && a.every((one) => b.some((other) => one.type === other.type && one.address === other.address));

const cidrsOf = ({ spec }: Node): readonly string[] => spec?.podCIDRs ?? [];
const addressesOf = ({ status }: Node): NodeAddress[] => status?.addresses ?? [];

export function changesOf(clusterCidrs: readonly IPPrefix[], nodes: readonly Node[], routes: readonly Route[]): RouteChanges {
  const byNode = new Map<string, Route[]>();
  for (const route of routes)
    if (route.targetNode) byNode.set(route.targetNode, [...(byNode.get(route.targetNode) ?? []), route]);
  const kept = new Set<string>();
  const make: RouteToMake[] = [];
  for (const node of nodes) {
    const name = node.metadata.name ?? '';
    for (const cidr of cidrsOf(node)) {
      const existing = byNode.get(name)?.find(({ destinationCidr }) => destinationCidr === cidr);
      const current =
        existing && (!existing.enableNodeAddresses || sameAddresses(addressesOf(node), existing.targetNodeAddresses));
      if (current) kept.add(`${name} ${cidr}`);
      else
        make.push({ node, route: { name: '', targetNode: name, targetNodeAddresses: addressesOf(node), destinationCidr: cidr } });
    }
  }
  const remove = routes.filter(
    ({ blackhole, targetNode, destinationCidr }) =>
      isResponsible(clusterCidrs, destinationCidr) && (blackhole || !kept.has(`${targetNode} ${destinationCidr}`)),
  );
  const concerned = nodes.filter((node) => cidrsOf(node).length > 0 || byNode.has(node.metadata.name ?? ''));
  return { remove, make, removeFirst: routes[0]?.enableNodeAddresses ?? false, concerned };
}

const created = { status: 'False', reason: 'RouteCreated', message: 'RouteController created a route' };
const notCreated = { status: 'True', reason: 'NoRouteCreated', message: 'RouteController failed to create a route' };

function conditionEffect(node: Node, ready: boolean, now: number): Effect[] {
  const wanted = ready ? created : notCreated;
  const old = node.status?.conditions?.find(({ type }) => type === 'NetworkUnavailable');
  if (old?.status === wanted.status && old.reason === wanted.reason) return [];
  const time = formatTime(now);
  const condition = { type: 'NetworkUnavailable', ...wanted, lastTransitionTime: time, lastHeartbeatTime: time };
  return [
    {
      op: 'patch',
      ref: refOf(nodeResource, node),
      type: 'application/strategic-merge-patch+json',
      subresource: 'status',
      body: { metadata: { uid: node.metadata.uid }, status: { conditions: [condition] } },
      goneIsDone: true,
    },
  ];
}

/** What is reported at Nodes: an event for each failed try, and whether the network is available. */
export function outcomePlan(
  { concerned }: Pick<RouteChanges, 'concerned'>,
  outcomes: readonly RouteOutcome[],
  now: number,
): Plan {
  const events = outcomes.flatMap(({ node, cidr, failures }) =>
    failures.map(({ message, durationMs }) =>
      warning(
        asNode(node),
        'FailedToCreateRoute',
        `Could not create route ${node.metadata.uid} ${cidr} for node ${node.metadata.name} after ${formatDurationMs(durationMs)}: ${message}`,
      ),
    ),
  );
  const failed = new Set(outcomes.filter(({ made }) => !made).map(({ node }) => node.metadata.uid));
  const conditions = concerned.flatMap((node) =>
    conditionEffect(node, cidrsOf(node).length > 0 && !failed.has(node.metadata.uid), now),
  );
  return { effects: [...events, ...conditions] };
}

/** Whether a change of a Node matters to routes. */
export const routesDiffer = (node: Node, old: Node): boolean =>
  !deepEqual(node.status?.addresses, old.status?.addresses) || !deepEqual(node.spec?.podCIDRs, old.spec?.podCIDRs);
