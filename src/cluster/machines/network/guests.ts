// Which clients the name server of a machine answers: pods, nodes, and the machine itself. A name server that answers everybody reveals what is in
// the cluster, and lets strangers direct its answers at others (RFC 5358).
import type { Node } from '#api/core/v1';
import { createInformerFactory, type KubeClient } from '#client';
import type { Clock, Logger, Rng } from '#utils';
import { nodesResource } from '../node-client.ts';
import { contains } from './plan.ts';

export interface GuestList {
  serves(address: string): boolean;
  stop(): void;
}

const loopback = '127.0.0.0/8';
const addressesOf = ({ status }: Node): string[] => (status?.addresses ?? []).map(({ address }) => address);

/**
 * Follows the nodes. Until they are known, only pods and the machine itself are answered. `own`: the machine's address; `podCidr`: the range of all
 * pods.
 */
export function startGuestList(
  { own, podCidr }: { own: string; podCidr: string },
  deps: { client: KubeClient; clock: Clock; rng: Rng; logger: Logger },
): GuestList {
  const informers = createInformerFactory(deps);
  const nodes = informers.informer<Node>(nodesResource);
  let known: ReadonlySet<string> | undefined;
  const forget = (): void => {
    known = undefined;
  };
  nodes.addHandler({ onAdd: forget, onUpdate: forget, onDelete: forget });
  informers.start();
  return {
    serves(address) {
      if (address === own || contains(podCidr, address) || contains(loopback, address)) return true;
      known ??= new Set(nodes.lister.list().flatMap(addressesOf));
      return known.has(address);
    },
    stop: () => informers.stop(),
  };
}
