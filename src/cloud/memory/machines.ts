// Instances without machines: each change of state is seen after a while. For machines without root, and for tests.
import type { Clock, Timer } from '#utils';
import type { Driver, DriverContext, Instance, Observation, World } from '../model/index.ts';

export interface MemoryMachinesOptions {
  clock: Clock;
  /** From asking to being there. Default 0: at once. */
  delayMs?: number;
}

/** Where an instance is going, and what is seen when it is there. */
const ends: Partial<Record<Instance['state'], Extract<Observation, { kind: 'instance-state' }>['state']>> = {
  pending: 'running',
  stopping: 'stopped',
  'shutting-down': 'terminated',
};

export const memoryMachines =
  ({ clock, delayMs = 0 }: MemoryMachinesOptions) =>
  ({ observe }: DriverContext): Driver => {
    const underWay = new Map<string, { state: string; timer: Timer | undefined }>();
    const settle = ({ id, state }: Instance): void => {
      const end = ends[state];
      if (end === undefined || underWay.get(id)?.state === state) return;
      underWay.get(id)?.timer?.cancel();
      const arrive = (): void => {
        underWay.delete(id);
        observe({ kind: 'instance-state', instanceId: id, state: end });
      };
      if (delayMs === 0) arrive();
      else underWay.set(id, { state, timer: clock.setTimer(delayMs, arrive) });
    };
    return {
      name: 'machines in memory',
      async realise(world: World) {
        for (const instance of world.instances.values()) settle(instance);
      },
      async close() {
        for (const { timer } of underWay.values()) timer?.cancel();
        underWay.clear();
      },
    };
  };
