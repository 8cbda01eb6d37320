// Quotas of an account, as vendors have them; `LimitExceeded` beyond. Generous for one machine, small enough to keep every change fast.

export const quotas = {
  vpcs: 20,
  subnetsPerVpc: 200,
  routeTablesPerVpc: 100,
  routesPerTable: 5_000,
  securityGroupsPerVpc: 500,
  /** The rules of a security group in one direction. */
  rulesPerSecurityGroup: 1_000,
  interfaces: 10_000,
  interfacesPerInstance: 15,
  instances: 5_000,
  addresses: 100,
  loadBalancers: 500,
  targetsPerLoadBalancer: 5_000,
  dnsZones: 100,
  recordsPerZone: 10_000,
};
export type Quotas = typeof quotas;

/** How long a terminated instance is still listed. */
export const terminatedKeepMs = 3_600_000;
/** Sizes of VPCs and subnets, as prefix lengths. */
export const prefixLengthMin = 16;
export const prefixLengthMax = 28;
/** Addresses at the start of a subnet that nobody gets: the network's, the router's, the name server's, and one for later. */
export const reservedInSubnet = 4;
/** Addresses at the start of the public range that nobody gets: the network's, the edge's and the name server's. */
export const reservedInPublic = 3;
/** The most CNAME records that are followed to answer one question. */
export const aliasesMax = 8;
