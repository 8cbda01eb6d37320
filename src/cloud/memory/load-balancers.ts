// Load balancers that carry nothing: active at once, with the health of their targets from a table. For tests, and machines that can do no more.
import type { Driver, DriverContext, TargetHealth, World } from '../model/index.ts';
import { loopbackKey } from '../core/index.ts';

export interface MemoryLoadBalancersOptions {
  /** The health of an instance. Default: healthy. */
  health?: (instanceId: string) => TargetHealth;
  /** Gives the port of 127.0.0.1 that each listener answers on. Default: load balancers are not on loopback. */
  loopbackPort?: (loadBalancerId: string, protocol: string, port: number) => number;
}

export const memoryLoadBalancers =
  ({ health = () => 'healthy', loopbackPort }: MemoryLoadBalancersOptions = {}) =>
  ({ observe }: DriverContext): Driver => ({
    name: 'load balancers in memory',
    async realise(world: World) {
      for (const { id, state, listeners, targets, loopbackPorts = {} } of world.loadBalancers.values()) {
        const ports =
          loopbackPort && listeners.map((one) => [loopbackKey(one), loopbackPort(id, one.protocol, one.port)] as const);
        const missing = ports?.some(([key]) => loopbackPorts[key] === undefined) ?? false;
        if (state === 'provisioning' || missing)
          observe({
            kind: 'load-balancer-state',
            loadBalancerId: id,
            state: 'active',
            ...(ports && { loopbackPorts: Object.fromEntries(ports) }),
          });
        for (const { instanceId, health: known } of targets) {
          const now = health(instanceId);
          if (now !== known) observe({ kind: 'target-health', loadBalancerId: id, instanceId, health: now });
        }
      }
    },
    async close() {},
  });
