// What a Service wants of its load balancer, as far as the Service alone says it. Pure.
import { isIP } from 'node:net';
import { type Service, sourceRangesOf } from 'sagong/cloud-provider';
import { annotation, isGiven, kindOf, nameFor, objectOf, ocidsOf, read, refuseUnsupported } from '../annotations.ts';
import type { BalancerKind, DefinedTags, HealthChecker, RuleSet, Tags } from '../api/types.ts';
import type { ManagementMode, TagConfig } from '../config/schema.ts';
import type { Settings } from '../config/settings.ts';
import { groupsMax } from '../limits.ts';
import { balancerName } from '../names.ts';
import { healthCheckerOf } from './health-check.ts';
import { policyOf, type PortPlan, portsOf } from './ports.ts';
import { noTls, type TlsPlan, tlsPlanOf } from './tls.ts';

/** Where rules are kept: in security lists, in a network security group, or nowhere. */
export type RuleMode = ManagementMode | 'NSG';

export interface BalancerPlan {
  service: Service;
  kind: BalancerKind;
  name: string;
  compartment: string;
  internal: boolean;
  ports: PortPlan[];
  health: HealthChecker;
  policy: string;
  tls: TlsPlan;
  /** Undefined: they are left as they are. */
  ruleSets?: Record<string, RuleSet>;
  mode: RuleMode;
  sourceRanges: string[];
  /** Network security groups that the Service names. */
  groups: string[];
  backendGroups: string[];
  /** A public address that its owner has reserved. */
  reservedAddress?: string;
  freeformTags?: Tags;
  definedTags?: DefinedTags;
  preservesSource: boolean;
  ipMode?: string;
  externalOnly: boolean;
  assignedPrivateIpv4?: string;
  assignedIpv6?: string;
}

const lists: Readonly<Record<string, RuleMode>> = { all: 'All', frontend: 'Frontend', none: 'None' };
const modes: Readonly<Record<string, RuleMode>> = { 'sl-all': 'All', 'sl-frontend': 'Frontend', nsg: 'NSG', none: 'None' };

/** How security rules are managed. For a network load balancer security lists are managed only where the Service says so. */
export function ruleModeOf(kind: BalancerKind, service: Service, configured: ManagementMode): RuleMode {
  const word = read(service).text(annotation.ruleMode);
  const mode = modes[word?.toLowerCase() ?? ''];
  if (mode) return mode;
  if (word !== undefined) throw new Error(`invalid value: ${word} provided for annotation: ${annotation.ruleMode}`);
  const name = nameFor(kind, 'listMode');
  const given = read(service).text(name);
  if (given === undefined) return kind === 'nlb' ? 'None' : configured;
  const known = lists[given.toLowerCase()];
  if (!known) throw new Error(`invalid value: ${given} provided for annotation: ${name}`);
  return known;
}

function checkService(kind: BalancerKind, service: Service, mode: RuleMode): void {
  const { ports = [], sessionAffinity = 'None' } = service.spec ?? {};
  if (mode !== 'None' && mode !== 'NSG' && ports.some(({ protocol }) => protocol === 'UDP'))
    throw new Error("Security list management mode can only be 'None' for UDP protocol");
  if (sessionAffinity !== 'None') throw new Error('OCI only supports SessionAffinity "None" currently');
  if (isGiven(service, annotation.serviceAccount))
    throw new Error(
      `annotation ${annotation.serviceAccount} is not supported: its tokens are those of clusters that Oracle runs`,
    );
  if (kind === 'lb')
    for (const name of [annotation.privateIpv4, annotation.assignedIpv6])
      if (isGiven(service, name)) throw new Error(`annotation ${name} is supported only with ${annotation.type}: nlb`);
}

/** Where nobody is named and IPv6 is served, all of IPv6 may come in as well. */
function sourceRanges(service: Service): string[] {
  const ranges = sourceRangesOf(service);
  const families = service.spec?.ipFamilies ?? [];
  if (ranges.join() !== '0.0.0.0/0' || !families.includes('IPv6')) return ranges;
  return families.includes('IPv4') ? [...ranges, '::/0'] : ['::/0'];
}

function reservedAddressOf(service: Service, internal: boolean): string | undefined {
  const inSpec = service.spec?.loadBalancerIP;
  if (inSpec && isIP(inSpec) === 0) throw new Error(`invalid value ${JSON.stringify(inSpec)} provided for LoadBalancerIP`);
  const noted = notedAddress(service);
  if (inSpec && noted && inSpec !== noted)
    throw new Error(`annotation ${annotation.reservedIps}: ${noted} contradicts spec.loadBalancerIP ${inSpec}`);
  const address = noted ?? inSpec;
  if (!address) return undefined;
  if (internal) throw new Error('invalid service: cannot create a private load balancer with Reserved IP');
  return address;
}
/** The vendor's manager takes a second address, of IPv6, for load balancers; here it is refused. */
function notedAddress(service: Service): string | undefined {
  const all = read(service).list(annotation.reservedIps);
  const wrong = all.find((address) => isIP(address) !== 4);
  if (wrong !== undefined)
    throw new Error(`annotation ${annotation.reservedIps}: ${JSON.stringify(wrong)} is not an IPv4 address`);
  if (all.length > 1) throw new Error(`annotation ${annotation.reservedIps}: ${all.length} addresses are more than 1`);
  return all[0];
}

function preservesSource(kind: BalancerKind, service: Service): boolean {
  if (kind !== 'nlb') return false;
  const given = read(service).boolean(annotation.preserveSource);
  const isLocal = service.spec?.externalTrafficPolicy === 'Local';
  if (!isLocal && given !== undefined)
    throw new Error(`${annotation.preserveSource} annotation cannot be set when externalTrafficPolicy is set to Cluster`);
  return isLocal && (given ?? true);
}

function ruleSetsOf(kind: BalancerKind, service: Service): Record<string, RuleSet> | undefined {
  if (!isGiven(service, annotation.ruleSets)) return undefined;
  if (kind === 'nlb')
    throw new Error(`invalid annotation ${annotation.ruleSets}. Rule Sets are not supported by Network Load Balancer`);
  const sets = objectOf(service, annotation.ruleSets) ?? {};
  for (const [name, set] of Object.entries(sets))
    if (!Array.isArray((set as { items?: unknown } | null)?.items))
      throw new Error(`annotation ${annotation.ruleSets}: rule set ${name} has no list of items`);
  return sets as unknown as Record<string, RuleSet>;
}

function ipModeOf(service: Service): string | undefined {
  const word = read(service).text(annotation.ipMode)?.toLowerCase();
  if (word === undefined) return undefined;
  if (word !== 'proxy' && word !== 'vip') throw new Error('IpMode can only be set as Proxy or VIP');
  return word === 'proxy' ? 'Proxy' : 'VIP';
}

/** Tags of the Service stand in the place of the configured ones; common ones are always there. */
function tagsOf(kind: BalancerKind, service: Service, { tags, commonTags }: Settings) {
  const given = (name: string, old: string) => objectOf(service, name) ?? (kind === 'nlb' ? objectOf(service, old) : undefined);
  const freeform = given(nameFor(kind, 'freeformTags'), annotation.oldFreeformTags) as Tags | undefined;
  const defined = given(nameFor(kind, 'definedTags'), annotation.oldDefinedTags) as DefinedTags | undefined;
  const isOwn = [freeform, defined].some((some) => some && Object.keys(some).length > 0);
  const chosen: TagConfig = isOwn ? { ...(freeform && { freeform }), ...(defined && { defined }) } : tags;
  const freeformTags = { ...chosen.freeform, ...commonTags.freeform };
  const definedTags = { ...chosen.defined, ...commonTags.defined };
  return {
    ...(Object.keys(freeformTags).length > 0 && { freeformTags }),
    ...(Object.keys(definedTags).length > 0 && { definedTags }),
  };
}

function groupsOf(kind: BalancerKind, service: Service, mode: RuleMode): string[] {
  const name = nameFor(kind, 'groups');
  const groups = ocidsOf(service, name);
  if (groups.length > groupsMax)
    throw new Error(`invalid number of Network Security Groups (Max: ${groupsMax}) provided for annotation: ${name}`);
  if (mode === 'NSG' && groups.length === groupsMax)
    throw new Error(`invalid number of Network Security Groups (Max: ${groupsMax}) including managed nsg`);
  return groups;
}

function assignedOf(service: Service): Pick<BalancerPlan, 'assignedPrivateIpv4' | 'assignedIpv6'> {
  const address = (name: string, family: number): string | undefined => {
    const text = read(service).text(name);
    if (text !== undefined && isIP(text) !== family)
      throw new Error(`annotation ${name}: ${JSON.stringify(text)} is not an IPv${family} address`);
    return text;
  };
  const assignedPrivateIpv4 = address(annotation.privateIpv4, 4);
  const assignedIpv6 = address(annotation.assignedIpv6, 6);
  return { ...(assignedPrivateIpv4 && { assignedPrivateIpv4 }), ...(assignedIpv6 && { assignedIpv6 }) };
}

export const compartmentOf = (service: Service, { compartment }: Settings): string =>
  read(service).text(annotation.compartment) ?? compartment;

/** Throws for a Service that cannot be served, with what its owner must change. */
export function balancerPlan(service: Service, settings: Settings): BalancerPlan {
  refuseUnsupported(service);
  const kind = kindOf(service);
  const ports = portsOf(kind, service);
  const mode = ruleModeOf(kind, service, settings.loadBalancer?.mode ?? 'None');
  checkService(kind, service, mode);
  const internal = read(service).boolean(nameFor(kind, 'internal')) ?? false;
  const reservedAddress = reservedAddressOf(service, internal);
  const ruleSets = ruleSetsOf(kind, service);
  const ipMode = ipModeOf(service);
  return {
    service,
    kind,
    name: balancerName(kind, service, settings.namePrefix),
    compartment: compartmentOf(service, settings),
    internal,
    ports,
    health: healthCheckerOf(kind, service),
    policy: policyOf(kind, service),
    tls: kind === 'lb' ? tlsPlanOf(service) : noTls,
    ...(ruleSets && { ruleSets }),
    mode,
    sourceRanges: sourceRanges(service),
    groups: groupsOf(kind, service, mode),
    backendGroups: mode === 'NSG' ? ocidsOf(service, annotation.backendGroups) : [],
    ...(reservedAddress && { reservedAddress }),
    ...tagsOf(kind, service, settings),
    preservesSource: preservesSource(kind, service),
    ...(ipMode && { ipMode }),
    externalOnly: kind === 'nlb' && !internal && (read(service).boolean(annotation.externalOnly) ?? false),
    ...(kind === 'nlb' && assignedOf(service)),
  };
}
