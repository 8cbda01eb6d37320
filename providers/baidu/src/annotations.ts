// The annotations of Services and Nodes (cloud-provider-baiducloud options.go; https://cloud.baidu.com/doc/CCE/s/zlako7b04). Pure.
import type { Service } from 'sagong/cloud-provider';
import { annotationsOf, refuseAnnotations } from 'sagong/cloud-provider/kit';

export const balancerPrefix = 'service.beta.kubernetes.io/cce-load-balancer-';
export const eipPrefix = 'service.beta.kubernetes.io/cce-elastic-ip-';
export const nodePrefix = 'node.alpha.kubernetes.io/';

export const annotation = {
  /** The ID of an existing load balancer; written by the manager for the one that it makes. */
  id: `${balancerPrefix}id`,
  existId: `${balancerPrefix}exist-id`,
  /** Written by the manager. */
  addedId: `${balancerPrefix}cce-add-id`,
  addedEip: `${balancerPrefix}cce-add-eip`,
  internal: `${balancerPrefix}internal-vpc`,
  allocateVip: `${balancerPrefix}allocate-vip`,
  subnetId: `${balancerPrefix}subnet-id`,
  backendsMax: `${balancerPrefix}rs-max-num`,
  backendLabel: `${balancerPrefix}backend-label`,
  reserve: `${balancerPrefix}reserve-lb`,
  name: `${balancerPrefix}lb-name`,
  scheduler: `${balancerPrefix}scheduler`,
  checkTimeout: `${balancerPrefix}health-check-timeout-in-second`,
  checkInterval: `${balancerPrefix}health-check-interval`,
  unhealthy: `${balancerPrefix}unhealthy-threshold`,
  healthy: `${balancerPrefix}healthy-threshold`,
  checkString: `${balancerPrefix}health-check-string`,
  eipName: `${eipPrefix}name`,
  payment: `${eipPrefix}payment-timing`,
  billing: `${eipPrefix}billing-method`,
  bandwidth: `${eipPrefix}bandwidth-in-mbps`,
  reservation: `${eipPrefix}reservation-length`,
} as const;

const known = new Set<string>(Object.values(annotation));
const isVendors = (name: string): boolean => name.startsWith(balancerPrefix) || name.startsWith(eipPrefix);

/** What newer managers of the vendor know, which make application load balancers, and this provider does not do. */
const application = 'it is for application load balancers, and this provider makes ordinary ones';
const refused: Readonly<Record<string, string>> = {
  [`${balancerPrefix}type`]: application,
  [`${balancerPrefix}pass-through`]: application,
  [`${balancerPrefix}server-group`]: application,
};

/** Throws for an annotation that the provider does not know. */
export function checkAnnotations(service: Service): void {
  refuseAnnotations(service, refused);
  const others = Object.keys(service.metadata.annotations ?? {}).filter((name) => isVendors(name) && !known.has(name));
  if (others.length > 0) throw new Error(`annotation ${others.sort()[0]} is not supported: the provider does not know it`);
}

export const read = (service: Service) => annotationsOf(service);

/** Whether an annotation is `true`; as upstream reads it, every other value is false. */
export const isTrue = ({ metadata }: Service, name: string): boolean => metadata.annotations?.[name] === 'true';

/** The names of the annotations of Nodes. */
export const nodeAnnotation = {
  vpcId: `${nodePrefix}vpc-id`,
  routeTableId: `${nodePrefix}vpc-route-table-id`,
  routeRuleId: `${nodePrefix}vpc-route-rule-id`,
  advertise: `${nodePrefix}advertise-route`,
} as const;
