// Gives every node its piece of the cluster CIDRs (pkg/controller/nodeipam, range allocator). One key decides for all nodes, so that two
// nodes can never be given the same piece.
import type { Node } from '#api/core/v1';
import { type ControllerDefinition, defineController, type Effect, type Plan, watch, wholeCluster } from '#controller-runtime';
import { mergePatch, nodes } from '#controller-runtime/platform';
import { nodeControllerRights } from '../node-controller-rights.ts';
import type { ControllersConfig } from '../config.ts';
import { CidrSet, noCidrsRemaining } from './cidr-set.ts';

type Config = Pick<
  ControllersConfig,
  'clusterCidrs' | 'allocateNodeCidrs' | 'nodeCidrMaskSizeIpv4' | 'nodeCidrMaskSizeIpv6' | 'serviceCidrs'
>;

export interface NodeIpamView {
  nodes: readonly Node[];
  /** Where each set looks first. */
  next: readonly number[];
}

const key = 'cidrs';
const cidrsOf = ({ spec }: Node): readonly string[] => spec?.podCIDRs ?? (spec?.podCIDR ? [spec.podCIDR] : []);

const setsOf = (config: Config, next: readonly number[]): CidrSet[] =>
  config.clusterCidrs.map(
    (cidr, index) =>
      new CidrSet(cidr, cidr.includes(':') ? config.nodeCidrMaskSizeIpv6 : config.nodeCidrMaskSizeIpv4, next[index]),
  );

/** Decides which CIDRs the nodes without any get. */
export function allocate(config: Config, { nodes: all, next }: NodeIpamView): Plan {
  const sets = setsOf(config, next);
  for (const [index, set] of sets.entries()) occupyOwned(set, all, index);
  for (const set of sets) for (const cidr of config.serviceCidrs) set.occupy(cidr);
  const waiting = all.filter((node) => cidrsOf(node).length === 0 && !node.metadata.deletionTimestamp);
  const patches: Effect[] = [];
  const given: string[] = [];
  const unserved: Effect[] = [];
  for (const node of waiting) {
    const name = node.metadata.name ?? '';
    const cidrs = sets.map((set) => set.allocate());
    if (cidrs.some((cidr) => cidr === undefined)) {
      unserved.push(statusEvent(node, 'CIDRNotAvailable'));
      continue;
    }
    patches.push(
      mergePatch(
        nodes,
        node,
        { metadata: { uid: node.metadata.uid }, spec: { podCIDR: cidrs[0], podCIDRs: cidrs } },
        {
          events: {
            regarding: node,
            failure: { reason: 'CIDRAssignmentFailed', message: `Node ${name} status is now: CIDRAssignmentFailed` },
          },
        },
      ),
    );
    given.push(`${name} gets ${cidrs.join(' and ')}`);
  }
  return {
    effects: [...(patches.length > 0 ? [{ op: 'parallel' as const, effects: patches }] : []), ...unserved],
    remember: sets.map((set) => set.next),
    because: explain(given, unserved.length),
  };
}

/** A Node says itself which block it has: what an elder one has a part of is not its own, and leaves the rest to others. */
function occupyOwned(set: CidrSet, all: readonly Node[], index: number): void {
  const owned = all.flatMap(({ metadata, ...node }) => {
    const cidr = cidrsOf({ metadata, ...node })[index];
    return cidr === undefined
      ? []
      : [{ cidr, name: metadata.name ?? '', since: Date.parse(metadata.creationTimestamp ?? '') || 0 }];
  });
  owned.sort((a, b) => a.since - b.since || (a.name < b.name ? -1 : 1));
  for (const { cidr } of owned) if (!set.isTaken(cidr)) set.occupy(cidr);
}

const statusEvent = (regarding: Node, status: string): Effect => ({
  op: 'event',
  regarding,
  type: 'Normal',
  reason: status,
  message: `Node ${regarding.metadata.name} status is now: ${status}`,
});

function explain(given: readonly string[], unserved: number): string {
  if (unserved > 0) return `${unserved} nodes have no pod addresses: ${noCidrsRemaining}.`;
  return given.length === 0 ? 'Every node has its pod addresses.' : `Nodes need pod addresses of their own: ${given.join(', ')}.`;
}

export const nodeIpamController = (config: Config): ControllerDefinition =>
  defineController<NodeIpamView>({
    name: 'node-ipam-controller',
    aliases: ['nodeipam'],
    for: wholeCluster,
    serviceAccount: 'node-controller',
    eventSource: 'cidrAllocator',
    rights: nodeControllerRights,
    watches: [
      watch<Node>({
        resource: nodes,
        // A node that goes frees addresses others may wait for.
        keys: (node, old) => (config.allocateNodeCidrs && (!old || cidrsOf(node).length === 0) ? [key] : []),
      }),
    ],
    view: (_key, cache, { memory }) => ({ nodes: cache.list<Node>(nodes), next: (memory as number[] | undefined) ?? [] }),
    reconcile: (view) => allocate(config, view),
    concurrency: 1,
  });
