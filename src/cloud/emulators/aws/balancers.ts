// What both kinds of load balancers have in common: how they are made in the local cloud, and how they go.
import type { LoadBalancer, Subnet } from '../../model/index.ts';
import { isNotFound, listAll } from '../../client/index.ts';
import type { Account } from './account.ts';
import { AwsError } from './errors.ts';
import { balancerNameMax } from './limits.ts';
import type { Front } from './projection.ts';

/** Throws `code` for a name that AWS does not take. */
export function checkName(name: string, code: string): string {
  if (name.length > balancerNameMax || !/^[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?$/.test(name))
    throw new AwsError(
      code,
      `The name '${name}' can have at most ${balancerNameMax} letters, digits and dashes, and no dash at its ends`,
    );
  return name;
}

/** The subnets in the order of their ids. Throws when one is not there, or when they are in several networks. */
export async function subnetsOf({ cloud }: Account, ids: readonly string[]): Promise<Subnet[]> {
  const all = new Map((await listAll((page) => cloud.listSubnets(page))).map((subnet) => [subnet.id, subnet]));
  const unknown = ids.find((id) => !all.has(id));
  if (unknown !== undefined) throw new AwsError('SubnetNotFound', `The subnet ID '${unknown}' does not exist`);
  const found = ids.flatMap((id) => all.get(id) ?? []);
  if (found.length === 0) throw new AwsError('ValidationError', 'At least one subnet must be specified');
  if (new Set(found.map(({ vpcId }) => vpcId)).size > 1)
    throw new AwsError('InvalidConfigurationRequest', 'The subnets must be in the same VPC');
  return found;
}

/** Throws for a group that is not there. */
export async function checkGroups({ cloud }: Account, ids: readonly string[]): Promise<void> {
  const all = new Set((await listAll((page) => cloud.listSecurityGroups(page))).map(({ id }) => id));
  const unknown = ids.find((id) => !all.has(id));
  if (unknown !== undefined) throw new AwsError('InvalidSecurityGroup', `The security group '${unknown}' does not exist`);
}

export interface NewBalancer extends Front {
  /** Its name in the local cloud, which knows one kind of name for both kinds of load balancers. */
  localName: string;
  scheme: LoadBalancer['scheme'];
  subnetIds: string[];
  address?: string;
  tags: Record<string, string>;
}

/** A load balancer of this name that nothing is known of was left by a crash: it goes first. */
export async function makeLocal({ cloud }: Account, wanted: NewBalancer): Promise<LoadBalancer> {
  const { localName: name, healthCheck, address, ...rest } = wanted;
  for (const { id } of (await cloud.listLoadBalancers({ name })).items) await cloud.deleteLoadBalancer({ loadBalancerId: id });
  return cloud.createLoadBalancer({
    name,
    kind: 'proxy',
    ...rest,
    ...(healthCheck && { healthCheck }),
    ...(address !== undefined && { address }),
  });
}

export async function removeLocal(
  { cloud, names }: Account,
  { localId, dnsName }: { localId: string; dnsName: string },
): Promise<void> {
  await names.remove(dnsName);
  await cloud.deleteLoadBalancer({ loadBalancerId: localId }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

/** All of the local cloud by id. */
export const localBalancers = async ({ cloud }: Account): Promise<Map<string, LoadBalancer>> =>
  new Map((await listAll((page) => cloud.listLoadBalancers(page))).map((one) => [one.id, one]));

export async function changeLocalTags(
  { cloud }: Account,
  resourceId: string,
  set: Record<string, string>,
  remove: string[] = [],
): Promise<void> {
  await cloud.changeTags({ resourceId, set, remove });
}
