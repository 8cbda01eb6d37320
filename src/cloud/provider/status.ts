// A load balancer as a Service's status shows it. Pure.
import type { LoadBalancerStatus } from '#cloud-provider';
import type { Listener, LoadBalancer } from '../model/index.ts';

const protocolOf = ({ protocol }: Listener): string => (protocol === 'tcp' ? 'TCP' : 'UDP');

/** Where a listener answers on loopback; undefined: not there yet. */
const loopbackPort = ({ loopbackPorts = {} }: LoadBalancer, { protocol, port }: Listener): number | undefined =>
  loopbackPorts[`${protocol}/${port}`];

/** Whether the status has everything that clients need. */
export const isComplete = (balancer: LoadBalancer): boolean =>
  balancer.state === 'active' &&
  (balancer.loopbackPorts === undefined ||
    balancer.listeners.every((listener) => loopbackPort(balancer, listener) !== undefined));

/**
 * Nodes may short-circuit traffic to the address (`VIP`), unless what the proxy adds would be missed (PROXY protocol), or the address is
 * one of this machine and not the cloud's.
 */
export function statusOf(balancer: LoadBalancer): LoadBalancerStatus {
  const { address, listeners, proxyProtocol, loopbackPorts } = balancer;
  if (loopbackPorts) {
    const ports = listeners.flatMap((listener) => {
      const port = loopbackPort(balancer, listener);
      return port === undefined ? [] : [{ port, protocol: protocolOf(listener) }];
    });
    return { ingress: [{ ip: '127.0.0.1', ipMode: 'Proxy', ports }] };
  }
  const ports = listeners.map((listener) => ({ port: listener.port, protocol: protocolOf(listener) }));
  return { ingress: [{ ip: address, ipMode: proxyProtocol === 'none' ? 'VIP' : 'Proxy', ports }] };
}
