// What drivers saw happen, folded into the world. Late or repeated observations change nothing: the same world comes back.
import type { Instance, LoadBalancer, Observation, World } from '../model/index.ts';
import { type Context, timestamp } from './context.ts';
import { withoutRun } from './instances.ts';
import { detach, dropInterface } from './interfaces.ts';
import { settle } from './settle.ts';
import { put, remove } from './world.ts';

type Seen<Kind extends Observation['kind']> = Extract<Observation, { kind: Kind }>;

/** The world after a driver has told what it observed. */
export function observe(world: World, observation: Observation, { now, settings }: Pick<Context, 'now' | 'settings'>): World {
  switch (observation.kind) {
    case 'instance-state':
      return settle(world, instanceSeen(world, observation, now), settings);
    case 'load-balancer-state':
      return balancerSeen(world, observation);
    case 'target-health':
      return healthSeen(world, observation);
  }
}

function instanceSeen(world: World, { instanceId, state, initPid, reason }: Seen<'instance-state'>, now: number): World {
  const instance = world.instances.get(instanceId);
  if (!instance || instance.state === 'terminated') return world;
  if (state === 'terminated')
    return instance.state === 'shutting-down' || reason ? terminated(world, instance, reason, now) : world;
  if (instance.state === 'shutting-down') return world;
  if (state === 'running') {
    // Asked to stop meanwhile, or stopped: what was seen is over.
    if (instance.state !== 'pending' && instance.state !== 'running') return world;
    return put(world, 'instances', { ...withoutRun(instance), state, ...(initPid !== undefined && { initPid }) });
  }
  // A start that was asked for after the stop is not undone by the stop, unless the start itself failed.
  if (instance.state === 'pending' && reason === undefined) return world;
  return put(world, 'instances', { ...withoutRun(instance), state, ...(reason !== undefined && { stateReason: reason }) });
}

/** Its first interface goes with it, others become free. */
function terminated(world: World, instance: Instance, reason: string | undefined, now: number): World {
  let changed = world;
  for (const id of instance.interfaceIds) {
    const item = changed.interfaces.get(id);
    if (item) changed = item.attachment?.deviceIndex === 0 ? dropInterface(changed, id) : detach(changed, item);
  }
  const { publicAddress: _, ...rest } = withoutRun(instance);
  return put(changed, 'instances', {
    ...rest,
    state: 'terminated',
    interfaceIds: [],
    terminatedAt: timestamp(now),
    ...(reason !== undefined && { stateReason: reason }),
  });
}

function balancerSeen(world: World, { loadBalancerId, state, reason, loopbackPorts }: Seen<'load-balancer-state'>): World {
  const balancer = world.loadBalancers.get(loadBalancerId);
  if (!balancer) return world;
  const { stateReason: _, ...rest } = balancer;
  const after: LoadBalancer = {
    ...rest,
    state,
    ...(reason !== undefined && { stateReason: reason }),
    ...(loopbackPorts && { loopbackPorts }),
  };
  return put(world, 'loadBalancers', after);
}

function healthSeen(world: World, { loadBalancerId, instanceId, health }: Seen<'target-health'>): World {
  const balancer = world.loadBalancers.get(loadBalancerId);
  const target = balancer?.targets.find((one) => one.instanceId === instanceId);
  if (!balancer || !target || target.health === health) return world;
  const targets = balancer.targets.map((one) => (one === target ? { ...one, health } : one));
  return put(world, 'loadBalancers', { ...balancer, targets });
}

/** The world without instances that were terminated longer ago than they are listed. */
export function forget(world: World, { now, settings }: Pick<Context, 'now' | 'settings'>): World {
  let changed = world;
  for (const { id, terminatedAt } of world.instances.values())
    if (terminatedAt !== undefined && Date.parse(terminatedAt) + settings.terminatedKeepMs <= now)
      changed = remove(changed, 'instances', id);
  return settle(world, changed, settings);
}
