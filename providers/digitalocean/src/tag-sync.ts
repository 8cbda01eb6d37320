// Keeps the tag of the cluster on its load balancers: new ones are made with it, but a person, or an older manager, may have left it out.
import type { Clock, CloudClient, Logger } from 'sagong/cloud-provider';
import { during, loadBalancerServices, textOf } from 'sagong/cloud-provider/kit';
import type { DigitalOceanApi } from './api/client.ts';
import { tagSyncPeriodMs } from './limits.ts';
import { idOf } from './load-balancer/load-balancers.ts';
import { clusterTag } from './load-balancer/request.ts';

export interface TagSyncDeps {
  api: DigitalOceanApi;
  client: CloudClient;
  clusterId: string;
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
}

/** Puts the tag on the load balancers of all Services, once. */
export async function syncTags({ api, client, clusterId, signal }: Omit<TagSyncDeps, 'clock' | 'logger'>): Promise<void> {
  const services = await loadBalancerServices(client);
  if (services.length === 0) return;
  const all = await api.loadBalancers(signal).catch((error: unknown) => {
    return during('failed to list load-balancers')(error);
  });
  const ids = services.flatMap((service) => idOf(service, all) ?? []);
  if (ids.length === 0) return;
  const tag = clusterTag(clusterId);
  try {
    if (await api.tagLoadBalancers(tag, ids, signal)) return;
    await api.createTag(tag, signal);
    if (!(await api.tagLoadBalancers(tag, ids, signal))) throw new Error(`tag "${tag}" does not exist`);
  } catch (error) {
    return during(`failed to tag LB resource(s) ${ids.join(', ')} with tag "${tag}"`)(error);
  }
}

/** At once and then every 15 minutes, until the signal. Failures are logged and left to the next round. */
export async function runTagSync(deps: TagSyncDeps): Promise<void> {
  const { clock, logger, signal } = deps;
  while (!signal.aborted) {
    await syncTags(deps).catch((error: unknown) => {
      if (!signal.aborted) logger.error('tags syncer failed', { error: textOf(error) });
    });
    await clock.sleep(tagSyncPeriodMs, signal).catch(() => {});
  }
}
