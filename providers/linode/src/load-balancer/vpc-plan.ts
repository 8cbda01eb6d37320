// In which VPC a NodeBalancer reaches its backends, and in which one its clients reach it; both are decided when it is made. First what is asked
// for (pure), then the IDs behind the names.
import { BlockList } from 'node:net';
import type { Service } from 'sagong/cloud-provider';
import { annotation, idOf, rangeOf, read } from '../annotations.ts';
import type { VpcRequest } from '../api/types.ts';
import type { FlagValues } from '../config/flags.ts';
import type { Vpcs } from '../vpcs.ts';

interface SubnetPlan {
  /** Goes before the names. */
  subnetId?: number;
  vpcName?: string;
  subnetName?: string;
  ipv4Range?: string;
  ipv6Range?: string;
  /** The addresses are taken from any free part of `ipv4Range`. */
  autoAssign?: boolean;
}
export interface VpcPlan {
  /** Undefined: by their private or public addresses. */
  backend?: SubnetPlan;
  /** Undefined: at a public address. */
  frontend?: SubnetPlan;
}

/** Whether one range lies in another, by its first address, as upstream has it. */
function liesWithin(outer: string, inner: string): boolean {
  const [network = '', bits] = outer.split('/');
  const list = new BlockList();
  list.addSubnet(network, Number(bits));
  return list.check(inner.split('/')[0] ?? '');
}

function backendPlan(service: Service, flags: FlagValues): SubnetPlan {
  const { text } = read(service);
  const ipv4Range = rangeOf(service, annotation.backendRange);
  if (ipv4Range !== undefined && flags.backendSubnet !== '' && !liesWithin(flags.backendSubnet, ipv4Range))
    throw new Error(`IPv4 range ${ipv4Range} is not within the subnet ${flags.backendSubnet}`);
  const vpcName = text(annotation.backendVpc);
  const subnetName = text(annotation.backendSubnet);
  const isNamed = vpcName !== undefined || subnetName !== undefined;
  const subnetId = idOf(service, annotation.backendSubnetId) ?? (isNamed ? undefined : flags.backendSubnetId || undefined);
  const range = ipv4Range ?? (isNamed || flags.backendSubnetId !== 0 ? undefined : flags.backendSubnet || undefined);
  return {
    ...(subnetId !== undefined && { subnetId }),
    ...(vpcName !== undefined && { vpcName }),
    ...(subnetName !== undefined && { subnetName }),
    ...(range !== undefined && { ipv4Range: range }),
    ...(range !== undefined && ipv4Range === undefined && { autoAssign: true }),
  };
}

function frontendPlan(service: Service): SubnetPlan | undefined {
  const { text } = read(service);
  const subnetId = idOf(service, annotation.frontendSubnetId);
  const vpcName = text(annotation.frontendVpc);
  const subnetName = text(annotation.frontendSubnet);
  const ipv4Range = rangeOf(service, annotation.frontendRange);
  const ipv6Range = rangeOf(service, annotation.frontendIpv6Range);
  if ([subnetId, vpcName, subnetName, ipv4Range, ipv6Range].every((one) => one === undefined)) return undefined;
  if (subnetId === undefined && (vpcName === undefined || subnetName === undefined))
    throw new Error('frontend VPC configuration requires either subnet-id or both vpc-name and subnet-name annotations');
  return {
    ...(subnetId === undefined ? { vpcName: vpcName ?? '', subnetName: subnetName ?? '' } : { subnetId }),
    ...(ipv4Range !== undefined && { ipv4Range }),
    ...(ipv6Range !== undefined && { ipv6Range }),
  };
}

const backendAnnotations = [annotation.backendRange, annotation.backendVpc, annotation.backendSubnet, annotation.backendSubnetId];

export function vpcPlan(service: Service, flags: FlagValues, usesIpv6: boolean): VpcPlan {
  const inVpc = flags.vpcNames.length + flags.vpcIds.length > 0;
  const asked = backendAnnotations.some((name) => read(service).text(name) !== undefined);
  if (asked && !inVpc) throw new Error('CCM not configured with VPC, cannot create NodeBalancer with specified annotation');
  const backend = inVpc && !flags.noVpcBackends && !usesIpv6 ? backendPlan(service, flags) : undefined;
  const frontend = frontendPlan(service);
  return { ...(backend && { backend }), ...(frontend && { frontend }) };
}

/** The subnet of the nodes as a NodeBalancer sees it; undefined: it reaches them outside of VPCs. */
export async function backendSubnetId(
  { backend }: VpcPlan,
  vpcs: Vpcs,
  flags: FlagValues,
  signal?: AbortSignal,
): Promise<number | undefined> {
  if (!backend) return undefined;
  if (backend.subnetId !== undefined) return backend.subnetId;
  const first = await vpcs.first(signal);
  const vpc = backend.vpcName === undefined ? first.vpc : await vpcs.vpcNamed(backend.vpcName, signal);
  const name = backend.subnetName ?? (backend.vpcName === undefined ? flags.backendSubnetName || undefined : undefined);
  if (name !== undefined) return vpcs.subnetNamed(vpc, name, signal);
  return backend.vpcName === undefined ? first.subnet() : vpcs.subnetNamed(vpc, flags.subnetNames[0] ?? '', signal);
}

const requestOf = (subnet: number, { ipv4Range, ipv6Range, autoAssign }: SubnetPlan): VpcRequest => ({
  subnet_id: subnet,
  ...(ipv4Range !== undefined && { ipv4_range: ipv4Range }),
  ...(ipv6Range !== undefined && { ipv6_range: ipv6Range }),
  ...(autoAssign && { ipv4_range_auto_assign: true }),
});

export interface VpcRequests {
  vpcs?: VpcRequest[];
  backend_vpcs?: VpcRequest[];
  frontend_vpcs?: VpcRequest[];
}

/** The VPCs in a request for a new NodeBalancer. `vpcs` are those of backends; together with a frontend the API tells them apart. */
export async function vpcRequests(
  plan: VpcPlan,
  subnet: number | undefined,
  vpcs: Vpcs,
  signal?: AbortSignal,
): Promise<VpcRequests> {
  const backends = plan.backend && subnet !== undefined ? [requestOf(subnet, plan.backend)] : [];
  const { frontend } = plan;
  if (!frontend) return backends.length > 0 ? { vpcs: backends } : {};
  const at =
    frontend.subnetId ??
    (await vpcs.subnetNamed(await vpcs.vpcNamed(frontend.vpcName ?? '', signal), frontend.subnetName ?? '', signal));
  return { frontend_vpcs: [requestOf(at, frontend)], ...(backends.length > 0 && { backend_vpcs: backends }) };
}
