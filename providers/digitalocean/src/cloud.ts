// The parts of the provider put together: one account of DigitalOcean, one cluster.
import type { Clock, CloudClient, CloudProvider, Logger, ProviderMetrics, Rng } from 'sagong/cloud-provider';
import { callMetrics, type CallObserver, loadBalancerServices } from 'sagong/cloud-provider/kit';
import { loadBalancerWebhook } from './admission.ts';
import { type ApiOptions, connectApi } from './api/client.ts';
import type { Settings } from './config.ts';
import { providerName } from './droplets.ts';
import { createInstances } from './instances.ts';
import { createLoadBalancers } from './load-balancer/load-balancers.ts';
import { createFirewallController, type FirewallController, watchServices } from './public-firewall/controller.ts';
import { type FirewallMetrics, firewallMetrics } from './public-firewall/metrics.ts';
import { regionSource } from './region.ts';
import { createServiceWriter } from './service-writer.ts';
import { runTagSync } from './tag-sync.ts';

/** The name the provider acts under in the cluster; upstream's. */
export const clientName = 'do-shared-informers';

export interface CloudDeps {
  clock: Clock;
  logger: Logger;
  rng?: Rng;
  metrics?: ProviderMetrics;
}

/** Notes each call under the names that all providers have, and those of the firewall under upstream's too. */
function observerOf(metrics: ProviderMetrics | undefined, ofFirewall: FirewallMetrics | undefined): CallObserver {
  const all = callMetrics({ metrics, vendor: providerName });
  return {
    ended(call, durationMs, failure) {
      all.ended(call, durationMs, failure);
      ofFirewall?.ended(call, durationMs, failure);
    },
  };
}

/** Makes no call to the API yet. Rejects when the SDK cannot be loaded. */
export async function createCloud(settings: Settings, deps: CloudDeps): Promise<CloudProvider> {
  const { clock, logger, rng } = deps;
  const { accessToken, apiUrl, requestsPerSecond, clusterId, vpcId, defaultType, firewall } = settings;
  const metrics = deps.metrics && firewall ? firewallMetrics(deps.metrics) : undefined;
  const observer = observerOf(deps.metrics, metrics);
  const shared: ApiOptions = { accessToken, apiUrl, clock, observer, ...(rng && { rng }) };
  const api = await connectApi({ ...shared, ...(requestsPerSecond !== undefined && { requestsPerSecond }) });
  // Whoever writes a Service waits for the webhook: it does not wait with the loops while the API wants to be left alone.
  const urgentApi = await connectApi({ ...shared, isUrgent: true });
  const region = regionSource(api, settings);
  const writer = createServiceWriter(deps);
  let firewallController: FirewallController | undefined;
  let client: CloudClient | undefined;
  const services = () => loadBalancerServices(client);

  const startLoops = (client: CloudClient, signal: AbortSignal): void => {
    if (clusterId !== '') void runTagSync({ api, client, clusterId, clock, logger, signal });
    if (!firewall) return;
    firewallController = createFirewallController({ api, client, ...firewall, defaultType, clock, logger, metrics, signal });
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
    webhooks: { 'lb-service': loadBalancerWebhook({ api: urgentApi, region, clusterId, vpcId, defaultType }) },
    hasClusterId: () => clusterId !== '',
  };
}
