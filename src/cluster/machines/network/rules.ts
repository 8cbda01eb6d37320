// Packet rules beside the routes: pods may pass this machine, and leave the cluster with the machine's address; the tunnel takes packets of nodes alone.
// Text for iptables-restore. Pure.
import { tunnelPort } from './plan.ts';

export const forwardChain = 'SAGONG-FORWARD';
export const masqueradeChain = 'SAGONG-MASQ';
export const tunnelChain = 'SAGONG-TUNNEL';
const multicast = '224.0.0.0/4';

/**
 * The rules of the pod network as input of iptables-restore. With `--noflush` a chain that is named is emptied first, so all of it changes in one
 * step.
 */
export function packetRules(podCidr: string, nodes: readonly string[], senders: readonly string[]): string {
  return [
    '*nat',
    `:${masqueradeChain} - [0:0]`,
    ...[podCidr, ...nodes, multicast].map((to) => `-A ${masqueradeChain} -d ${to} -j RETURN`),
    `-A ${masqueradeChain} -j MASQUERADE`,
    'COMMIT',
    '*filter',
    `:${forwardChain} - [0:0]`,
    `-A ${forwardChain} -s ${podCidr} -j ACCEPT`,
    `-A ${forwardChain} -d ${podCidr} -j ACCEPT`,
    `:${tunnelChain} - [0:0]`,
    ...senders.map((from) => `-A ${tunnelChain} -s ${from} -j RETURN`),
    // Without a tunnel the port is nobody's, or another program's.
    ...(senders.length > 0 ? [`-A ${tunnelChain} -j DROP`] : []),
    'COMMIT',
    '',
  ].join('\n');
}

export interface Jump {
  table: string;
  chain: string;
  /** Before everything that others have there: what they let in would not be asked about. */
  first?: true;
  rule: string[];
}

/** The rules of the kernel's own chains that lead to ours. */
export const jumps = (podCidr: string): Jump[] => [
  { table: 'nat', chain: 'POSTROUTING', rule: ['-s', podCidr, ...comment('pods leave the cluster'), '-j', masqueradeChain] },
  { table: 'filter', chain: 'FORWARD', rule: [...comment('traffic of pods'), '-j', forwardChain] },
  {
    table: 'filter',
    chain: 'INPUT',
    first: true,
    rule: ['-p', 'udp', '-m', 'udp', '--dport', String(tunnelPort), ...comment('tunnel of pods'), '-j', tunnelChain],
  },
];

const comment = (text: string): string[] => ['-m', 'comment', '--comment', text];
