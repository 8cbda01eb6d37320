// Packet rules beside the routes: pods may pass this machine, and leave the cluster with the machine's address. Text for iptables-restore. Pure.

export const forwardChain = 'SAGONG-FORWARD';
export const masqueradeChain = 'SAGONG-MASQ';
const multicast = '224.0.0.0/4';

/**
 * The rules of the pod network as input of iptables-restore. With `--noflush` a chain that is named is emptied first, so all of it changes in one
 * step.
 */
export function packetRules(podCidr: string, nodes: readonly string[]): string {
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
    'COMMIT',
    '',
  ].join('\n');
}

/** Table, chain and rule that lead there. */
export const jumps = (podCidr: string): string[][] => [
  ['nat', 'POSTROUTING', '-s', podCidr, '-m', 'comment', '--comment', 'pods leave the cluster', '-j', masqueradeChain],
  ['filter', 'FORWARD', '-m', 'comment', '--comment', 'traffic of pods', '-j', forwardChain],
];
