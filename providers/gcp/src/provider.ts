// The parts of the provider put together: one project of Google Cloud, one cluster.
import type { CloudProvider, CreateContext } from 'sagong/cloud-provider';
import { createClusterWriter, inTurn } from 'sagong/cloud-provider/kit';
import { createComputeApi, type TokenSource } from './api/compute.ts';
import type { Cloud } from './cloud.ts';
import { clusterIdSource } from './cluster-id.ts';
import { flagValuesOf } from './config/flags.ts';
import type { GceConfig } from './config/schema.ts';
import { createMetadata } from './credentials/metadata.ts';
import { alternateTokens, defaultTokens } from './credentials/tokens.ts';
import { createInstanceFinder } from './instances/finder.ts';
import { createHosts } from './instances/hosts.ts';
import { createInstances } from './instances/instances.ts';
import { createZones } from './instances/zones.ts';
import { createGroupMembers } from './load-balancer/instance-groups.ts';
import { createLoadBalancers } from './load-balancer/load-balancers.ts';
import { resourcesOf } from './resources.ts';
import { createRoutes } from './routes.ts';
import { endpointOf, settingsOf } from './settings.ts';
import { createSubnetworks } from './subnetworks.ts';

/** Under which the provider acts in the cluster and tells events; upstream's. */
const clientName = 'cloud-provider';
const component = 'gce-cloudprovider';
const ownUniverse = 'googleapis.com';

export interface ProviderDeps {
  /** In the place of the credentials that Google's library finds. */
  tokens?: TokenSource;
  env?: Readonly<Record<string, string | undefined>>;
}

type Context = CreateContext<GceConfig>;

function tokensOf({ config, clock, metrics }: Context, given: TokenSource | undefined): TokenSource {
  const own = given ?? defaultTokens();
  const url = config['token-url'];
  if (url === undefined || url === 'nil') return own;
  return alternateTokens({ url, body: config['token-body'] ?? '', own, clock, ...(metrics && { metrics }) });
}

/** The universe whose API is asked: that of the credentials, which may be another than Google's own. */
const universeOf = async (config: GceConfig, given: TokenSource | undefined): Promise<string> =>
  given || config['api-endpoint'] || config['token-url'] ? ownUniverse : defaultTokens().universe();

/** Asks the metadata service for what the configuration leaves out. */
export async function createProvider(context: Context, deps: ProviderDeps = {}): Promise<CloudProvider> {
  const { config, clock, logger, rng, metrics } = context;
  const flags = flagValuesOf(context.flags);
  const endpoint = endpointOf(config, await universeOf(config, deps.tokens));
  const tokens = tokensOf(context, deps.tokens);
  const api = createComputeApi({ endpoint, tokens, clock, ...(rng && { rng }), ...(metrics && { metrics }) });
  const settings = await settingsOf(config, api, createMetadata(clock, deps.env ?? process.env));
  const { project, region, zone, network } = settings;
  logger.info('GCE cloud provider', { project, region, zone, network, endpoint });

  const zones = createZones(api, settings, clock);
  const finder = createInstanceFinder(api, settings, zones, { trustProject: flags.multiProject });
  const writer = createClusterWriter({ component, clock, logger });
  const shared = {
    api,
    settings,
    flags,
    clusterId: clusterIdSource(writer.client),
    zones,
    hosts: createHosts({ api, settings, zones, clock, logger }),
    groupMembers: createGroupMembers(api, settings, clock),
    subnetworks: createSubnetworks(api, settings, { clock, logger }),
    writer,
    turn: inTurn(),
    clock,
    logger,
  };
  const open = (signal?: AbortSignal): Cloud => ({
    ...shared,
    resources: resourcesOf(api, settings, signal),
    ...(signal && { signal }),
  });
  return {
    initialize: ({ client }) => writer.connect(client(clientName)),
    instancesV2: createInstances(finder, settings),
    loadBalancer: createLoadBalancers(open),
    routes: createRoutes(api, settings, finder),
    hasClusterId: () => true,
  };
}
