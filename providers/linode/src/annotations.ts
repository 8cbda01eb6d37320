// The annotations of Services (linode-cloud-controller-manager docs/configuration/annotations.md), and how their values are read. Pure.
import type { Service } from 'sagong/cloud-provider';
import { annotationsOf } from 'sagong/cloud-provider/kit';

export const prefix = 'service.beta.kubernetes.io/linode-loadbalancer-';

/** The names of annotations without their prefix. */
export const annotation = {
  throttle: 'throttle',
  protocol: 'default-protocol',
  proxyProtocol: 'default-proxy-protocol',
  oldProxyProtocol: 'proxy-protocol',
  algorithm: 'default-algorithm',
  stickiness: 'default-stickiness',
  port: 'port-',
  checkType: 'check-type',
  checkPath: 'check-path',
  checkBody: 'check-body',
  checkInterval: 'check-interval',
  checkTimeout: 'check-timeout',
  checkAttempts: 'check-attempts',
  checkPassive: 'check-passive',
  udpCheckPort: 'udp-check-port',
  preserve: 'preserve',
  balancerId: 'nodebalancer-id',
  type: 'nodebalancer-type',
  hostnameOnly: 'hostname-only-ingress',
  tags: 'tags',
  firewallId: 'firewall-id',
  firewallAcl: 'firewall-acl',
  ipv6Ingress: 'enable-ipv6-ingress',
  ipv6Backends: 'enable-ipv6-backends',
  backendRange: 'backend-ipv4-range',
  backendVpc: 'backend-vpc-name',
  backendSubnet: 'backend-subnet-name',
  backendSubnetId: 'backend-subnet-id',
  frontendRange: 'frontend-ipv4-range',
  frontendIpv6Range: 'frontend-ipv6-range',
  frontendVpc: 'frontend-vpc-name',
  frontendSubnet: 'frontend-subnet-name',
  frontendSubnetId: 'frontend-subnet-id',
  reservedAddress: 'reserved-ipv4',
  retainAddress: 'retain-reserved-ipv4',
} as const;
export type AnnotationName = (typeof annotation)[keyof typeof annotation];

export const read = (service: Service) => annotationsOf(service, prefix);

/** The value of an annotation that is true or false; as upstream reads it, whatever is not true is false. Undefined when it is absent. */
export function booleanOf(service: Service, name: AnnotationName): boolean | undefined {
  const value = service.metadata.annotations?.[prefix + name];
  return value === undefined ? undefined : ['1', 't', 'T', 'true', 'True', 'TRUE'].includes(value);
}

const idMax = 2 ** 31;
export const idOf = (service: Service, name: AnnotationName): number | undefined =>
  read(service).integer(name, { min: 1, max: idMax });

/** The word in an annotation, in lower case. Throws for a word that is not among `words`. */
export function wordOf<Word extends string>(service: Service, name: AnnotationName, words: readonly Word[]): Word | undefined {
  const text = read(service).text(name);
  if (text === undefined) return undefined;
  const found = words.find((word) => word === text.toLowerCase());
  if (found === undefined)
    throw new Error(`annotation ${prefix}${name}: ${JSON.stringify(text)} is not one of ${words.join(', ')}`);
  return found;
}

/** A range in the notation of CIDR. */
export function rangeOf(service: Service, name: AnnotationName): string | undefined {
  const text = read(service).text(name);
  if (text !== undefined && !/^[\da-fA-F.:]+\/\d{1,3}$/.test(text))
    throw new Error(`annotation ${prefix}${name}: ${JSON.stringify(text)} is not a range`);
  return text;
}
