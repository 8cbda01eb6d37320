// Keeps the pod network of this machine as the nodes of the cluster want it, for as long as the machine is a node.
import type { Node } from '#api/core/v1';
import { createInformerFactory, type KubeClient } from '#client';
import type { Running } from '#component-base';
import { type Clock, deepEqual, type Exec, type Logger, type Rng, type Timer } from '#utils';
import { networkLookMs, networkRetryMs } from '../limits.ts';
import { nodesResource } from '../node-client.ts';
import { applyNetwork, machineLinks } from './apply.ts';
import { type NetworkNode, type NetworkPlan, planNetwork } from './plan.ts';

export { machineLinks, removeNetwork } from './apply.ts';

export interface PodNetworkOptions {
  nodeName: string;
  /** The range of the addresses of all pods. */
  podCidr: string;
}

interface Deps {
  client: KubeClient;
  clock: Clock;
  rng: Rng;
  logger: Logger;
  exec: Exec;
}

const networkNode = ({ metadata, spec, status }: Node): NetworkNode => ({
  name: metadata.name ?? '',
  address: status?.addresses?.find(({ type, address }) => type === 'InternalIP' && address.includes('.'))?.address ?? '',
  podCidr: spec?.podCIDR ?? '',
  createdMs: Date.parse(metadata.creationTimestamp ?? '') || 0,
});

/** Follows the nodes, and looks at the machine's own addresses from time to time. */
export function startPodNetwork({ nodeName, podCidr }: PodNetworkOptions, deps: Deps): Running {
  const { clock, logger, exec } = deps;
  const informers = createInformerFactory(deps);
  const nodes = informers.informer<Node>(nodesResource);
  let applied: NetworkPlan | undefined;
  let working: Promise<void> | undefined;
  let again = false;
  let stopped = false;
  let timer: Timer | undefined;
  const apply = async (force: boolean): Promise<void> => {
    const all = nodes.lister
      .list()
      .map(networkNode)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const plan = planNetwork(all, nodeName, await machineLinks(), podCidr);
    if (!plan || (!force && deepEqual(plan, applied))) return;
    await applyNetwork(exec, plan, podCidr);
    if (!deepEqual(plan, applied))
      logger.info('Pod network is in place', { routes: plan.routes.length, tunnels: plan.peers.length });
    if (plan.leftOut.length > 0 && !deepEqual(plan.leftOut, applied?.leftOut ?? []))
      logger.warn('Nothing leads to pods of nodes whose block or address is not theirs', { nodes: plan.leftOut });
    applied = plan;
  };
  const look = (force = false): void => {
    timer?.cancel();
    if (stopped) return;
    again = working !== undefined;
    working ??= apply(force)
      .then(
        () => networkLookMs,
        (error: unknown) => {
          applied = undefined;
          logger.error('The pod network could not be set up; trying again', { err: error });
          return networkRetryMs;
        },
      )
      .then((pauseMs) => {
        working = undefined;
        if (again) look();
        else if (!stopped) timer = clock.setTimer(pauseMs, () => look(true));
      });
  };
  nodes.addHandler({ onAdd: () => look(), onUpdate: () => look(), onDelete: () => look() });
  informers.start();
  return {
    async stop() {
      stopped = true;
      timer?.cancel();
      informers.stop();
      await working;
    },
  };
}
