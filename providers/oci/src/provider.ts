// The parts of the provider put together: one compartment of OCI, one region, one cluster.
import type { CloudProvider, CreateContext } from 'sagong/cloud-provider';
import { createClusterWriter, createUnsettled, inTurn } from 'sagong/cloud-provider/kit';
import { balancerApi } from './api/balancers.ts';
import { createClient } from './api/client.ts';
import { coreApi } from './api/core.ts';
import type { Cloud } from './cloud.ts';
import type { Config } from './config/schema.ts';
import { checkConfig, type Environment, settingsOf } from './config/settings.ts';
import { credentialsOf } from './credentials/credentials.ts';
import { ownPlace } from './credentials/metadata.ts';
import { createFinder } from './instances/finder.ts';
import { createInstances } from './instances/instances.ts';
import { createClaims } from './load-balancer/claims.ts';
import { createLoadBalancers } from './load-balancer/load-balancers.ts';
import { unsettledMs } from './limits.ts';
import { clientName, component } from './names.ts';
import { createSubnets } from './subnets.ts';

/** Asks the metadata service for what the configuration leaves out; makes no call to the API yet. Rejects for what is missing or wrong. */
export async function createProvider(context: CreateContext<Config>, env: Environment): Promise<CloudProvider> {
  const { config, configDir, clock, logger, rng, metrics } = context;
  checkConfig(config);
  const credentials = credentialsOf(config, { configDir, env, clock });
  const settings = await settingsOf(config, env, () => ownPlace(env), credentials.region);
  const { region, compartment, endpoint, rates } = settings;
  logger.info('OCI cloud provider', { region, compartment, credentials: credentials.from, ...(endpoint && { endpoint }) });

  const client = createClient({
    credentials: credentials.provider,
    region,
    ...(endpoint && { endpoint }),
    rates,
    clock,
    ...(rng && { rng }),
    ...(metrics && { metrics }),
  });
  const subnets = createSubnets(client, clock);
  const finder = createFinder({ client, settings, subnets, clock });
  const writer = createClusterWriter({ component, clock, logger });
  const shared = {
    settings,
    subnets,
    finder,
    claims: createClaims(),
    unsettled: createUnsettled(clock, unsettledMs),
    writer,
    client: writer.client,
    turn: inTurn(),
    clock,
    logger,
  };
  const open = (signal?: AbortSignal): Cloud => ({
    ...shared,
    core: coreApi(client, signal),
    balancers: (kind) => balancerApi(client, kind, signal),
    ...(signal && { signal }),
  });
  return {
    initialize: ({ client: clientOf }) => writer.connect(clientOf(clientName)),
    instancesV2: createInstances({ client, finder, settings }),
    ...(settings.loadBalancer && { loadBalancer: createLoadBalancers(open) }),
    hasClusterId: () => true,
  };
}
