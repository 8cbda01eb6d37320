// What a Service wants of its load balancer. Pure. Throws for what no load balancer of this vendor does, naming the annotation or the field.
import { type Service, type ServicePort, sourceRangesOf } from 'sagong/cloud-provider';
import { nodePortOf, refuseIpv6Only } from 'sagong/cloud-provider/kit';
import { annotation, checkAnnotations, isTrue, read } from '../annotations.ts';
import { type Listener, type ListenerKind, type Scheduler, schedulers } from '../api/types.ts';
import { backendsMax, checkIntervalSeconds, checkThreshold, checkTimeoutSeconds, nameCharactersMax } from '../limits.ts';
import { balancerName, isId } from '../names.ts';
import { type EipPlan, eipPlan } from './eip-plan.ts';

export interface PortPlan {
  kind: ListenerKind;
  listener: Listener;
}
export interface BalancerPlan {
  service: Service;
  name: string;
  ports: PortPlan[];
  /** Undefined: it is reached inside the VPC only. */
  eip?: EipPlan;
  allocateVip: boolean;
  subnetId?: string;
  backendsMax: number;
  /** Labels that Nodes behind it have. */
  backendLabels: Readonly<Record<string, string>>;
  sourceRanges: string[];
}

/** In how long, and after how many answers, a backend counts as well or unwell. */
function checkOf(service: Service) {
  const number = (name: string, bounds: { default: number; min: number; max: number }): number =>
    read(service).integer(name, bounds) ?? bounds.default;
  return {
    healthCheckTimeoutInSecond: number(annotation.checkTimeout, checkTimeoutSeconds),
    healthCheckInterval: number(annotation.checkInterval, checkIntervalSeconds),
    unhealthyThreshold: number(annotation.unhealthy, checkThreshold),
    healthyThreshold: number(annotation.healthy, checkThreshold),
  };
}

function schedulerOf(service: Service): Scheduler {
  const asked = read(service).oneOf(annotation.scheduler, schedulers);
  if (service.spec?.sessionAffinity !== 'ClientIP') return asked ?? 'RoundRobin';
  if (asked !== undefined && asked !== 'Hash')
    throw new Error(`annotation ${annotation.scheduler}: "${asked}" does not go with session affinity ClientIP, only Hash does`);
  return 'Hash';
}

const defaultCheckString = 'HealthCheck';

function portsOf(service: Service): PortPlan[] {
  const settings = { scheduler: schedulerOf(service), ...checkOf(service) };
  const healthCheckString = read(service).text(annotation.checkString) ?? defaultCheckString;
  const { ports = [] } = service.spec ?? {};
  if (ports.length === 0) throw new Error('requested load balancer with no ports');
  return ports.map((servicePort: ServicePort) => {
    const { protocol = 'TCP', port } = servicePort;
    if (protocol !== 'TCP' && protocol !== 'UDP') throw new Error(`target protocol is not supported: ${protocol}`);
    const listener = { listenerPort: port, backendPort: nodePortOf(servicePort), ...settings };
    return { kind: protocol, listener: protocol === 'UDP' ? { ...listener, healthCheckString } : listener };
  });
}

function nameOf(clusterId: string, service: Service): string {
  const name = read(service).text(annotation.name);
  if (name === undefined) return balancerName(clusterId, service);
  if (!/^[A-Za-z][\w/.-]*$/.test(name) || name.length > nameCharactersMax)
    throw new Error(`annotation ${annotation.name}: ${JSON.stringify(name)} is not a name: a letter, then letters, digits, -_/.`);
  return name;
}

/** Throws for IDs that contradict each other. */
export function givenId(service: Service): string | undefined {
  const { metadata } = service;
  const written = metadata.annotations?.[annotation.addedId];
  const ids = [annotation.id, annotation.existId].flatMap((name) => read(service).text(name) ?? []);
  // The manager's own note is no wish of the user.
  const given = [...new Set(ids.filter((id, index) => !(index === 0 && id === written)))];
  if (given.length > 1)
    throw new Error(`annotations ${annotation.id} and ${annotation.existId} name two load balancers: ${given.join(', ')}`);
  const [id] = given;
  if (id !== undefined && !isId(id)) throw new Error(`${JSON.stringify(id)} is not the ID of a load balancer`);
  return id;
}

export function balancerPlan(clusterId: string, service: Service): BalancerPlan {
  checkAnnotations(service);
  refuseIpv6Only(service);
  const isInternal = isTrue(service, annotation.internal);
  const name = nameOf(clusterId, service);
  if (isInternal && service.spec?.loadBalancerIP)
    throw new Error(`annotation ${annotation.internal} does not go with spec.loadBalancerIP, which is a public address`);
  const subnetId = read(service).text(annotation.subnetId);
  if (subnetId !== undefined && !isId(subnetId))
    throw new Error(`annotation ${annotation.subnetId}: ${JSON.stringify(subnetId)} is not the ID of a subnet`);
  return {
    service,
    name,
    ports: portsOf(service),
    ...(!isInternal && { eip: eipPlan(name, service) }),
    allocateVip: isTrue(service, annotation.allocateVip),
    ...(subnetId !== undefined && { subnetId }),
    backendsMax: read(service).integer(annotation.backendsMax, { min: 1, max: backendsMax }) ?? backendsMax,
    backendLabels: read(service).pairs(annotation.backendLabel),
    sourceRanges: sourceRangesOf(service),
  };
}
