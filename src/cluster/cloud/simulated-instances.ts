// Instances of a cloud without a hypervisor: each running one is a kubelet over the simulated runtime, in this process. The cloud's driver for
// machines without root.
import type { Driver, DriverContext, Instance, World } from '#cloud';
import type { StatsSummary } from '#component-helpers/stats';
import type { Dial } from '#wire';
import type { SimulatedNodes } from '../nodes/simulated-nodes.ts';

export interface SimulatedInstances {
  /** The cloud's driver of these instances. */
  driver(context: DriverContext): Driver;
  /** Gives the instances their kubelets: only now is there an apiserver for them. */
  connect(nodes: SimulatedNodes): void;
  /** Reaches kubelets by the addresses of their instances. */
  readonly dial: Dial;
  /** What a node uses; undefined for one that is not there. */
  stats(name: string): Promise<StatsSummary> | undefined;
}

const hasPower = ({ state }: Instance): boolean => state === 'pending' || state === 'running';

export function createSimulatedInstances(): SimulatedInstances {
  let kubelets: SimulatedNodes | undefined;
  let connected: () => void = () => {};
  const connection = new Promise<void>((resolve) => {
    connected = resolve;
  });
  return {
    driver: ({ observe }) => {
      let closed = false;
      return {
        name: 'simulated instances',
        async realise(world: World) {
          const instances = [...world.instances.values()];
          for (const { id, state } of instances) {
            if (state === 'pending') observe({ kind: 'instance-state', instanceId: id, state: 'running' });
            if (state === 'stopping') observe({ kind: 'instance-state', instanceId: id, state: 'stopped' });
            if (state === 'shutting-down') observe({ kind: 'instance-state', instanceId: id, state: 'terminated' });
          }
          await connection;
          if (kubelets && !closed) await bringInLine(kubelets, instances.filter(hasPower));
        },
        async close() {
          closed = true;
          connected();
          await kubelets?.stop();
        },
      };
    },
    connect(nodes) {
      kubelets = nodes;
      connected();
    },
    stats: (name) => kubelets?.stats(name),
    dial: (target, signal) =>
      kubelets ? kubelets.dial(target, signal) : Promise.reject(new Error('the nodes have not started yet')),
  };
}

async function bringInLine(kubelets: SimulatedNodes, instances: readonly Instance[]): Promise<void> {
  const wanted = new Map(instances.map((instance) => [instance.name, instance]));
  for (const name of kubelets.names()) if (!wanted.has(name)) await kubelets.remove(name);
  await Promise.all(
    [...wanted.values()]
      .filter(({ name }) => !kubelets.has(name))
      .map(({ name, privateAddress }) =>
        kubelets.add({ name, nodeIP: privateAddress, cloudProvider: 'external', routesFromCloud: true }),
      ),
  );
}
