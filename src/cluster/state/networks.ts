// The addresses of a cluster: which ranges Services and pods have. Pure.
export const clusterNetworks = {
  serviceCidr: '10.96.0.0/16',
  kubernetesServiceIp: '10.96.0.1',
  dnsServiceIp: '10.96.0.10',
  podCidr: '10.244.0.0/16',
  domain: 'cluster.local',
} as const;

/** Blocks of 256 addresses in `clusterNetworks.podCidr`: each node has one. */
export const narrowNodesMax = 256;
/** From so many nodes on a cluster has room for more of them. */
const wideFrom = 251;
/**
 * The range of pods of a cluster of many nodes, 16,384 at most. The narrow range is a part of it, so that a cluster can grow into it; it overlaps
 * with no other range of a cluster (nodes 10.77.0.0/16, Services 10.96.0.0/16, managed control planes 10.177.0.0/16).
 */
export const widePodCidr = '10.192.0.0/10';

/** The addresses of a cluster's pods. A cluster that was given the wide range keeps it, also with fewer nodes: they keep their blocks. */
export const podCidrFor = (nodes: number, before: string = clusterNetworks.podCidr): string =>
  nodes >= wideFrom ? widePodCidr : before;
