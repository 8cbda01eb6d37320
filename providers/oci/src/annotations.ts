// The annotations of Services (oci-cloud-controller-manager docs/load-balancer-annotations.md and load_balancer_spec.go). Those of one kind of load
// balancer have no effect on the other, as upstream has it. Pure.
import type { Service } from 'sagong/cloud-provider';
import { annotationsOf, refuseAnnotations } from 'sagong/cloud-provider/kit';
import type { BalancerKind } from './api/types.ts';

const classic = 'service.beta.kubernetes.io/oci-load-balancer-';
const both = 'oci.oraclecloud.com/';
const network = 'oci-network-load-balancer.oraclecloud.com/';

/** The annotations of Services with either kind of load balancer. */
export const annotation = {
  type: `${both}load-balancer-type`,
  ruleMode: `${both}security-rule-management-mode`,
  backendGroups: `${both}oci-backend-network-security-group`,
  ipMode: `${both}ingress-ip-mode`,
  compartment: `${both}compartment-id`,
  reservedIps: `${both}reserved-ips`,
  serviceAccount: `${both}workload-service-account`,
  shape: `${classic}shape`,
  shapeMin: `${classic}shape-flex-min`,
  shapeMax: `${classic}shape-flex-max`,
  subnet1: `${classic}subnet1`,
  subnet2: `${classic}subnet2`,
  sslPorts: `${classic}ssl-ports`,
  tlsSecret: `${classic}tls-secret`,
  tlsBackendSecret: `${classic}tls-backendset-secret`,
  backendProtocol: `${classic}backend-protocol`,
  idleTimeout: `${classic}connection-idle-timeout`,
  proxyProtocol: `${classic}connection-proxy-protocol-version`,
  listenerSsl: `${both}oci-load-balancer-listener-ssl-config`,
  backendSsl: `${both}oci-load-balancer-backendset-ssl-config`,
  ruleSets: `${both}oci-load-balancer-rule-sets`,
  subnet: `${network}subnet`,
  preserveSource: `${network}is-preserve-source`,
  ppv2: `${network}is-ppv2-enabled`,
  externalOnly: `${network}external-ip-only`,
  privateIpv4: `${network}assigned-private-ipv4`,
  assignedIpv6: `${network}assigned-ipv6`,
  oldFreeformTags: `${network}freeform-tags`,
  oldDefinedTags: `${network}defined-tags`,
} as const;

/** The same wish has another name for each kind. */
const names = {
  internal: { lb: `${classic}internal`, nlb: `${network}internal` },
  listMode: { lb: `${classic}security-list-management-mode`, nlb: `${network}security-list-management-mode` },
  groups: { lb: `${both}oci-network-security-groups`, nlb: `${network}oci-network-security-groups` },
  nodeSelector: { lb: `${both}node-label-selector`, nlb: `${network}node-label-selector` },
  policy: { lb: `${both}loadbalancer-policy`, nlb: `${network}backend-policy` },
  healthRetries: { lb: `${classic}health-check-retries`, nlb: `${network}health-check-retries` },
  healthInterval: { lb: `${classic}health-check-interval`, nlb: `${network}health-check-interval` },
  healthTimeout: { lb: `${classic}health-check-timeout`, nlb: `${network}health-check-timeout` },
  freeformTags: { lb: `${both}initial-freeform-tags-override`, nlb: `${network}initial-freeform-tags-override` },
  definedTags: { lb: `${both}initial-defined-tags-override`, nlb: `${network}initial-defined-tags-override` },
} as const satisfies Record<string, Record<BalancerKind, string>>;
export type KindAnnotation = keyof typeof names;

const noPods = 'backends are nodes: pods are not registered with load balancers';
const refused: Readonly<Record<string, string>> = {
  'oci.oraclecloud.com/security-attributes': 'the provider sets no security attributes of Zero Trust Packet Routing',
  [`${both}reserved-private-ips`]:
    'an internal load balancer gets an address of its subnet; of a network load balancer assigned-private-ipv4 says which',
  'oci-load-balancer.oraclecloud.com/backendset-backend-max-connections': 'the provider sets no limits of connections',
  'oci-load-balancer.oraclecloud.com/tls-certificate-map': 'certificates come from Secrets',
  'oci-load-balancer.oraclecloud.com/session-persistence-config': 'the provider sets no session persistence',
  'oci-load-balancer.oraclecloud.com/backend-type': noPods,
  'oci-load-balancer.oraclecloud.com/health-check': noPods,
  [`${network}is-instant-failover-enabled`]: 'the provider leaves instant failover as it is',
  [`${network}backend-type`]: noPods,
  [`${network}health-check`]: noPods,
};
/** Prefixes that are only of load balancers' annotations. */
const prefixes = [classic, network, 'oci-load-balancer.oraclecloud.com/'];
const known = new Set<string>([...Object.values(annotation), ...Object.values(names).flatMap((one) => Object.values(one))]);

/** Throws for an annotation of load balancers that the provider does not do, or does not know. */
export function refuseUnsupported(service: Service): void {
  refuseAnnotations(service, refused);
  const others = Object.keys(service.metadata.annotations ?? {}).filter(
    (name) => !known.has(name) && prefixes.some((prefix) => name.startsWith(prefix)),
  );
  if (others.length > 0) throw new Error(`annotation ${others.sort()[0]} is not supported: the provider does not know it`);
}

export const nameFor = (kind: BalancerKind, wish: KindAnnotation): string => names[wish][kind];
export const read = (service: Service) => annotationsOf(service);

export const isGiven = ({ metadata }: Service, name: string): boolean => metadata.annotations?.[name] !== undefined;

/** Upstream takes every other word for `lb`; a misspelt one is refused here, before a load balancer of the wrong kind is made. */
export function kindOf(service: Service): BalancerKind {
  const word = read(service).text(annotation.type) ?? 'lb';
  const kind = word.toLowerCase();
  if (kind !== 'lb' && kind !== 'nlb')
    throw new Error(`annotation ${annotation.type}: ${JSON.stringify(word)} is not one of lb, nlb`);
  return kind;
}

/** The OCIDs in an annotation, which commas separate, each once. */
export function ocidsOf(service: Service, name: string): string[] {
  const all = [...new Set(read(service).list(name))];
  const wrong = all.find((ocid) => !ocid.startsWith('ocid1.'));
  if (wrong !== undefined)
    throw new Error(`invalid NetworkSecurityGroups OCID: [${all.join(',')}] provided for annotation: ${name}`);
  return all;
}

/** A JSON object; undefined: not given, or ''. */
export function objectOf(service: Service, name: string): Record<string, unknown> | undefined {
  const value = read(service).json(name);
  if (value === undefined) return undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`annotation ${name}: it is not a JSON object`);
  return value as Record<string, unknown>;
}
