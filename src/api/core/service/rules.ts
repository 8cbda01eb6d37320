// Questions about services that defaults, validation and allocation share (pkg/api/service; pkg/registry/core/service).
import type { Service, ServiceSpec } from '#api/core/v1';

export const specOf = (service: Service): ServiceSpec => service.spec ?? {};

export const isHeadless = ({ clusterIPs }: ServiceSpec): boolean => clusterIPs?.length === 1 && clusterIPs[0] === 'None';

export const needsClusterIP = ({ type }: ServiceSpec): boolean => type !== 'ExternalName';

export const needsNodePort = ({ type }: ServiceSpec): boolean => type === 'NodePort' || type === 'LoadBalancer';

/** A load balancer that only sends to nodes with endpoints asks each node, on a port of its own. */
export const needsHealthCheckNodePort = ({ type, externalTrafficPolicy }: ServiceSpec): boolean =>
  type === 'LoadBalancer' && externalTrafficPolicy === 'Local';

export const isExternallyAccessible = ({ type, externalIPs }: ServiceSpec): boolean =>
  type === 'LoadBalancer' || type === 'NodePort' || (type === 'ClusterIP' && (externalIPs?.length ?? 0) > 0);
