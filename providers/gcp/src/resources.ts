// The kinds of resources where the cluster has them: those of the network in the network's project, all others in the cluster's.
import type { Collection, ComputeApi } from './api/compute.ts';
import type {
  Address,
  BackendService,
  Firewall,
  ForwardingRule,
  HealthCheck,
  HttpHealthCheck,
  Instance,
  InstanceGroup,
  Network,
  Route,
  Subnetwork,
  TargetPool,
  Zone,
} from './api/types.ts';
import type { Settings } from './settings.ts';

export interface Resources {
  addresses: Collection<Address>;
  forwardingRules: Collection<ForwardingRule>;
  targetPools: Collection<TargetPool>;
  backendServices: Collection<BackendService>;
  healthChecks: Collection<HealthCheck>;
  httpHealthChecks: Collection<HttpHealthCheck>;
  firewalls: Collection<Firewall>;
  routes: Collection<Route>;
  networks: Collection<Network>;
  subnetworks: Collection<Subnetwork>;
  zones: Collection<Zone>;
  instances(zone: string, project?: string): Collection<Instance>;
  instanceGroups(zone: string): Collection<InstanceGroup>;
}

/** Calls that end when the signal does. */
export function resourcesOf(api: ComputeApi, settings: Settings, signal?: AbortSignal): Resources {
  const { project, networkProject, region } = settings;
  const regional = <T>(kind: string, owner = project): Collection<T> => api.collection<T>(kind, owner, { region }, signal);
  const global = <T>(kind: string, owner = project): Collection<T> => api.collection<T>(kind, owner, 'global', signal);
  return {
    addresses: regional('addresses'),
    forwardingRules: regional('forwardingRules'),
    targetPools: regional('targetPools'),
    backendServices: regional('backendServices'),
    subnetworks: regional('subnetworks', networkProject),
    healthChecks: global('healthChecks'),
    httpHealthChecks: global('httpHealthChecks'),
    firewalls: global('firewalls', networkProject),
    routes: global('routes', networkProject),
    networks: global('networks', networkProject),
    zones: api.collection<Zone>('zones', project, 'project', signal),
    instances: (zone, owner = project) => api.collection<Instance>('instances', owner, { zone }, signal),
    instanceGroups: (zone) => api.collection<InstanceGroup>('instanceGroups', project, { zone }, signal),
  };
}
