// The parts of the provider put together: one account of Linode, one region, one cluster.
import type { CloudProvider, CreateContext } from 'sagong/cloud-provider';
import { createClusterWriter, createUnsettled, inTurn } from 'sagong/cloud-provider/kit';
import { createClient } from './api/client.ts';
import { linodeApi } from './api/linode.ts';
import type { Cloud } from './cloud.ts';
import { flagValuesOf } from './config/flags.ts';
import type { Config } from './config/schema.ts';
import { type Environment, settingsFrom, tokenSource } from './config/settings.ts';
import { privateTest } from './instances/addresses.ts';
import { createFinder } from './instances/finder.ts';
import { createInstances } from './instances/instances.ts';
import { nodeNotes } from './instances/node-notes.ts';
import { createLoadBalancers } from './load-balancer/load-balancers.ts';
import { unsettledMs } from './limits.ts';
import { clientName, component } from './names.ts';
import { createKnownNodes } from './routes/known-nodes.ts';
import { createRoutes } from './routes/routes.ts';
import { checkToken, watchToken } from './token-check.ts';
import { createVpcs } from './vpcs.ts';

/** Makes no call to the API yet. Rejects for settings and credentials that are missing or wrong. */
export async function createProvider(context: CreateContext<Config>, env: Environment): Promise<CloudProvider> {
  const { config, configDir, clock, logger, rng, metrics } = context;
  const flags = flagValuesOf(context.flags);
  const settings = settingsFrom(config, env);
  const { token, from } = await tokenSource({ config, configDir, env, clock });
  const { region, url, requestTimeoutMs: timeoutMs } = settings;
  logger.info('Linode cloud provider', { region, url, token: from });

  const client = createClient({ url, token, timeoutMs, clock, ...(rng && { rng }), ...(metrics && { metrics }) });
  const isPrivate = privateTest(settings.externalSubnet);
  const finder = createFinder({ client, clock, ttlMs: settings.instanceTtlMs, tagFilter: flags.tagFilter, isPrivate });
  const vpcs = createVpcs({ client, flags, clock, ttlMs: settings.routesTtlMs });
  const writer = createClusterWriter({ component, clock, logger });
  const nodes = createKnownNodes();
  const shared = {
    settings,
    flags,
    finder,
    vpcs,
    unsettled: createUnsettled(clock, unsettledMs),
    writer,
    client: writer.client,
    turn: inTurn(),
    clock,
    logger,
  };
  const open = (signal?: AbortSignal): Cloud => ({ ...shared, api: linodeApi(client, signal), ...(signal && { signal }) });
  return {
    async initialize({ client: clientOf, signal }) {
      writer.connect(clientOf(clientName));
      if (!flags.tokenChecker) return;
      await checkToken(linodeApi(client, signal), from);
      void watchToken(linodeApi(client, signal), { clock, logger, signal });
    },
    ...(flags.routeController && { setInformers: nodes.watch, routes: createRoutes({ client, finder, vpcs, nodes }) }),
    instancesV2: createInstances({ finder, vpcs, isPrivate }),
    loadBalancer: createLoadBalancers(open),
    controllers: [nodeNotes({ finder, isPrivate, ttlMs: settings.metadataTtlMs })],
    hasClusterId: () => true,
  };
}
