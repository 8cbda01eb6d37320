// Health checks: the legacy kind of target pools, and the common kind of backend services. Settings that somebody made slower are left so.
import { fineIfAbsent, undefinedIfAbsent } from 'sagong/cloud-provider/kit';
import { isInUse } from '../api/errors.ts';
import type { Collection } from '../api/compute.ts';
import type { HealthCheck, HttpHealthCheck } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import type { Host } from '../instances/hosts.ts';
import { healthyThreshold, intervalSeconds, timeoutSeconds, unhealthyThreshold } from '../limits.ts';
import {
  clusterDescription,
  externalHealthFirewall,
  firewallDescription,
  healthCheckDescription,
  internalHealthFirewall,
  nodesHealthCheck,
  serviceDescription,
} from '../names.ts';
import { ensureResource } from './ensure-resource.ts';
import { deleteFirewall, ensureHealthFirewall } from './firewalls.ts';
import type { BalancerPlan, HealthCheckPlan } from './plan.ts';

const pace = {
  checkIntervalSec: intervalSeconds,
  timeoutSec: timeoutSeconds,
  healthyThreshold,
  unhealthyThreshold,
};
type Paced = Partial<typeof pace>;
const paceKeys = Object.keys(pace) as (keyof typeof pace)[];

/** The wanted pace, but no faster than what is there. */
const slowerOf = <T extends Paced>(there: Paced, wanted: T): T => ({
  ...wanted,
  ...Object.fromEntries(paceKeys.map((key) => [key, Math.max(there[key] ?? 0, wanted[key] ?? 0)])),
});
const isFaster = (there: Paced): boolean => paceKeys.some((key) => (there[key] ?? 0) < pace[key]);

export const legacyCheck = ({ name, path, port }: HealthCheckPlan): HttpHealthCheck => ({
  name,
  description: healthCheckDescription(name),
  port,
  requestPath: path,
  ...pace,
});
export const legacyChange = (there: HttpHealthCheck, wanted: HttpHealthCheck): HttpHealthCheck | undefined => {
  const { port, requestPath, description } = wanted;
  const same = there.port === port && there.requestPath === requestPath && there.description === description;
  return same && !isFaster(there) ? undefined : slowerOf(there, wanted);
};

export const commonCheck = ({ service, healthCheck: { name, path, port, shared } }: BalancerPlan): HealthCheck => ({
  name,
  type: 'HTTP',
  description: shared ? '' : serviceDescription(service),
  httpHealthCheck: { port, requestPath: path },
  ...pace,
});
export const commonChange = (there: HealthCheck, wanted: HealthCheck): HealthCheck | undefined => {
  const same =
    there.httpHealthCheck?.port === wanted.httpHealthCheck?.port &&
    there.httpHealthCheck?.requestPath === wanted.httpHealthCheck?.requestPath &&
    (there.description ?? '') === wanted.description;
  return same && !isFaster(there) ? undefined : slowerOf(there, wanted);
};

/** Work on a health check that load balancers share goes one after the other, so that none is deleted while another one is about to use it. */
const turnOf = (kind: string, { name, shared }: Pick<HealthCheckPlan, 'name' | 'shared'>): string =>
  `${kind} health check ${name}${shared ? '' : ' of its own'}`;

/** The firewall rule that lets in the health checks of a target pool. */
export function ensureExternalCheckFirewall(
  cloud: Cloud,
  plan: BalancerPlan,
  address: string,
  hosts: readonly Host[],
): Promise<void> {
  const { healthCheck, clusterId, service } = plan;
  const description = healthCheck.shared ? clusterDescription(clusterId) : firewallDescription(service, address);
  return ensureHealthFirewall(cloud, plan, { name: externalHealthFirewall(healthCheck.name, clusterId), description }, hosts);
}

/** The health check of a target pool, with the firewall rule that lets it in. */
export const ensureExternalCheck = (cloud: Cloud, plan: BalancerPlan, address: string, hosts: readonly Host[]): Promise<void> =>
  cloud.turn(
    turnOf('external', plan.healthCheck),
    async () => {
      await ensureExternalCheckFirewall(cloud, plan, address, hosts);
      const wanted = legacyCheck(plan.healthCheck);
      await ensureResource(cloud.resources.httpHealthChecks, wanted, (there) => legacyChange(there, wanted));
    },
    cloud.signal,
  );

/** The health check of a backend service. Its firewall rule comes later, by `ensureInternalCheckFirewall`. */
export const ensureInternalCheck = (cloud: Cloud, plan: BalancerPlan): Promise<void> =>
  cloud.turn(
    turnOf('internal', plan.healthCheck),
    async () => {
      const wanted = commonCheck(plan);
      await ensureResource(cloud.resources.healthChecks, wanted, (there) => commonChange(there, wanted));
    },
    cloud.signal,
  );
export const ensureInternalCheckFirewall = (cloud: Cloud, plan: BalancerPlan, hosts: readonly Host[]): Promise<void> =>
  ensureHealthFirewall(cloud, plan, { name: internalHealthFirewall(plan.healthCheck.name), description: '' }, hosts);

/**
 * Deletes a health check and its firewall rule, unless another load balancer uses it. The rule of one that no other can use goes first: after a failure the
 * check is still there to remember it.
 */
async function deleteCheck(
  cloud: Cloud,
  { service }: Pick<BalancerPlan, 'service'>,
  checks: Collection<never>,
  { name, shared }: Pick<HealthCheckPlan, 'name' | 'shared'>,
  rule: string,
) {
  if (!shared) await deleteFirewall(cloud, service, rule);
  try {
    await checks.delete(name).catch(fineIfAbsent);
  } catch (error) {
    if (isInUse(error)) return;
    throw error;
  }
  if (shared) await deleteFirewall(cloud, service, rule);
}

/** The check of all nodes, where an earlier attempt deleted it and left its firewall rule: nothing that the load balancer shows tells of that. */
export async function leftSharedCheck(
  { resources }: Cloud,
  { healthCheck, clusterId }: BalancerPlan,
  checks: Pick<Collection<unknown>, 'get'>,
  ruleOf: (check: string) => string,
): Promise<string[]> {
  if (healthCheck.shared) return [];
  const name = nodesHealthCheck(clusterId);
  if (!(await resources.firewalls.get(ruleOf(name)).catch(undefinedIfAbsent))) return [];
  return (await checks.get(name).catch(undefinedIfAbsent)) ? [] : [name];
}

type Owned = Pick<BalancerPlan, 'service' | 'clusterId'>;
export const deleteExternalCheck = (cloud: Cloud, plan: Owned, check: Pick<HealthCheckPlan, 'name' | 'shared'>): Promise<void> =>
  cloud.turn(turnOf('external', check), () => {
    const rule = externalHealthFirewall(check.name, plan.clusterId);
    return deleteCheck(cloud, plan, cloud.resources.httpHealthChecks as Collection<never>, check, rule);
  });
export const deleteInternalCheck = (cloud: Cloud, plan: Owned, check: Pick<HealthCheckPlan, 'name' | 'shared'>): Promise<void> =>
  cloud.turn(turnOf('internal', check), () => {
    const rule = internalHealthFirewall(check.name);
    return deleteCheck(cloud, plan, cloud.resources.healthChecks as Collection<never>, check, rule);
  });
