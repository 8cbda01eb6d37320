// What drivers of load balancers report of what they see: only what the world does not know yet, and nothing twice while the world lags behind.
import { deepEqual } from '#utils';
import type { LoadBalancer, Observation, TargetHealth, World } from '../model/index.ts';

export interface Seen {
  /** Why it fails; undefined while it works. */
  reason: string | undefined;
  health: ReadonlyMap<string, TargetHealth>;
  loopbackPorts?: Record<string, number>;
}

export function createTold(observe: (observation: Observation) => void) {
  /** What was reported last of each resource, and about which value in the world. */
  const told = new Map<string, { text: string; about: unknown }>();

  const one = (key: string, known: boolean, observation: Observation, about: unknown): void => {
    const before = told.get(key);
    if (known) {
      told.delete(key);
      return;
    }
    const text = JSON.stringify(observation);
    if (before?.text === text && before.about === about) return;
    told.set(key, { text, about });
    observe(observation);
  };

  return {
    /** Reports what was seen. `now` is the load balancer as it is in the world. */
    tell(now: LoadBalancer, { reason, health, loopbackPorts }: Seen): void {
      const { id } = now;
      const state = reason === undefined ? 'active' : 'failed';
      const same =
        now.state === state &&
        now.stateReason === reason &&
        (loopbackPorts === undefined || deepEqual(now.loopbackPorts ?? {}, loopbackPorts));
      one(
        `${id} state`,
        same,
        {
          kind: 'load-balancer-state',
          loadBalancerId: id,
          state,
          ...(reason !== undefined && { reason }),
          ...(loopbackPorts && { loopbackPorts }),
        },
        now,
      );
      for (const [instanceId, seen] of health) {
        const target = now.targets.find((entry) => entry.instanceId === instanceId);
        const observation: Observation = { kind: 'target-health', loadBalancerId: id, instanceId, health: seen };
        one(`${id} ${instanceId}`, target?.health === seen, observation, target);
      }
    },
    /** Forgets load balancers that are gone from the world. */
    forget({ loadBalancers }: World): void {
      for (const key of told.keys()) if (!loadBalancers.has(key.slice(0, key.indexOf(' ')))) told.delete(key);
    },
  };
}
