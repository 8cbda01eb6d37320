// Names of what the provider makes in Azure, those that cloud-provider-azure gives. Pure.
import { defaultLoadBalancerName, type Service } from 'sagong/cloud-provider';
import { lastOf } from './ids.ts';
import { familySuffixCharacters, nameCharactersMax } from './limits.ts';

export const providerName = 'azure';
export const internalSuffix = '-internal';
export const sharedProbeName = 'cluster-service-shared-health-probe';

export const tag = {
  service: 'k8s-azure-service',
  cluster: 'k8s-azure-cluster-name',
  dnsLabel: 'k8s-azure-dns-label-service',
} as const;
/** Tags that earlier releases wrote. They are read, and not written. */
export const oldTag = {
  service: 'service',
  cluster: 'kubernetes-cluster-name',
  dnsLabel: 'kubernetes-dns-label-service',
} as const;

export type Family = 'IPv4' | 'IPv6';

/** What the names of a Service's frontends, rules and probes begin with. */
export const servicePrefix = defaultLoadBalancerName;
/** Whether the provider gave this name to a piece of some Service. */
export const isPieceName = (name: string | undefined): boolean => /^a[0-9a-f]{31}(-|$)/i.test(name ?? '');
export const ownsPiece = (service: Service, name: string | undefined): boolean =>
  name?.toLowerCase().startsWith(servicePrefix(service).toLowerCase()) ?? false;

export const familiesOf = ({ spec }: Service): Family[] => {
  const families = (spec?.ipFamilies ?? []).filter((family): family is Family => family === 'IPv4' || family === 'IPv6');
  return families.length > 0 ? [...new Set(families)] : ['IPv4'];
};

/** Only the IPv6 half of a Service with both families says so. */
const ofFamily = (name: string, service: Service, family: Family): string =>
  familiesOf(service).length > 1 && family === 'IPv6' ? `${name}-IPv6` : name;

export const poolName = (cluster: string, family: Family): string => (family === 'IPv6' ? `${cluster}-IPv6` : cluster);

const roomFor = nameCharactersMax - familySuffixCharacters;

export function frontendName(service: Service, family: Family, subnet: string | undefined): string {
  const prefix = servicePrefix(service);
  if (subnet === undefined) return ofFamily(prefix, service, family);
  const whole = `${prefix}-${subnet}`;
  const cut = whole.length <= roomFor ? whole : whole.slice(0, roomFor).replace(/[^a-zA-Z_]$/, '_');
  return ofFamily(cut, service, family);
}

export function ruleName(service: Service, family: Family, subnet: string | undefined, protocol: string, port: number): string {
  const prefix = servicePrefix(service);
  const plain = `${prefix}-${protocol}-${port}`;
  if (subnet === undefined) return ofFamily(plain, service, family);
  const segment = subnet.slice(0, Math.max(0, roomFor - plain.length - 1));
  return ofFamily(`${prefix}-${segment}-${protocol}-${port}`, service, family);
}

export function publicIpName(cluster: string, service: Service, family: Family, prefixId: string | undefined): string {
  const plain = `${cluster}-${servicePrefix(service)}`;
  const whole = prefixId === undefined ? plain : `${plain}-${lastOf(prefixId)}`;
  return ofFamily(whole.slice(0, roomFor), service, family);
}

/** `node-1____102441024` for the routes of nodes with two families, else the name of the node. */
export const routeSeparator = '____';
export const routeName = (node: string, cidr: string, isDual: boolean): string =>
  isDual ? `${node}${routeSeparator}${cidr.replaceAll(/[:./]/g, '')}` : node;
export const nodeOfRoute = (name: string): string => name.split(routeSeparator)[0] ?? name;
