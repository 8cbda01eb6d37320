// The zone's view of the cluster, from informers with the indexes its questions need.
import type { Namespace, Service } from '#api/core/v1';
import type { EndpointSlice } from '#api/discovery/v1';
import type { InformerFactory } from '#client';
import type { ClusterView } from './zone.ts';

const serviceNameLabel = 'kubernetes.io/service-name';
const byService = 'service';
const byAddress = 'address';
const headlessLabel = 'service.kubernetes.io/headless';

/** Watches what the name server answers from. It must be called before the factory is started. */
export function watchCluster(informers: InformerFactory): ClusterView {
  const services = informers.informer<Service>({ group: '', version: 'v1', resource: 'services' });
  const slices = informers.informer<EndpointSlice>({ group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' });
  const namespaces = informers.informer<Namespace>({ group: '', version: 'v1', resource: 'namespaces' });
  services.addIndexers({ [byAddress]: (service) => (service.spec?.clusterIPs ?? []).filter((address) => address !== 'None') });
  slices.addIndexers({
    [byService]: ({ metadata }) => [`${metadata.namespace}/${metadata.labels?.[serviceNameLabel] ?? ''}`],
    [byAddress]: (slice) =>
      slice.metadata.labels?.[headlessLabel] === undefined
        ? []
        : (slice.endpoints ?? []).flatMap((endpoint) => endpoint.addresses),
  });
  return {
    service: (namespace, name) => services.lister.get(namespace, name),
    slices: (namespace, service) => slices.lister.byIndex(byService, `${namespace}/${service}`),
    namespaceExists: (name) => namespaces.lister.get('', name) !== undefined,
    serviceByAddress: (address) => services.lister.byIndex(byAddress, address)[0],
    slicesByAddress: (address) => slices.lister.byIndex(byAddress, address),
  };
}
