// Nodes whose pods are not processes: whole kubelets over the simulated runtime, in this process.
import { createEventRecorder } from '#client';
import { createSimulatedNode, type Kubelet } from '#kubelet';
import type { Clock, Logger, Rng } from '#utils';
import type { ControlPlane } from './control-plane.ts';
import { identities } from './identities.ts';

export interface SimulatedNodes {
  readonly kubelets: ReadonlyMap<string, Kubelet>;
  stop(): void;
}

export async function startSimulatedNodes(
  plane: ControlPlane,
  names: readonly string[],
  deps: { clock: Clock; rng: Rng; logger: Logger },
): Promise<SimulatedNodes> {
  const kubelets = new Map<string, Kubelet>();
  for (const name of names) {
    const client = plane.client(identities.node(name), 'kubelet');
    const logger = deps.logger.with({ component: 'kubelet', node: name });
    const recorder = createEventRecorder({ client, clock: deps.clock, logger, component: 'kubelet', host: name });
    kubelets.set(name, createSimulatedNode({ name, podCIDR: null }, { ...deps, client, logger, recorder }));
  }
  await Promise.all([...kubelets.values()].map((kubelet) => kubelet.start()));
  return {
    kubelets,
    stop() {
      for (const kubelet of kubelets.values()) kubelet.close();
    },
  };
}
