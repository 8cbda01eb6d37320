// The backends of internal load balancers: one unmanaged instance group in each zone, which all of them share.
import type { Clock, Node } from 'sagong/cloud-provider';
import { type Cache, createCache, fineIfAbsent, isAbsent } from 'sagong/cloud-provider/kit';
import type { ComputeApi } from '../api/compute.ts';
import { isInUse } from '../api/errors.ts';
import type { InstanceGroup, InstanceInGroup } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import type { Host } from '../instances/hosts.ts';
import { zoneOfNode } from '../instances/provider-id.ts';
import { groupMembersTtlMs, instanceGroupMax } from '../limits.ts';
import { nameIn } from '../links.ts';
import { instanceGroup, instanceNameOf } from '../names.ts';
import { resourcesOf } from '../resources.ts';
import type { Settings } from '../settings.ts';
import { ensureResource } from './ensure-resource.ts';

/** Names of the instances in a group, by `<zone>/<group>`. */
export type GroupMembers = Cache<ReadonlySet<string>>;

export const createGroupMembers = (api: ComputeApi, settings: Settings, clock: Clock): GroupMembers =>
  createCache({
    clock,
    ttlMs: groupMembersTtlMs,
    async read(key, signal) {
      const [zone = '', group = ''] = key.split('/');
      const groups = resourcesOf(api, settings, signal).instanceGroups(zone);
      const found = await groups.ask<InstanceInGroup>(group, 'listInstances', { instanceState: 'ALL' });
      return new Set(found.map(({ instance }) => nameIn(instance)));
    },
  });

const subnetLabel = 'cloud.google.com/gke-node-pool-subnet';

/** Nodes of another subnetwork than the cluster's cannot be in its groups (GKE's clusters with several). */
export const inSubnetwork = (nodes: readonly Node[], subnetwork: string): Node[] =>
  nodes.filter(({ metadata }) => {
    const label = metadata.labels?.[subnetLabel];
    return !label || subnetwork === '' || label === nameIn(subnetwork);
  });

function byZone(hosts: readonly Host[]): Map<string, string[]> {
  const zones = new Map<string, string[]>();
  for (const { zone, name } of hosts) zones.set(zone, [...(zones.get(zone) ?? []), name]);
  return zones;
}

/** Names of the members. Makes the group when there is none. */
async function membersOf({ resources, groupMembers, signal }: Cloud, group: string, zone: string): Promise<ReadonlySet<string>> {
  try {
    return await groupMembers.get(`${zone}/${group}`, signal);
  } catch (error) {
    if (!isAbsent(error)) throw error;
    await ensureResource<InstanceGroup>(resources.instanceGroups(zone), { name: group }, () => undefined);
    return new Set();
  }
}

/** Brings one group in line. Instances whose zone is not known yet stay if they are in. */
async function ensureGroup(cloud: Cloud, group: string, zone: string, names: readonly string[], unplaced: ReadonlySet<string>) {
  const { api, settings, resources, groupMembers } = cloud;
  const groups = resources.instanceGroups(zone);
  // Google takes 1,000 instances in a group.
  const wanted = new Set([...names].sort().slice(0, instanceGroupMax));
  const members = await membersOf(cloud, group, zone);
  const references = (some: readonly string[]): unknown => ({
    instances: some.map((name) => ({ instance: api.link(settings.project, { zone }, 'instances', name) })),
  });
  const added = [...wanted].filter((name) => !members.has(name));
  const removed = [...members].filter((name) => !wanted.has(name) && !unplaced.has(name));
  if (added.length + removed.length === 0) return;
  try {
    if (added.length > 0) await groups.act(group, 'addInstances', references(added));
    if (removed.length > 0) await groups.act(group, 'removeInstances', references(removed));
  } finally {
    // Also after a failure: a member that was terminated a moment ago is in no group any more, and the next try must see that.
    groupMembers.forget(`${zone}/${group}`);
  }
}

/** Links of the groups that hold these hosts. Makes them, and brings their members in line. */
export async function ensureGroups(
  cloud: Cloud,
  clusterId: string,
  hosts: readonly Host[],
  nodes: readonly Node[],
): Promise<string[]> {
  const { api, settings, resources, turn, signal } = cloud;
  const group = instanceGroup(clusterId);
  const unplaced = new Set(
    nodes.filter((node) => zoneOfNode(node) === undefined).map(({ metadata }) => instanceNameOf(metadata.name ?? '')),
  );
  const links: string[] = [];
  for (const [zone, names] of [...byZone(hosts)].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (settings.alphaFeatures.includes('SkipIGsManagement')) {
      const made = await resources.instanceGroups(zone).list(`name eq ${group}.*`);
      links.push(...made.filter(({ name = '' }) => name.startsWith(group)).map(({ selfLink = '' }) => selfLink));
      continue;
    }
    await turn(`group ${zone}/${group}`, () => ensureGroup(cloud, group, zone, names, unplaced), signal);
    links.push(api.link(settings.project, { zone }, 'instanceGroups', group));
  }
  return links;
}

/** Deletes the groups of the cluster that no load balancer uses any more. */
export async function deleteUnusedGroups(cloud: Cloud, clusterId: string): Promise<void> {
  const { settings, resources, zones, turn, signal, groupMembers } = cloud;
  if (settings.alphaFeatures.includes('SkipIGsManagement')) return;
  const group = instanceGroup(clusterId);
  for (const zone of await zones.ofRegion(signal))
    await turn(`group ${zone}/${group}`, async () => {
      groupMembers.forget(`${zone}/${group}`);
      try {
        await resources.instanceGroups(zone).delete(group).catch(fineIfAbsent);
      } catch (error) {
        if (!isInUse(error)) throw error;
      }
    });
}
