// Puts the parts together: one set of clients, finders shared by all calls, and the manager's cache of Nodes.
import type { CloudProvider, CreateContext, Node } from 'sagong/cloud-provider';
import { systemRng } from 'sagong/cloud-provider/kit';
import { createClients } from './clients.ts';
import { type Cloud, inTurn } from './cloud.ts';
import { checkConfig } from './config/config.ts';
import { endpointOf } from './config/overrides.ts';
import type { AwsConfig } from './config/schema.ts';
import { identityOf, regionOf } from './identity.ts';
import { createBackendInstances } from './instances/backends.ts';
import { createInstanceFinder, type KnownNodes } from './instances/finder.ts';
import { olderInterfaces } from './instances/instances-v1.ts';
import { instancesV2 } from './instances/instances-v2.ts';
import { createTopology } from './instances/topology.ts';
import { createZoneDetails } from './instances/zones.ts';
import { loadBalancer } from './load-balancer/load-balancer.ts';
import { allTargetGroups } from './load-balancer/network/target-groups.ts';
import { metadataService } from './metadata.ts';
import { apiMetrics } from './metrics.ts';
import { routes } from './routes/routes.ts';
import { createNetwork } from './subnets/network.ts';
import { taggingController } from './tagging/controller.ts';
import { taggingOptionsOf } from './tagging/options.ts';

const noNodes: KnownNodes = { get: () => undefined, list: () => [] };

/**
 * Asks AWS nothing when the configuration says where the cluster lives (region, VPC, subnet or role, cluster id); else the metadata service and
 * EC2 are asked about the instance this runs on.
 */
export async function createProvider(context: CreateContext<AwsConfig>): Promise<CloudProvider> {
  const { config, clock, rng = systemRng(), logger } = context;
  checkConfig(config);
  const metadata = metadataService(endpointOf(config, 'ec2imds').endpoint);
  const region = await regionOf(config, metadata);
  const clients = createClients(config, region, { clock, rng, metrics: apiMetrics(context.metrics, clock) });
  const api = clients.api();
  const identity = await identityOf(config, region, metadata, api);
  logger.info('AWS cloud provider', { region, vpc: identity.vpcId, cluster: identity.cluster.id });

  let nodes = noNodes;
  const shared = {
    config,
    identity,
    clock,
    logger,
    instances: createInstanceFinder(api, identity.cluster, clock, () => nodes),
    backends: createBackendInstances(api, identity.cluster, clock, logger),
    zones: createZoneDetails(api),
    network: createNetwork({ api: clients.api, vpcId: identity.vpcId, clock }),
    targetGroups: allTargetGroups(clients.api, clock),
    nodeRules: inTurn(),
  };
  const during = (signal?: AbortSignal): Cloud => ({ ...shared, api: clients.api(signal), ...(signal && { signal }) });
  const pattern = config.Global.SupportedTopologyInstanceTypePattern;
  const machines = instancesV2(during, createTopology(api, { region, pattern, clock, logger }));
  return {
    initialize({ signal }) {
      signal.addEventListener('abort', () => clients.destroy(), { once: true });
    },
    setInformers(informers) {
      const { lister } = informers.informer<Node>({ group: '', version: 'v1', resource: 'nodes' });
      nodes = { get: (name) => lister.get('', name), list: () => lister.list() };
    },
    instancesV2: machines,
    ...olderInterfaces(machines),
    loadBalancer: loadBalancer(during),
    routes: routes(during),
    controllers: [taggingController(taggingOptionsOf(context.flags), { api, clock, logger, metrics: context.metrics })],
    hasClusterId: () => identity.cluster.id !== '',
  };
}
