// Names and addresses of a cluster's nodes on one machine, all derived from the data directory: two clusters never collide, and a later
// process finds everything a crashed one left behind. Pure.
import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** The bridge network that joins the nodes; it lives in a network namespace of its own, so it cannot clash with the machine's networks. */
export const lan = { bridge: 'br0', subnet: '10.77.0.0/16', gateway: '10.77.0.1', prefixLength: 16 };

export interface NodePlan {
  name: string;
  /** 1-based. */
  index: number;
  /** Address on the lan. */
  address: string;
  /** Network namespace, as in `ip netns`. */
  netns: string;
  /** Names of the veth pair between bridge and node; the node's end is renamed to eth0. */
  link: string;
  /** Everything the node keeps: containerd's data, logs, volumes. */
  dir: string;
  /** Cgroup of the node below every controller. */
  cgroup: string;
}

export interface NetworkPlan {
  /** Six hex digits that mark everything of this cluster on the machine. */
  id: string;
  lanNetns: string;
  nodes: NodePlan[];
}

export function networkPlan(dataDir: string, nodeNames: readonly string[]): NetworkPlan {
  const id = createHash('sha256').update(dataDir).digest('hex').slice(0, 6);
  return {
    id,
    lanNetns: `sagong-${id}-lan`,
    nodes: nodeNames.map((name, offset) => {
      const index = offset + 1;
      return {
        name,
        index,
        address: `10.77.${Math.floor((index + 9) / 250)}.${((index + 9) % 250) + 1}`,
        netns: `sagong-${id}-n${index}`,
        link: `sg${id}n${index}`,
        dir: join(dataDir, 'nodes', name),
        cgroup: `sagong-${id}-n${index}`,
      };
    }),
  };
}
