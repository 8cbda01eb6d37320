// Mirrors Endpoints that were written by hand into EndpointSlices (pkg/controller/endpointslicemirroring; KEP-1672).
import type { Endpoints, Service } from '#api/core/v1';
import type { EndpointSlice } from '#api/discovery/v1';
import { splitKey } from '#apimachinery/meta';
import { managedByLabel, serviceNameLabel } from '#component-helpers/endpoints';
import { type Cache, defineController, ownKey, watch } from '#controller-runtime';
import { allow, endpoints, endpointSlices, recordEvents, services } from '#controller-runtime/workload';
import { controllerName, type MirrorView, reconcile } from './reconcile.ts';

const mirrorIndex = 'mirroredEndpoints';

function mirrorKeys({ metadata }: EndpointSlice): string[] {
  const name = metadata.labels?.[serviceNameLabel];
  return name && metadata.labels?.[managedByLabel] === controllerName ? [`${metadata.namespace ?? ''}/${name}`] : [];
}

function view(key: string, cache: Cache): MirrorView {
  const { namespace, name } = splitKey(key);
  return {
    endpoints: cache.get<Endpoints>(endpoints, namespace, name),
    service: cache.get<Service>(services, namespace, name),
    slices: cache.byIndex<EndpointSlice>(endpointSlices, mirrorIndex, key),
  };
}

export const endpointSliceMirroringController = defineController<MirrorView>({
  name: 'endpointslice-mirroring-controller',
  aliases: ['endpointslicemirroring'],
  for: endpoints,
  concurrency: { flag: 'mirroring-concurrent-service-endpoint-syncs', default: 5 },
  serviceAccount: 'endpointslicemirroring-controller',
  eventSource: 'endpoint-slice-mirroring-controller',
  rights: [
    allow('get,list,watch', 'core', 'endpoints,services'),
    allow('update', 'core', 'services/finalizers'),
    allow('update', 'core', 'endpoints/finalizers'),
    allow('create,delete,get,list,update,watch', 'discovery.k8s.io', 'endpointslices'),
    recordEvents,
  ],
  watches: [
    { resource: endpoints, keys: ownKey },
    { resource: services, keys: ownKey },
    watch<EndpointSlice>({
      resource: endpointSlices,
      indexers: { [mirrorIndex]: mirrorKeys },
      keys: (slice, old) => new Set([...mirrorKeys(slice), ...(old ? mirrorKeys(old) : [])]),
    }),
  ],
  view,
  reconcile,
});
