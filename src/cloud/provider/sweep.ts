// Collects load balancers of the cluster whose Service is gone: made while the cloud showed things late, or left by a manager that died.
import type { InitializeContext, Service } from '#cloud-provider';
import { listAll } from '../client/index.ts';
import type { ProviderContext } from './account.ts';
import { clusterTag, serviceNameTag, serviceUidTag } from './annotations.ts';
import { orMissing } from './errors.ts';
import { sweepPeriodMs } from './limits.ts';

/** Removes what belongs to none of the Services; gives its ids. Load balancers are listed first: those made meanwhile have their Service in the list. */
export async function sweep(
  { api, config, logger }: ProviderContext,
  services: () => Promise<readonly Service[]>,
): Promise<string[]> {
  const tags = { [clusterTag(config.clusterId)]: 'owned' };
  const balancers = await listAll((page) => api.listLoadBalancers({ tags, ...page }));
  const owned = balancers.filter((balancer) => balancer.tags[serviceUidTag] !== undefined);
  if (owned.length === 0) return [];
  const uids = new Set((await services()).map(({ metadata }) => metadata.uid));
  const orphans = owned.filter((balancer) => !uids.has(balancer.tags[serviceUidTag]));
  for (const { id, tags: known } of orphans) {
    logger.warn('removing a load balancer whose Service is gone', { loadBalancer: id, service: known[serviceNameTag] });
    await orMissing(api.deleteLoadBalancer({ loadBalancerId: id }));
  }
  return orphans.map(({ id }) => id);
}

/** Sweeps now and from time to time, until the manager stops. Failures are logged. */
export function startSweeps(context: ProviderContext, { client, signal }: InitializeContext): void {
  // The service controller's rights are those that are needed.
  const services = client('service-controller').resource<Service>({ group: '', version: 'v1', resource: 'services' });
  const listed = async (): Promise<readonly Service[]> => (await services.list()).items;
  const round = async (): Promise<void> => {
    while (!signal.aborted) {
      await sweep(context, listed).catch((error: unknown) =>
        context.logger.warn('looking for left load balancers failed', { error }),
      );
      await context.clock.sleep(sweepPeriodMs, signal).catch(() => {});
    }
  };
  void round();
}
