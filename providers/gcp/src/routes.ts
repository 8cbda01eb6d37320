// Routes from the network to the pods of each Node (cloud-provider-gcp gce_routes.go).
import { createHash } from 'node:crypto';
import type { Route as NodeRoute, Routes } from 'sagong/cloud-provider';
import { fineIfAbsent, isConflict, undefinedIfAbsent } from 'sagong/cloud-provider/kit';
import type { ComputeApi } from './api/compute.ts';
import type { Route } from './api/types.ts';
import type { InstanceFinder } from './instances/finder.ts';
import { nameIn, sameLink } from './links.ts';
import { clusterPrefix, nodeRouteDescription } from './names.ts';
import { resourcesOf } from './resources.ts';
import type { Settings } from './settings.ts';

const priority = 1_000;
/** As long as the UID of a Node. */
const hashCharacters = 36;

/**
 * The name of a route. The first one of a Node has upstream's; a further one, as of the second address family, has a name of the same length that
 * also depends on its range (upstream never makes it).
 */
const namesOf = (cluster: string, nameHint: string, range: string): [string, string] => {
  const hash = createHash('sha256').update(`${nameHint} ${range}`).digest('hex').slice(0, hashCharacters);
  return [`${clusterPrefix(cluster)}-${nameHint}`, `${clusterPrefix(cluster)}-${hash}`];
};

const leadsNowhere = ({ warnings = [] }: Route): boolean => warnings.some(({ code }) => code === 'NEXT_HOP_INSTANCE_NOT_FOUND');

const shown = (route: Route): NodeRoute => ({
  name: route.name ?? '',
  targetNode: nameIn(route.nextHopInstance),
  targetNodeAddresses: [],
  destinationCidr: route.destRange ?? '',
  ...(leadsNowhere(route) && { blackhole: true }),
});

export function createRoutes(api: ComputeApi, settings: Settings, finder: InstanceFinder): Routes {
  const routesOf = (signal?: AbortSignal) => resourcesOf(api, settings, signal).routes;
  return {
    async listRoutes(cluster, signal) {
      const prefix = `${clusterPrefix(cluster)}-`;
      const all = await routesOf(signal).list(`(name eq ${prefix}.*)(description eq ${nodeRouteDescription})`);
      return all
        .filter(({ name, network, description, nextHopInstance }) => {
          const ours = name?.startsWith(prefix) && description === nodeRouteDescription && nextHopInstance;
          return ours && sameLink(network, settings.network);
        })
        .map(shown);
    },
    async createRoute(cluster, nameHint, { targetNode, destinationCidr }, signal) {
      const routes = routesOf(signal);
      const { id } = await finder.named(targetNode, signal);
      const wanted: Route = {
        destRange: destinationCidr,
        nextHopInstance: api.link(settings.project, { zone: id.zone }, 'instances', id.name),
        network: settings.network,
        priority,
        description: nodeRouteDescription,
      };
      for (const name of namesOf(cluster, nameHint, destinationCidr)) {
        const there = await routes.insert({ name, ...wanted }).then(
          () => undefined,
          async (error: unknown) => {
            if (!isConflict(error)) throw error;
            const taken = await routes.get(name).catch(undefinedIfAbsent);
            if (!taken) throw error;
            return taken;
          },
        );
        if (!there) return;
        if (there.destRange !== destinationCidr) continue;
        if (sameLink(there.nextHopInstance, wanted.nextHopInstance) && !leadsNowhere(there)) return;
        // It leads to an instance that was here before, under the same name in another zone.
        await routes.delete(name).catch(fineIfAbsent);
        await routes.insert({ name, ...wanted });
        return;
      }
      throw new Error(`the names of the route to ${destinationCidr} are taken by routes to other ranges`);
    },
    deleteRoute: (_cluster, { name }, signal) => routesOf(signal).delete(name).catch(fineIfAbsent),
  };
}
