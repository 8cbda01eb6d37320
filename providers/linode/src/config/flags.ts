// Flags on the manager's command line, those of linode-cloud-controller-manager (main.go).
import { defaultFlagValues, type ProviderFlags, type ProviderFlagValues } from 'sagong/cloud-provider';
import { prefixCharactersMax } from '../limits.ts';

const section = 'Linode Cloud Provider';
const bool = (name: string, help: string) => ({ name, type: 'bool', default: false, section, help }) as const;
const text = (name: string, help: string, value = '') => ({ name, type: 'string', default: value, section, help }) as const;
const list = (name: string, help: string, value: string[] = []) =>
  ({ name, type: 'strings', default: value, section, help }) as const;
const noEffect = 'Has no effect here.';

export const balancerTypes = ['common', 'premium', 'premium_40gb'] as const;
export type BalancerType = (typeof balancerTypes)[number];

export const flags = {
  routeController: bool('enable-route-controller', 'Makes routes to pods in the VPCs of --vpc-names or --vpc-ids'),
  tokenChecker: bool('enable-token-health-checker', 'Asks every five minutes whether the API token is still valid'),
  vpcNames: list('vpc-names', 'VPCs of the nodes, by label'),
  subnetNames: list('subnet-names', 'Subnets of the nodes, by label (requires --vpc-names)', ['default']),
  vpcIds: list('vpc-ids', 'VPCs of the nodes, by ID'),
  subnetIds: list('subnet-ids', 'Subnets of the nodes, by ID (requires --vpc-ids)'),
  defaultType: text('default-nodebalancer-type', 'Type of NodeBalancers: common, premium or premium_40gb', 'common'),
  balancerTags: list('nodebalancer-tags', 'Tags of all NodeBalancers'),
  prefix: text(
    'nodebalancer-prefix',
    `Beginning of the labels of NodeBalancers (${prefixCharactersMax} characters at most)`,
    'ccm',
  ),
  backendSubnet: text(
    'nodebalancer-backend-ipv4-subnet',
    'IPv4 range from which NodeBalancers take the addresses of their backends',
  ),
  backendSubnetId: {
    name: 'nodebalancer-backend-ipv4-subnet-id',
    type: 'int',
    default: 0,
    section,
    help: 'Subnet of the backends of NodeBalancers, by ID',
  },
  backendSubnetName: text('nodebalancer-backend-ipv4-subnet-name', 'Subnet of the backends of NodeBalancers, by label'),
  noVpcBackends: bool('disable-nodebalancer-vpc-backends', 'NodeBalancers reach nodes by their private addresses also in VPCs'),
  ipv6Ingress: bool('enable-ipv6-for-loadbalancers', 'Services get the IPv6 address of their NodeBalancer as well'),
  ipv6Backends: bool('enable-ipv6-for-nodebalancer-backends', 'NodeBalancers reach nodes by their public IPv6 addresses'),
  tagFilter: text('linode-tag-filter', 'Only Linodes with this tag are listed'),
  loadBalancerType: text(
    'load-balancer-type',
    'nodebalancer; cilium-bgp is deprecated and taken for nodebalancer',
    'nodebalancer',
  ),
  bgpNodeSelector: text('bgp-node-selector', `Deprecated. ${noEffect}`),
  ipHolderSuffix: text('ip-holder-suffix', `Deprecated. ${noEffect}`),
  debug: bool('linodego-debug', `${noEffect} Metrics count the calls of the API by name`),
  noIpv6NodeCidrs: bool(
    'disable-ipv6-node-cidr-allocation',
    `${noEffect} node-ipam-controller allocates what --cluster-cidr names`,
  ),
} satisfies ProviderFlags;

export interface FlagValues {
  routeController: boolean;
  tokenChecker: boolean;
  vpcNames: string[];
  subnetNames: string[];
  vpcIds: number[];
  subnetIds: number[];
  defaultType: BalancerType;
  balancerTags: string[];
  prefix: string;
  backendSubnet: string;
  backendSubnetId: number;
  backendSubnetName: string;
  noVpcBackends: boolean;
  ipv6Ingress: boolean;
  ipv6Backends: boolean;
  tagFilter: string;
  loadBalancerType: string;
}

const idsOf = (name: string, values: readonly string[]): number[] =>
  values.map((value) => {
    if (!/^[1-9]\d{0,14}$/.test(value)) throw new Error(`--${name}: not an ID: ${JSON.stringify(value)}`);
    return Number(value);
  });
const trimmed = (values: readonly string[]): string[] => values.map((value) => value.trim()).filter((value) => value !== '');

function checkVpcs({ vpcNames, vpcIds, subnetIds, routeController }: FlagValues): void {
  if (vpcIds.length > 0 && vpcNames.length > 0) throw new Error('cannot have both vpc-ids and vpc-names set');
  if (vpcIds.length > 0 && subnetIds.length === 0) throw new Error('vpc-ids cannot be set without subnet-ids');
  if (subnetIds.length > 0 && vpcIds.length === 0) throw new Error('subnet-ids cannot be set without vpc-ids');
  if (routeController && vpcNames.length === 0 && vpcIds.length === 0)
    throw new Error('cannot enable route controller as vpc-names is empty');
}

function checkBalancers(values: FlagValues): void {
  const { prefix, defaultType, backendSubnetId, backendSubnetName, loadBalancerType, backendSubnet } = values;
  if (prefix.length > prefixCharactersMax)
    throw new Error(
      `nodebalancer-prefix must be ${prefixCharactersMax} characters or less: ${prefix} is ${prefix.length} characters`,
    );
  if (!/^[a-zA-Z0-9_-]+$/.test(prefix))
    throw new Error(`nodebalancer-prefix must be no empty and use only letters, numbers, underscores, and dashes: ${prefix}`);
  if (!balancerTypes.includes(defaultType))
    throw new Error(`default-nodebalancer-type must be one of ${balancerTypes.join(', ')}, not ${JSON.stringify(defaultType)}`);
  if (backendSubnetId !== 0 && backendSubnetName !== '')
    throw new Error('cannot have both --nodebalancer-backend-ipv4-subnet-id and --nodebalancer-backend-ipv4-subnet-name set');
  if (backendSubnet !== '' && !/^[\d.]+\/\d{1,2}$/.test(backendSubnet))
    throw new Error(`--nodebalancer-backend-ipv4-subnet: not a range: ${JSON.stringify(backendSubnet)}`);
  if (!['', 'nodebalancer', 'cilium-bgp'].includes(loadBalancerType))
    throw new Error(`unsupported default load-balancer type ${loadBalancerType}`);
}

/** Throws for flags that contradict each other, or are unusable. */
export function flagValuesOf(given: ProviderFlagValues | undefined): FlagValues {
  const raw = { ...defaultFlagValues(flags), ...given } as unknown as FlagValues & { vpcIds: string[]; subnetIds: string[] };
  const values: FlagValues = {
    ...raw,
    vpcNames: trimmed(raw.vpcNames),
    subnetNames: trimmed(raw.subnetNames),
    vpcIds: idsOf('vpc-ids', raw.vpcIds),
    subnetIds: idsOf('subnet-ids', raw.subnetIds),
    defaultType: raw.defaultType.toLowerCase() as BalancerType,
  };
  checkVpcs(values);
  checkBalancers(values);
  return values;
}
