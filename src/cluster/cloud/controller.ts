// The cloud-controller-manager of a cluster, in this process, over any provider: its own identity and rights.
import {
  beyondDocumented,
  defaultCloudControllersConfig,
  documentedRole,
  parseClusterCidrs,
  runCloudControllerManager,
} from '#cloud-controller-manager';
import type { KubeClient } from '#client';
import type { CloudProvider } from '#cloud-provider';
import { defaultLeaderElection } from '#component-base';
import type { Clock, Logger, Rng } from '#utils';
import type { PlaneAccess } from '../control-plane.ts';
import { grantClusterRole } from '../objects/grant.ts';
import { identities } from '../certificates/identities.ts';

export interface CloudControllerManagerSetup {
  plane: PlaneAccess;
  /** Name of the provider. */
  providerName: string;
  cloud: CloudProvider;
  cluster: string;
  /** Between two looks at routes. Default 200. */
  routeReconciliationPeriodMs?: number;
  /** A user's flags. */
  args?: readonly string[];
}

/** Without a change of nodes: routes that somebody took away are made again. */
const routeResyncPeriodMs = 10_000;
const name = 'cloud-controller-manager';
const role = 'system:cloud-controller-manager';

/** The documented ClusterRole, and what it lacks (src/cloud-controller-manager/rights.ts). */
const grant = (client: KubeClient): Promise<void> =>
  grantClusterRole(client, {
    role,
    serviceAccount: name,
    rules: [
      ...documentedRole,
      ...beyondDocumented.map(({ verb, resource, group }) => ({ apiGroups: [group], resources: [resource], verbs: [verb] })),
    ],
  });

/** Starts it; `stop` ends it and leaves the cloud as it is. */
export async function startCloudControllerManager(
  { plane, providerName, cloud, cluster, routeReconciliationPeriodMs = 200, args = [] }: CloudControllerManagerSetup,
  { clock, rng, logger }: { clock: Clock; rng: Rng; logger: Logger },
): Promise<{ stop(): Promise<void> }> {
  const deps = { clock, rng, logger: logger.with({ component: name }), supervisor: plane.supervisor };
  await grant(plane.client(identities.admin, 'sagong'));
  const ours = {
    controllers: ['*'],
    config: {
      ...defaultCloudControllersConfig(),
      clusterName: cluster,
      clusterCidrs: parseClusterCidrs([plane.podCidr]),
      // Nothing is scheduled to a node before its route: look soon, but only when nodes change.
      watchBasedRoutes: true,
      routeReconciliationPeriodMs,
      minResyncPeriodMs: routeResyncPeriodMs,
      concurrentNodeSyncs: 16,
      concurrentServiceSyncs: 16,
    },
  };
  const settings = args.length === 0 ? ours : await (await import('../component-args/apply.ts')).cloudManagerWith(ours, args);
  const manage = () =>
    runCloudControllerManager(
      {
        ...settings,
        providerName,
        cloud,
        // One process holds the store: nobody else can lead.
        leaderElection: { ...defaultLeaderElection(name), leaderElect: false },
        identity: 'sagong',
      },
      {
        ...deps,
        client: plane.client(identities.controller(name), name),
        clientFor: (account) => plane.client(identities.controller(account), account),
        decisions: plane.decisions,
      },
    );
  return plane.supervisor.run(name, manage);
}
