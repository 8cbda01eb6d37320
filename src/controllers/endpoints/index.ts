// Lists the pods behind each Service in an Endpoints object, for clients from before EndpointSlices (pkg/controller/endpoint).
import type { Endpoints, Service } from '#api/core/v1';
import { keyOf, splitKey } from '#apimachinery/meta';
import { type Cache, defineController, watch } from '#controller-runtime';
import { allow, endpoints, podsOfService, recordEvents, services, watchServices } from '#controller-runtime/workload';
import { type EndpointsView, managedByLabel, managerName, reconcile } from './reconcile.ts';

/** Endpoints without a Service that this loop does not manage belong to their author, and are left alone. */
function keysOfEndpoints({ metadata }: Endpoints, _old: Endpoints | undefined, cache: Cache): string[] {
  const managed = metadata.labels?.[managedByLabel] === managerName;
  return managed || cache.get(services, metadata.namespace ?? '', metadata.name ?? '') ? [keyOf(metadata)] : [];
}

function view(key: string, cache: Cache): EndpointsView {
  const { namespace, name } = splitKey(key);
  const service = cache.get<Service>(services, namespace, name);
  const current = cache.get<Endpoints>(endpoints, namespace, name);
  return { namespace, name, service, current, pods: service ? podsOfService(service, cache) : [] };
}

export const endpointsController = defineController<EndpointsView>({
  name: 'endpoints-controller',
  aliases: ['endpoint'],
  for: services,
  concurrency: { flag: 'concurrent-endpoint-syncs', default: 5 },
  serviceAccount: 'endpoint-controller',
  eventSource: 'endpoint-controller',
  rights: [
    allow('get,list,watch', 'core', 'pods,services'),
    allow('create,delete,get,list,update,watch', 'core', 'endpoints'),
    allow('create', 'core', 'endpoints/restricted'),
    recordEvents,
  ],
  watches: [...watchServices(), watch<Endpoints>({ resource: endpoints, keys: keysOfEndpoints })],
  view,
  reconcile,
});
