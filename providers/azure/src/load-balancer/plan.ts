// What a Service asks for, read from its fields and annotations and checked as a whole before anything is changed. Pure.
import type { Service, ServicePort } from 'sagong/cloud-provider';
import { type AnnotationReader, annotationsOf, familyOf, serviceKey } from 'sagong/cloud-provider/kit';
import { idleMinutesDefault, idleMinutesMax, idleMinutesMin } from '../limits.ts';
import { familiesOf, type Family, frontendName } from '../names.ts';
import { parseTags, type Tags } from '../tags.ts';
import { type Access, accessOf } from './access.ts';
import { annotation, prefix, refuseUnsupported } from './annotations.ts';
import { isInside } from './ranges.ts';

export interface FamilyPlan {
  family: Family;
  /** The name of its frontend, where it has one of its own. */
  frontend: string;
  /** An address that the user wants. */
  ip?: string;
  /** Public IPs. */
  pipName?: string;
  pipPrefixId?: string;
}

export interface Plan {
  service: Service;
  key: string;
  internal: boolean;
  /** The subnet that the annotation names. */
  subnet: string | undefined;
  families: FamilyPlan[];
  ports: ServicePort[];
  idleMinutes: number;
  tcpReset: boolean;
  floatingIp: boolean;
  haPorts: boolean;
  affinity: boolean;
  /** The resource group of public IPs, where it is another than the cluster's. */
  pipGroup: string | undefined;
  /** '' removes the label; undefined leaves it as it is. */
  dnsLabel: string | undefined;
  pipTags: Tags;
  ipTags: { type: string; tag: string }[];
  access: Access;
  additionalIps: string[];
  securityRules: boolean;
}

/** https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules */
const patterns = { group: /^[\p{L}\p{N}_().-]{0,89}[\p{L}\p{N}_()-]$/u, name: /^[a-z0-9][\w.-]{0,79}$/i };

/** A name that becomes a part of a path. */
function nameIn(notes: AnnotationReader, name: string, kind: keyof typeof patterns): string | undefined {
  const text = notes.text(name);
  if (text !== undefined && !patterns[kind].test(text))
    throw new Error(`annotation ${prefix}${name}: ${JSON.stringify(text)} is not a name in Azure`);
  return text;
}

/** The resource group that an annotation names, where that can be one: a Service must be deletable, whatever it says. */
export function pipGroupOf(service: Service): string | undefined {
  const text = annotationsOf(service, prefix).text(annotation.resourceGroup);
  return text !== undefined && patterns.group.test(text) ? text : undefined;
}

/** Whether it asks for an internal load balancer. Throws for an annotation that says neither. */
export const isInternal = (service: Service): boolean => annotationsOf(service, prefix).boolean(annotation.internal) ?? false;

function addressOf(service: Service, notes: AnnotationReader, family: Family): string | undefined {
  const name = family === 'IPv6' ? annotation.ipv6 : annotation.ipv4;
  const noted = notes.text(name);
  if (noted !== undefined && familyOf(noted) !== family)
    throw new Error(`annotation ${prefix}${name}: ${JSON.stringify(noted)} is not an ${family} address`);
  const inSpec = service.spec?.loadBalancerIP;
  if (inSpec && familyOf(inSpec) === undefined)
    throw new Error(`spec.loadBalancerIP: ${JSON.stringify(inSpec)} is not an address`);
  return noted ?? (inSpec && familyOf(inSpec) === family ? inSpec : undefined);
}

/** A Service of IPv6 alone may use the name without a family. */
function textOfFamily(service: Service, notes: AnnotationReader, family: Family, ipv4: string, ipv6: string): string | undefined {
  if (family === 'IPv4') return notes.text(ipv4);
  return notes.text(ipv6) ?? (familiesOf(service).length === 1 ? notes.text(ipv4) : undefined);
}

const pipPrefixPattern =
  /^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+\/providers\/Microsoft\.Network\/publicIPPrefixes\/[^/]+$/i;

function familyPlan(
  service: Service,
  notes: AnnotationReader,
  family: Family,
  internal: boolean,
  subnet: string | undefined,
): FamilyPlan {
  const ip = addressOf(service, notes, family);
  const pipName = textOfFamily(service, notes, family, annotation.pipName, annotation.pipNameIpv6);
  nameIn(notes, annotation.pipName, 'name');
  nameIn(notes, annotation.pipNameIpv6, 'name');
  const pipPrefixId = textOfFamily(service, notes, family, annotation.pipPrefix, annotation.pipPrefixIpv6);
  if (pipPrefixId !== undefined && !pipPrefixPattern.test(pipPrefixId))
    throw new Error(
      `annotation ${prefix}${annotation.pipPrefix}: ${JSON.stringify(pipPrefixId)} is not the ID of a public IP prefix`,
    );
  return {
    family,
    frontend: frontendName(service, family, internal ? subnet : undefined),
    ...(ip !== undefined && { ip }),
    ...(!internal && pipName !== undefined && { pipName }),
    ...(!internal && pipPrefixId !== undefined && { pipPrefixId }),
  };
}

function ipTagsOf(notes: AnnotationReader): { type: string; tag: string }[] {
  const tags = Object.entries(notes.pairs(annotation.pipIpTags)).map(([type, tag]) => ({ type, tag }));
  const wrong = tags.find(({ tag }) => tag === '');
  if (wrong) throw new Error(`annotation ${prefix}${annotation.pipIpTags}: ${JSON.stringify(wrong.type)} has no value`);
  return tags.sort((a, b) => (a.type < b.type ? -1 : 1));
}

function additionalIpsOf(notes: AnnotationReader): string[] {
  const all = notes.list(annotation.additionalIps);
  // Rules for addresses inside would open nodes, and what else is in the network.
  for (const one of all)
    if (familyOf(one) === undefined || isInside(one))
      throw new Error(`annotation ${prefix}${annotation.additionalIps}: ${JSON.stringify(one)} is not a public address`);
  return all;
}

/** Whether packets arrive for the node and its node port: without a floating address, which internal load balancers of IPv6 never have. */
export const isDirect = ({ floatingIp, internal }: Plan, family: Family): boolean =>
  !floatingIp || (internal && family === 'IPv6');
export const hasDirect = (plan: Plan): boolean => plan.families.some(({ family }) => isDirect(plan, family));

function refuseContradictions(plan: Plan): void {
  const { internal, haPorts, ports, floatingIp, subnet, access } = plan;
  if (ports.length === 0) throw new Error('a load balancer needs ports');
  if (!internal && subnet !== undefined)
    throw new Error(`annotation ${prefix}${annotation.subnet} is for internal load balancers`);
  for (const { protocol = 'TCP', port, nodePort } of ports) {
    if (!['TCP', 'UDP', 'SCTP'].includes(protocol))
      throw new Error('only TCP, UDP and SCTP are supported for Azure LoadBalancers');
    if (protocol === 'SCTP' && !internal) throw new Error('SCTP is only supported on standard loadbalancer in internal mode');
    if (!floatingIp && !nodePort)
      throw new Error(`annotation ${prefix}${annotation.disableFloatingIp}: port ${port} has no node port`);
  }
  // The rules would be for the addresses of nodes, and keep nodes from each other.
  if (access.denyOthers && !floatingIp)
    throw new Error(`annotation ${prefix}${annotation.denyOthers} contradicts ${prefix}${annotation.disableFloatingIp}`);
  if (access.denyOthers && hasDirect(plan))
    throw new Error(`annotation ${prefix}${annotation.denyOthers}: an internal load balancer of IPv6 has no floating address`);
  if (haPorts && !internal) throw new Error(`annotation ${prefix}${annotation.haPorts} is for internal load balancers`);
}

/** Throws for what cannot be had, with a message for the user. */
export function planOf(service: Service): Plan {
  refuseUnsupported(service);
  const notes = annotationsOf(service, prefix);
  const internal = isInternal(service);
  const subnet = nameIn(notes, annotation.subnet, 'name');
  const dnsLabel = service.metadata.annotations?.[prefix + annotation.dnsLabel];
  const plan: Plan = {
    service,
    key: serviceKey(service),
    internal,
    subnet,
    families: familiesOf(service).map((family) => familyPlan(service, notes, family, internal, subnet)),
    ports: service.spec?.ports ?? [],
    idleMinutes: notes.integer(annotation.idleTimeout, { min: idleMinutesMin, max: idleMinutesMax }) ?? idleMinutesDefault,
    tcpReset: !notes.boolean(annotation.disableTcpReset),
    floatingIp: !notes.boolean(annotation.disableFloatingIp),
    haPorts: notes.boolean(annotation.haPorts) ?? false,
    affinity: service.spec?.sessionAffinity === 'ClientIP',
    pipGroup: nameIn(notes, annotation.resourceGroup, 'group'),
    dnsLabel: internal ? undefined : dnsLabel?.trim(),
    pipTags: parseTags(notes.text(annotation.pipTags)),
    ipTags: ipTagsOf(notes),
    access: accessOf(service, internal),
    additionalIps: additionalIpsOf(notes),
    securityRules: !notes.boolean(annotation.disableSecurityRules),
  };
  refuseContradictions(plan);
  return plan;
}
