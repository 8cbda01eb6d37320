// The parts of the provider put together: one account of Baidu AI Cloud, one region, one cluster.
import type { CloudProvider, CreateContext } from 'sagong/cloud-provider';
import { createClusterWriter, inTurn } from 'sagong/cloud-provider/kit';
import { baiduApi } from './api/baidu.ts';
import { createClient } from './api/client.ts';
import type { Cloud } from './cloud.ts';
import type { Config } from './config/schema.ts';
import { credentialsFrom, type Environment, settingsFrom } from './config/settings.ts';
import { createFinder } from './instances/finder.ts';
import { createInstances } from './instances/instances.ts';
import { requestTimeoutMs as timeoutMs } from './limits.ts';
import { createLoadBalancers } from './load-balancer/load-balancers.ts';
import { createUnsettled } from './load-balancer/unsettled.ts';
import { component, providerName } from './names.ts';
import { createKnownNodes } from './routes/known-nodes.ts';
import { createRoutes } from './routes/routes.ts';

/** Makes no call to the API yet. Rejects for settings and credentials that are missing or wrong. */
export async function createProvider(context: CreateContext<Config>, env: Environment): Promise<CloudProvider> {
  const { config, configDir, clock, logger, rng, metrics } = context;
  const settings = settingsFrom(config, env);
  const { clusterId, region, endpoints, vpcId, masterId } = settings;
  const { credentials, from } = await credentialsFrom({ config, configDir, env, clock });
  logger.info('Baidu AI Cloud provider', { region, cluster: clusterId, credentials: from });

  const userAgent = `cce-k8s:${clusterId}`;
  const shared = { clock, ...(rng && { rng }), ...(metrics && { metrics }) };
  const client = createClient({ endpoints, credentials, userAgent, timeoutMs, ...shared });
  const finder = createFinder({ client, clock, vpcId, masterId });
  const writer = createClusterWriter({ component, clock, logger });
  const nodes = createKnownNodes();
  const unsettled = createUnsettled(clock);
  const turn = inTurn();
  const open = (signal?: AbortSignal): Cloud => ({
    api: baiduApi(client, signal),
    settings,
    finder,
    unsettled,
    writer,
    turn,
    clock,
    logger,
    ...(signal && { signal }),
  });
  return {
    initialize: ({ client: clientOf }) => writer.connect(clientOf(providerName)),
    instancesV2: createInstances({ finder, region }),
    loadBalancer: createLoadBalancers(open),
    setInformers: nodes.watch,
    routes: createRoutes({ client, clusterId, finder, nodes, writer, logger }),
    hasClusterId: () => true,
  };
}
