// The backends of an external load balancer: a target pool of instances, with one health check. Instances and health check change in place; the
// session affinity does not, so then the pool is made again.
import { differenceOf, undefinedIfAbsent } from 'sagong/cloud-provider/kit';
import type { TargetPool } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import type { Host } from '../instances/hosts.ts';
import { targetPoolCreateMax, targetPoolUpdateMax } from '../limits.ts';
import { instancePath, instancePathIn, nameIn } from '../links.ts';
import { serviceDescription } from '../names.ts';
import type { ExternalPlan } from './plan.ts';

export const poolOf = ({ resources }: Cloud, name: string): Promise<TargetPool | undefined> =>
  resources.targetPools.get(name).catch(undefinedIfAbsent);

/** Whether the pool has another affinity than the plan; a pool that names no affinity has `NONE`. */
export const mustBeMadeAgain = (pool: TargetPool, { affinity }: ExternalPlan): boolean =>
  (pool.sessionAffinity || 'NONE') !== affinity;

const pathsOf = (hosts: readonly Host[]): string[] => hosts.map(({ zone, name }) => instancePath(zone, name));

function* slices<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}

/** Brings the instances of a pool in line. New ones come before old ones go. */
export async function updatePool(cloud: Cloud, pool: TargetPool, hosts: readonly Host[]): Promise<void> {
  const { api, settings, resources } = cloud;
  const name = pool.name ?? '';
  const { missing, surplus } = differenceOf(pool.instances ?? [], pathsOf(hosts), instancePathIn, (path) => path);
  const references = (paths: readonly string[]): unknown => ({
    instances: paths.map((path) => {
      const [, , zone = '', , instance = ''] = path.split('/');
      return { instance: api.link(settings.project, { zone }, 'instances', instance) };
    }),
  });
  for (const some of slices(missing, targetPoolUpdateMax)) await resources.targetPools.act(name, 'addInstance', references(some));
  for (const some of slices(surplus.map(instancePathIn), targetPoolUpdateMax))
    await resources.targetPools.act(name, 'removeInstance', references(some));
}

/** Makes the pool, with as many instances as one request takes. */
async function createPool(cloud: Cloud, plan: ExternalPlan, hosts: readonly Host[]): Promise<TargetPool> {
  const { api, settings, resources } = cloud;
  const instances = hosts
    .slice(0, targetPoolCreateMax)
    .map(({ zone, name }) => api.link(settings.project, { zone }, 'instances', name));
  const pool: TargetPool = {
    name: plan.name,
    description: serviceDescription(plan.service),
    instances,
    sessionAffinity: plan.affinity,
    healthChecks: [checkLink(cloud, plan.healthCheck.name)],
  };
  await resources.targetPools.insert(pool);
  return pool;
}

const checkLink = ({ api, settings }: Cloud, name: string): string =>
  api.link(settings.project, 'global', 'httpHealthChecks', name);

/** Gives the pool the planned health check. A pool has at most one. */
async function changeCheck(cloud: Cloud, pool: TargetPool, wanted: string): Promise<void> {
  const { resources } = cloud;
  const name = pool.name ?? '';
  const current = pool.healthChecks ?? [];
  const others = current.filter((link) => nameIn(link) !== wanted);
  for (const healthCheck of others)
    await resources.targetPools.act(name, 'removeHealthCheck', { healthChecks: [{ healthCheck }] });
  if (others.length === current.length)
    await resources.targetPools.act(name, 'addHealthCheck', { healthChecks: [{ healthCheck: checkLink(cloud, wanted) }] });
}

/** Makes the pool, or brings it in line with the plan. One of another affinity must be gone by then. */
export async function ensurePool(
  cloud: Cloud,
  plan: ExternalPlan,
  there: TargetPool | undefined,
  hosts: readonly Host[],
): Promise<void> {
  if (there) await changeCheck(cloud, there, plan.healthCheck.name);
  await updatePool(cloud, there ?? (await createPool(cloud, plan, hosts)), hosts);
}
