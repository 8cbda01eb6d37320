// Host ports that are still free (upstream plugins/nodeports).
import type { Pod } from '#api/core/v1';
import { hostPorts, type HostPort, portsConflict } from '#component-helpers/pod';
import { interest, type Plugin, unschedulable } from '../../framework/index.ts';

const name = 'NodePorts';
const taken = unschedulable(name, "node(s) didn't have free ports for the requested pod ports");

const anyConflict = (wanted: readonly HostPort[], used: readonly HostPort[]): boolean =>
  wanted.some((port) => used.some((other) => portsConflict(port, other)));

export const nodePorts = (): Plugin => ({
  name,
  local: true,
  events: [
    interest<Pod>('Pod', ['Delete'], (pod, { old }) => {
      if (old === undefined || (!old.spec?.nodeName && !old.status?.nominatedNodeName)) return false;
      return anyConflict(pod.ports, hostPorts(old));
    }),
    interest('Node', ['Add']),
  ],
  preFilter: ({ pod }) => ({ skip: pod.ports.length === 0 }),
  filter(_state, node, { pod }) {
    for (const other of node.podsWithPorts.values()) if (anyConflict(pod.ports, other.ports)) return taken;
    return undefined;
  },
});
