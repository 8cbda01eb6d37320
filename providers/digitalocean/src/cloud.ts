// The parts of the provider put together: one account of DigitalOcean, one cluster.
import type { Clock, CloudClient, CloudProvider, Logger } from 'sagong/cloud-provider';
import { loadBalancerServices } from 'sagong/cloud-provider/kit';
import { loadBalancerWebhook } from './admission.ts';
import { connectApi } from './api/client.ts';
import type { Settings } from './config.ts';
import { createInstances } from './instances.ts';
import { createLoadBalancers } from './load-balancer/load-balancers.ts';
import { createFirewallController, type FirewallController, watchServices } from './public-firewall/controller.ts';
import { regionSource } from './region.ts';
import { createServiceWriter } from './service-writer.ts';
import { runTagSync } from './tag-sync.ts';

/** The name the provider acts under in the cluster; upstream's. */
export const clientName = 'do-shared-informers';

/** Makes no call to the API yet. Rejects when the SDK cannot be loaded. */
export async function createCloud(settings: Settings, deps: { clock: Clock; logger: Logger }): Promise<CloudProvider> {
  const { clock, logger } = deps;
  const { accessToken, apiUrl, requestsPerSecond, clusterId, vpcId, defaultType, firewall } = settings;
  const api = await connectApi({ accessToken, apiUrl, clock, ...(requestsPerSecond !== undefined && { requestsPerSecond }) });
  const region = regionSource(api, settings);
  const writer = createServiceWriter(deps);
  let firewallController: FirewallController | undefined;
  let client: CloudClient | undefined;
  const services = () => loadBalancerServices(client);

  const startLoops = (client: CloudClient, signal: AbortSignal): void => {
    if (clusterId !== '') void runTagSync({ api, client, clusterId, clock, logger, signal });
    if (!firewall) return;
    firewallController = createFirewallController({ api, client, ...firewall, defaultType, clock, logger, signal });
    void firewallController.run();
  };
  return {
    async initialize({ client: clientOf, signal }) {
      client = clientOf(clientName);
      writer.connect(client);
      logger.info('region of load balancers', { region: await region(signal) });
      startLoops(client, signal);
    },
    setInformers(informers) {
      if (firewallController) watchServices(informers, firewallController, defaultType);
    },
    instancesV2: createInstances(api),
    loadBalancer: createLoadBalancers({ api, writer, services, region, clusterId, vpcId, defaultType, logger }),
    webhooks: { 'lb-service': loadBalancerWebhook({ api, region, clusterId, vpcId, defaultType }) },
    hasClusterId: () => clusterId !== '',
  };
}
