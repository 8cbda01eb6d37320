// Lists the pods behind each Service in EndpointSlices (pkg/controller/endpointslice; KEP-752).
import type { Node, Service } from '#api/core/v1';
import type { EndpointSlice } from '#api/discovery/v1';
import { keyOf, splitKey } from '#apimachinery/meta';
import { managedByLabel, serviceNameLabel } from '#component-helpers/endpoints';
import { type Cache, defineController, watch } from '#controller-runtime';
import { allow, endpointSlices, nodes, podsOfService, recordEvents, services, watchServices } from '#controller-runtime/workload';
import { deepEqual } from '#utils';
import { isAuto } from './endpoints.ts';
import { controllerName, type EndpointSliceView, reconcile } from './reconcile.ts';
import { cpuRatios, topologyOf } from './topology.ts';

const serviceIndex = 'managedService';

const isManaged = ({ metadata }: EndpointSlice): boolean => metadata.labels?.[managedByLabel] === controllerName;

/** The Service of a slice of this loop; [] for others' slices. */
function serviceKeys(slice: EndpointSlice): string[] {
  const service = slice.metadata.labels?.[serviceNameLabel];
  return service && isManaged(slice) ? [`${slice.metadata.namespace ?? ''}/${service}`] : [];
}

function view(key: string, cache: Cache): EndpointSliceView {
  const { namespace, name } = splitKey(key);
  const service = cache.get<Service>(services, namespace, name);
  const pods = service ? podsOfService(service, cache) : [];
  const hosts = new Map<string, Node>();
  for (const { spec } of pods) {
    const node = spec?.nodeName && !hosts.has(spec.nodeName) ? cache.get<Node>(nodes, '', spec.nodeName) : undefined;
    if (node) hosts.set(node.metadata.name ?? '', node);
  }
  // A loop over all nodes, for the few Services that ask for it.
  const cpu = service && isAuto(service) ? cpuRatios(cache.list<Node>(nodes)) : undefined;
  return {
    service,
    pods,
    nodes: hosts,
    ...(cpu && { cpu }),
    slices: service ? cache.byIndex<EndpointSlice>(endpointSlices, serviceIndex, key) : [],
  };
}

/** Where a node's CPU is decides which zone gets which endpoints. */
function keysOfNode(node: Node, old: Node | undefined, cache: Cache): string[] {
  if (old && deepEqual(topologyOf(node), topologyOf(old))) return [];
  return cache
    .list<Service>(services)
    .filter(isAuto)
    .map(({ metadata }) => keyOf(metadata));
}

export const endpointSliceController = defineController<EndpointSliceView>({
  name: 'endpointslice-controller',
  aliases: ['endpointslice'],
  for: services,
  concurrency: { flag: 'concurrent-service-endpoint-syncs', default: 5 },
  eventSource: 'endpoint-slice-controller',
  rights: [
    allow('get,list,watch', 'core', 'nodes,pods,services'),
    allow('update', 'core', 'services/finalizers'),
    allow('create,delete,get,list,update,watch', 'discovery.k8s.io', 'endpointslices'),
    recordEvents,
  ],
  watches: [
    ...watchServices(),
    watch<EndpointSlice>({
      resource: endpointSlices,
      indexers: { [serviceIndex]: serviceKeys },
      keys: (slice, old) => new Set([...serviceKeys(slice), ...(old ? serviceKeys(old) : [])]),
    }),
    watch<Node>({ resource: nodes, keys: keysOfNode }),
  ],
  view,
  reconcile,
});
