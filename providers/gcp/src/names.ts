// Names and descriptions in Google Cloud, those of cloud-provider-gcp (gce_loadbalancer_naming.go), so that a cluster can change from the one
// manager to the other. Pure.
import { createHash } from 'node:crypto';
import type { Service } from 'sagong/cloud-provider';
import { serviceKey } from 'sagong/cloud-provider/kit';
import { clusterNameCharactersMax } from './limits.ts';

export const providerName = 'gce';
export const nodesHealthPath = '/healthz';
export const nodeRouteDescription = 'k8s-node-route';

/** Of Services whose load balancer the cloud-controller-manager keeps, so that Google's other controllers leave it alone. */
export const externalFinalizer = 'gke.networking.io/l4-netlb-v1';
export const internalFinalizer = 'gke.networking.io/l4-ilb-v1';
/** The finalizers of Services that other controllers keep. */
export const foreignExternalFinalizers = ['gke.networking.io/l4-netlb-v2', 'gke.networking.io/l4-netlb-v3'];
export const foreignInternalFinalizer = 'gke.networking.io/l4-ilb-v2';

export const serviceDescription = (service: Service): string => `{"kubernetes.io/service-name":"${serviceKey(service)}"}`;
export const firewallDescription = (service: Service, address: string): string =>
  `{"kubernetes.io/service-name":"${serviceKey(service)}", "kubernetes.io/service-ip":"${address}"}`;
export const clusterDescription = (clusterId: string): string => `{"kubernetes.io/cluster-id":"${clusterId}"}`;
/** A legacy health check carries its own name as that of a Service. */
export const healthCheckDescription = (name: string): string => `{"kubernetes.io/service-name":"${name}"}`;

export const trafficFirewall = (balancer: string): string => `k8s-fw-${balancer}`;
export const denyFirewall = (balancer: string): string => `k8s-fw-${balancer}-deny`;

/** The health check of nodes, shared by all external, and under the same name by all internal load balancers of the cluster. */
export const nodesHealthCheck = (clusterId: string): string => `k8s-${clusterId}-node`;
export const externalHealthFirewall = (healthCheck: string, clusterId: string): string =>
  healthCheck === nodesHealthCheck(clusterId) ? `${healthCheck}-http-hc` : `k8s-${healthCheck}-http-hc`;
export const internalHealthFirewall = (healthCheck: string): string => `${healthCheck}-hc`;

export const instanceGroup = (clusterId: string): string => (clusterId === '' ? 'k8s-ig' : `k8s-ig--${clusterId}`);

export const sharedBackendPrefix = (clusterId: string): string => `k8s-${clusterId}-internal-`;
/** The backend service that internal load balancers of one protocol and session affinity share. */
export const sharedBackendService = (clusterId: string, protocol: string, affinity: string): string => {
  const settings = createHash('sha1').update(affinity).digest('hex').slice(0, 16);
  return `${sharedBackendPrefix(clusterId)}${protocol.toLowerCase()}-nmv1-${settings}`;
};

export const clusterPrefix = (cluster: string): string => cluster.slice(0, clusterNameCharactersMax);

/** The instance of a Node name: the part before the first dot. */
export const instanceNameOf = (nodeName: string): string => nodeName.split('.')[0] ?? nodeName;
