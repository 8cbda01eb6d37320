// Target groups: one for each port, named after all of it that cannot be changed later, so that the right one is found, and a wrong one replaced.
import {
  CreateTargetGroupCommand,
  DeleteTargetGroupCommand,
  DescribeTagsCommand,
  DescribeTargetGroupAttributesCommand,
  DescribeTargetGroupsCommand,
  type DescribeTargetGroupsCommandInput,
  ModifyTargetGroupAttributesCommand,
  ModifyTargetGroupCommand,
  type TargetGroup,
  type TargetGroupAttribute,
} from '@aws-sdk/client-elastic-load-balancing-v2';
import { type Clock, retryAfter, type Service } from 'sagong/cloud-provider';
import { type Cache, createCache, during, serviceKey } from 'sagong/cloud-provider/kit';
import { type Api, pages } from '../../clients.ts';
import type { Cloud } from '../../cloud.ts';
import { absentFor, hasCode } from '../../errors.ts';
import { inUseRetryMs, pagesMax, taggedResourcesMax, targetGroupsTtlMs } from '../../limits.ts';
import { targetGroupPrefix } from '../../naming.ts';
import { ownedByCluster, ownedTags, serviceTag, tagValue } from '../../tags.ts';
import type { NetworkHealthCheck } from './health-check.ts';
import type { NetworkPlan, PortMapping } from './plan.ts';
import { syncTargets } from './targets.ts';

const describe = ({ api }: Pick<Cloud, 'api'>, input: DescribeTargetGroupsCommandInput): Promise<TargetGroup[]> =>
  pages(
    (Marker) => api.elbv2(new DescribeTargetGroupsCommand({ ...input, ...(Marker !== undefined && { Marker }) })),
    ({ TargetGroups }) => TargetGroups,
    ({ NextMarker }) => NextMarker,
    pagesMax,
  )
    .catch(absentFor('TargetGroupNotFound', 'TargetGroupNotFoundException'))
    .then((found) => found ?? [])
    .catch(during('error listing target groups'));

export const attachedTargetGroups = (cloud: Cloud, LoadBalancerArn: string): Promise<TargetGroup[]> =>
  describe(cloud, { LoadBalancerArn });

/** Target groups of the Service that no load balancer uses: what a failure in the middle left. */
export const looseTargetGroups = async (cloud: Cloud, service: Service): Promise<TargetGroup[]> =>
  looseAmong(cloud, service, await describe(cloud, {}));

/**
 * All target groups of the account, among which loose ones are looked for at each sync. To be forgotten when a sync fails, as it may have left
 * some.
 */
export type AllTargetGroups = Pick<Cache<readonly TargetGroup[]>, 'get' | 'forget'>;

export const allTargetGroups = (api: (signal?: AbortSignal) => Api, clock: Pick<Clock, 'monotonic'>): AllTargetGroups =>
  createCache({ clock, ttlMs: targetGroupsTtlMs, read: (_key, signal) => describe({ api: api(signal) }, {}) });

/** Target groups that a load balancer uses, and those that it no longer uses since a change was cut off. */
export async function targetGroupsOf(cloud: Cloud, service: Service, LoadBalancerArn: string) {
  const all = await cloud.targetGroups.get('', cloud.signal);
  const loose = await looseAmong(cloud, service, all);
  return { attached: await attachedTargetGroups(cloud, LoadBalancerArn), loose };
}

async function looseAmong(cloud: Cloud, service: Service, all: readonly TargetGroup[]): Promise<TargetGroup[]> {
  const candidates = all.filter(
    ({ TargetGroupName, LoadBalancerArns }) =>
      TargetGroupName?.startsWith(targetGroupPrefix(service)) && !LoadBalancerArns?.length,
  );
  const own: TargetGroup[] = [];
  for (let at = 0; at < candidates.length; at += taggedResourcesMax) {
    const some = candidates.slice(at, at + taggedResourcesMax);
    const { TagDescriptions = [] } = await cloud.api.elbv2(
      new DescribeTagsCommand({ ResourceArns: some.flatMap(({ TargetGroupArn }) => TargetGroupArn ?? []) }),
    );
    const ours = TagDescriptions.filter(
      ({ Tags }) => ownedByCluster(cloud.identity.cluster, Tags) && tagValue(Tags, serviceTag) === serviceKey(service),
    ).map(({ ResourceArn }) => ResourceArn);
    own.push(...some.filter(({ TargetGroupArn }) => ours.includes(TargetGroupArn)));
  }
  return own;
}

/** What differs of a health check, among what can be changed. Pure. */
export function healthCheckChange(wanted: NetworkHealthCheck, actual: TargetGroup) {
  const differs =
    wanted.port !== actual.HealthCheckPort ||
    wanted.healthyThreshold !== actual.HealthyThresholdCount ||
    wanted.unhealthyThreshold !== actual.UnhealthyThresholdCount ||
    (wanted.path !== undefined && wanted.path !== actual.HealthCheckPath);
  return differs ? healthFields(wanted) : undefined;
}

const healthFields = ({ port, path, healthyThreshold, unhealthyThreshold }: NetworkHealthCheck) => ({
  HealthCheckPort: port,
  HealthyThresholdCount: healthyThreshold,
  UnhealthyThresholdCount: unhealthyThreshold,
  ...(path !== undefined && { HealthCheckPath: path }),
});

/** Makes a target group; undefined where one of its name is there already, with other fields. */
async function create(cloud: Cloud, vpcId: string, mapping: PortMapping, plan: NetworkPlan): Promise<TargetGroup | undefined> {
  const { groupName, nodePort, targetProtocol, health } = mapping;
  const made = await cloud.api
    .elbv2(
      new CreateTargetGroupCommand({
        Name: groupName,
        VpcId: vpcId,
        Port: nodePort,
        Protocol: targetProtocol,
        TargetType: 'instance',
        HealthCheckProtocol: health.protocol,
        HealthCheckIntervalSeconds: health.intervalSeconds,
        ...healthFields(health),
        Tags: ownedTags(cloud.identity.cluster, plan.tags),
      }),
    )
    .catch(absentFor('DuplicateTargetGroupName', 'DuplicateTargetGroupNameException'))
    .catch(during('error creating load balancer target group'));
  return made?.TargetGroups?.[0];
}

async function ensureOne(
  cloud: Cloud,
  vpcId: string,
  mapping: PortMapping,
  plan: NetworkPlan,
  attached: readonly TargetGroup[],
  instanceIds: readonly string[],
): Promise<string> {
  const byName = ({ TargetGroupName }: TargetGroup): boolean => TargetGroupName === mapping.groupName;
  const made = attached.some(byName) ? undefined : await create(cloud, vpcId, mapping, plan);
  const group = made ?? attached.find(byName) ?? (await describe(cloud, { Names: [mapping.groupName] }))[0];
  const TargetGroupArn = group?.TargetGroupArn;
  if (!group || !TargetGroupArn) throw new Error(`target group ${mapping.groupName} was deleted while it was made`);
  const change = healthCheckChange(mapping.health, group);
  if (change)
    await cloud.api
      .elbv2(new ModifyTargetGroupCommand({ TargetGroupArn, ...change }))
      .catch(during('error modifying target group health check'));
  await syncTargets(cloud, TargetGroupArn, { instanceIds, port: mapping.nodePort, isNew: made !== undefined });
  return TargetGroupArn;
}

/** The target groups of all ports, by name. */
export async function ensureTargetGroups(
  cloud: Cloud,
  vpcId: string,
  plan: NetworkPlan,
  attached: readonly TargetGroup[],
  instanceIds: readonly string[],
): Promise<Map<string, string>> {
  const arns = new Map<string, string>();
  for (const mapping of plan.mappings)
    arns.set(mapping.groupName, await ensureOne(cloud, vpcId, mapping, plan, attached, instanceIds));
  return arns;
}

export async function deleteTargetGroups({ api }: Cloud, arns: Iterable<string>): Promise<void> {
  for (const TargetGroupArn of arns)
    await api
      .elbv2(new DeleteTargetGroupCommand({ TargetGroupArn }))
      .catch(absentFor('TargetGroupNotFound', 'TargetGroupNotFoundException'))
      .catch((error: unknown) => {
        if (hasCode(error, 'ResourceInUse', 'ResourceInUseException'))
          throw retryAfter(`target group ${TargetGroupArn} is still in use`, inUseRetryMs, error);
        return during('error deleting load balancer target group')(error);
      });
}

/** Attributes to change. What AWS does not show it does not take for this kind of target group. Pure. */
export function attributeChange(
  wanted: Readonly<Record<string, string>>,
  present: readonly TargetGroupAttribute[] = [],
): TargetGroupAttribute[] {
  const actual = new Map(present.map(({ Key, Value }) => [Key, Value]));
  return Object.entries(wanted)
    .filter(([key, value]) => actual.has(key) && actual.get(key) !== value)
    .map(([Key, Value]) => ({ Key, Value }));
}

export async function syncTargetGroupAttributes(
  { api }: Cloud,
  arns: Iterable<string>,
  wanted: Readonly<Record<string, string>>,
): Promise<void> {
  if (Object.keys(wanted).length === 0) return;
  for (const TargetGroupArn of arns) {
    const { Attributes } = await api
      .elbv2(new DescribeTargetGroupAttributesCommand({ TargetGroupArn }))
      .catch(during('unable to retrieve target group attributes during attribute sync'));
    const change = attributeChange(wanted, Attributes);
    if (change.length > 0)
      await api
        .elbv2(new ModifyTargetGroupAttributesCommand({ TargetGroupArn, Attributes: change }))
        .catch(during('unable to modify target group attributes during attribute sync'));
  }
}
