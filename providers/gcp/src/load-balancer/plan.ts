// What a Service wants of its load balancer. Pure.
import { defaultLoadBalancerName, healthCheckOf, type Service, sourceRangesOf } from 'sagong/cloud-provider';
import { internalOptions, refuseUnsupported, type Tier, tierOf } from '../annotations.ts';
import { nodesHealthPort } from '../limits.ts';
import { nodesHealthCheck, nodesHealthPath, sharedBackendService } from '../names.ts';
import { type ServicePorts, servicePorts } from './ports.ts';

export interface HealthCheckPlan {
  name: string;
  path: string;
  port: number;
  /** The one of nodes, which serves all load balancers; otherwise the one that asks for endpoints of this Service. */
  shared: boolean;
}

export interface BalancerPlan {
  /** The name of all resources that are its own. */
  name: string;
  clusterId: string;
  service: Service;
  ports: ServicePorts;
  affinity: 'NONE' | 'CLIENT_IP';
  sourceRanges: string[];
  /** '' when the Service asks for no address. */
  requestedAddress: string;
  healthCheck: HealthCheckPlan;
}
export interface ExternalPlan extends BalancerPlan {
  tier: Tier;
  /** The Service says so; otherwise what is there stays. */
  tierIsGiven: boolean;
}
export interface InternalPlan extends BalancerPlan {
  globalAccess: boolean;
  /** Name of the subnetwork that the Service asks for. */
  subnet: string | undefined;
  backendService: string;
  sharesBackend: boolean;
}

export function healthCheckPlan(service: Service, clusterId: string): HealthCheckPlan {
  const own = healthCheckOf(service);
  if (own) return { ...own, name: defaultLoadBalancerName(service), shared: false };
  return { name: nodesHealthCheck(clusterId), path: nodesHealthPath, port: nodesHealthPort, shared: true };
}

const affinityOf = ({ spec }: Service): 'NONE' | 'CLIENT_IP' => (spec?.sessionAffinity === 'ClientIP' ? 'CLIENT_IP' : 'NONE');

function basePlan(service: Service, clusterId: string): BalancerPlan {
  refuseUnsupported(service);
  const { ipFamilies = [] } = service.spec ?? {};
  if (ipFamilies.length > 0 && !ipFamilies.includes('IPv4'))
    throw new Error('these load balancers have IPv4 addresses only, and the Service asks for IPv6');
  return {
    name: defaultLoadBalancerName(service),
    clusterId,
    service,
    ports: servicePorts(service),
    affinity: affinityOf(service),
    sourceRanges: sourceRangesOf(service),
    requestedAddress: service.spec?.loadBalancerIP ?? '',
    healthCheck: healthCheckPlan(service, clusterId),
  };
}

/** Throws for a Service that cannot be served, with what its owner must change. */
export function externalPlan(service: Service, clusterId: string): ExternalPlan {
  const tier = tierOf(service);
  return { ...basePlan(service, clusterId), tier: tier ?? 'PREMIUM', tierIsGiven: tier !== undefined };
}

export function internalPlan(service: Service, clusterId: string): InternalPlan {
  const { globalAccess, subnet, shareBackend } = internalOptions(service);
  const plan = basePlan(service, clusterId);
  const sharesBackend = shareBackend && plan.healthCheck.shared;
  const affinity = service.spec?.sessionAffinity ?? '';
  const backendService = sharesBackend ? sharedBackendService(clusterId, plan.ports.protocol, affinity) : plan.name;
  return { ...plan, globalAccess, subnet, backendService, sharesBackend };
}
