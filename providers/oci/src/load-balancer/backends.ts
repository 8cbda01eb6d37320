// Nodes as backends, and backend sets for ports. Pure.
import { isIPv4, isIPv6 } from 'node:net';
import type { Node } from 'sagong/cloud-provider';
import type { Backend, BackendSet } from '../api/types.ts';
import { ocidOf } from '../names.ts';
import type { BalancerPlan } from './plan.ts';
import { backendSetName, type Family } from './ports.ts';
import { sslOf } from './tls.ts';

export interface NodeAddresses {
  v4?: string;
  v6?: string;
}

/** A public IPv6 address serves where there is no private one. */
export function addressesOf({ status }: Node): NodeAddresses {
  const of = (wanted: string, test: (address: string) => boolean): string | undefined =>
    status?.addresses?.find(({ type, address }) => type === wanted && test(address))?.address;
  const v4 = of('InternalIP', isIPv4);
  const v6 = of('InternalIP', isIPv6) ?? of('ExternalIP', isIPv6);
  return { ...(v4 && { v4 }), ...(v6 && { v6 }) };
}

/** The nodes that can be backends: those with an address and an instance. */
function backendsOf({ kind }: BalancerPlan, nodes: readonly Node[], port: number, family: Family): Backend[] {
  return nodes.flatMap((node): Backend[] => {
    const { v4, v6 } = addressesOf(node);
    const ipAddress = family === 'IPv6' ? v6 : v4;
    const targetId = ocidOf(node.spec?.providerID);
    if (!ipAddress || !targetId) return [];
    return [{ ipAddress, port, weight: 1, ...(kind === 'nlb' && family === 'IPv4' && { targetId }) }];
  });
}

/** The backend sets of a load balancer by their names. */
export function backendSetsOf(plan: BalancerPlan, nodes: readonly Node[], families: readonly Family[]) {
  const { kind, ports, policy, health, tls, preservesSource } = plan;
  const all = ports.flatMap((port) =>
    (kind === 'lb' ? (['IPv4'] as const) : families).map((family): [string, BackendSet] => {
      const sslConfiguration = sslOf(tls, 'backendSet', port.port);
      const set: BackendSet = {
        policy,
        healthChecker: health,
        backends: backendsOf(plan, nodes, port.nodePort, family),
        ...(sslConfiguration && { sslConfiguration }),
        ...(kind === 'nlb' && { isPreserveSource: preservesSource, ipVersion: family === 'IPv6' ? 'IPV6' : 'IPV4' }),
      };
      return [backendSetName(kind, port, family), set];
    }),
  );
  return Object.fromEntries(all);
}

/** Two backends are the same when they have the same address and port. */
export const backendKey = ({ ipAddress = '', port }: Backend): string => `${ipAddress}:${port}`;
