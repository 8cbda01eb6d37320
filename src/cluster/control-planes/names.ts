// Names and places of a cluster's control-plane machines. Pure.
import type { ClusterSettings } from '../state/settings.ts';

/** The port of the API, at every machine and at the load balancer before them. */
export const apiPort = 6443;
/** The port of a managed control plane's API, and of the endpoint before it. */
export const managedApiPort = 443;
/** Machines of a managed one that have an apiserver, and an interface in the customer's network; the others have etcd alone. */
export const managedApiservers = 2;
/** The ports of etcd: for its clients, among its members, and of its health where it runs in a pod. */
export const etcdPorts = { client: 2379, peer: 2380, metrics: 2381 } as const;
/** What the programs of a control plane on a machine listen at. */
export const controlPlanePorts: readonly number[] = [apiPort, etcdPorts.client, etcdPorts.peer, 10_257, 10_259];

/** How many there may be: with an even number no more may fail than with one less. */
export const controlPlaneCounts: readonly number[] = [1, 3, 5];

export const controlPlaneNames = (cluster: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${cluster === 'sagong' ? '' : `${cluster}-`}control-plane-${index + 1}`);

export const isControlPlane = ({ controlPlanes = [] }: Pick<ClusterSettings, 'controlPlanes'>, name: string): boolean =>
  controlPlanes.includes(name);
