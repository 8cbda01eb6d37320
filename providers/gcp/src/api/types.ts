// The resources of the Compute Engine API v1 that the provider reads and writes, with the fields that it uses
// (https://cloud.google.com/compute/docs/reference/rest/v1).

interface Resource {
  id?: string;
  name?: string;
  description?: string;
  selfLink?: string;
}

export interface AccessConfig {
  natIP?: string;
}
export interface NetworkInterface {
  networkIP?: string;
  ipv6Address?: string;
  ipv6AccessType?: string;
  accessConfigs?: AccessConfig[];
  ipv6AccessConfigs?: { externalIpv6?: string }[];
}
export interface Instance extends Resource {
  zone?: string;
  machineType?: string;
  status?: string;
  tags?: { items?: string[] };
  networkInterfaces?: NetworkInterface[];
}

export interface Address extends Resource {
  address?: string;
  addressType?: string;
  networkTier?: string;
  subnetwork?: string;
  status?: string;
}

export interface FirewallPorts {
  IPProtocol?: string;
  ports?: string[];
}
export interface Firewall extends Resource {
  network?: string;
  priority?: number;
  sourceRanges?: string[];
  destinationRanges?: string[];
  targetTags?: string[];
  allowed?: FirewallPorts[];
  denied?: FirewallPorts[];
}

export interface ForwardingRule extends Resource {
  IPAddress?: string;
  IPProtocol?: string;
  portRange?: string;
  ports?: string[];
  allPorts?: boolean;
  allowGlobalAccess?: boolean;
  target?: string;
  backendService?: string;
  loadBalancingScheme?: string;
  network?: string;
  subnetwork?: string;
  networkTier?: string;
}

export interface TargetPool extends Resource {
  instances?: string[];
  sessionAffinity?: string;
  healthChecks?: string[];
}

/** The legacy health check of target pools. */
export interface HttpHealthCheck extends Resource {
  host?: string;
  port?: number;
  requestPath?: string;
  checkIntervalSec?: number;
  timeoutSec?: number;
  healthyThreshold?: number;
  unhealthyThreshold?: number;
}
export interface HealthCheck extends Resource {
  type?: string;
  httpHealthCheck?: { port?: number; requestPath?: string };
  checkIntervalSec?: number;
  timeoutSec?: number;
  healthyThreshold?: number;
  unhealthyThreshold?: number;
}

export interface BackendService extends Resource {
  protocol?: string;
  sessionAffinity?: string;
  loadBalancingScheme?: string;
  healthChecks?: string[];
  backends?: { group?: string }[];
  /** The version that a change must name. */
  fingerprint?: string;
}

export interface InstanceGroup extends Resource {
  zone?: string;
  size?: number;
}
export interface InstanceInGroup {
  instance?: string;
  status?: string;
}

export interface Route extends Resource {
  network?: string;
  destRange?: string;
  priority?: number;
  nextHopInstance?: string;
  warnings?: { code?: string }[];
}

export interface Network extends Resource {
  /** Only of networks without subnetworks. */
  IPv4Range?: string;
  autoCreateSubnetworks?: boolean;
}
export interface Subnetwork extends Resource {
  network?: string;
  ipCidrRange?: string;
}
export interface Zone extends Resource {
  region?: string;
}

export interface Operation {
  name?: string;
  status?: string;
  targetLink?: string;
  httpErrorStatusCode?: number;
  httpErrorMessage?: string;
  error?: { errors?: { code?: string; message?: string }[] };
}

export interface List<T> {
  /** As `compute#instanceList`. */
  kind: string;
  items?: T[] | null;
  nextPageToken?: string;
}

/** Where a resource lives: in a zone, in a region, or in none. */
export type Place = { zone: string } | { region: string } | 'global' | 'project';
