// `sagong cloud-controller-manager`.
import {
  type CloudControllerManagerFlags,
  cloudControllerManagerFlags,
  configFromFlags,
  configurationOf,
  featureGatesOf,
  providerValuesOf,
  runCloudControllerManager,
  serveWebhooks,
  tableOfProvider,
  textFlagIn,
  webhookGate,
  webhookServingFlags,
} from '#cloud-controller-manager';
import {
  type CloudProvider,
  type CloudProviderDefinition,
  CloudProviderLoadError,
  findCloudProvider,
  loadCloudProvider,
} from '#cloud-provider';
import {
  createMetrics,
  type Command,
  command,
  FlagError,
  type FlagTable,
  leaderElectionOf,
  leaderMigrationOf,
  type Metrics,
  flagTexts,
} from '#component-base';
import { secureServingOptions } from '#component-base/serving';
import { Decisions } from '#controller-runtime';
import type { WireServer } from '#wire';
import {
  actingAs,
  clientFor,
  type ComponentDeps,
  componentDeps,
  managerEndpoints,
  processIdentity,
  serveOwnEndpoints,
  startAlone,
  untilStopped,
} from '../component.ts';

const component = 'cloud-controller-manager';

/** Providers that need no module of their own. */
const builtIn = {
  fake: async () => (await import('#cloud-provider/fake')).fakeCloudProvider as CloudProviderDefinition,
  local: async () => (await import('#cloud/provider')).localCloudProvider as CloudProviderDefinition,
};

/** Webhooks of the provider, behind their feature gate; served also while another process leads. */
async function webhooksOf(
  flags: CloudControllerManagerFlags,
  cloud: CloudProvider,
  metrics: Metrics,
  deps: ComponentDeps,
): Promise<WireServer | undefined> {
  const { webhooks } = cloud;
  if (!featureGatesOf(flags).enabled(webhookGate)) return undefined;
  if (flags.webhookSecurePort !== 0 && flags.webhookSecurePort === flags.securePort)
    throw new Error('--webhook-secure-port cannot be the same value as --secure-port');
  if (!webhooks) return undefined;
  const serving = await secureServingOptions(webhookServingFlags(flags), `${component}-webhook`, deps.clock);
  return serving && serveWebhooks({ webhooks, wanted: flags.webhooks, serving, metrics }, deps);
}

async function run(flags: CloudControllerManagerFlags): Promise<void> {
  const deps = componentDeps(component, flags);
  const metrics = createMetrics();
  const decisions = new Decisions();
  const config = configFromFlags(flags);
  const leaderMigration = leaderMigrationOf(flags);
  const wanted = { provider: flags.cloudProvider, configFile: flags.cloudConfig, builtIn };
  const definition = await findCloudProvider(wanted);
  const providerFlags = definition && providerValuesOf(definition, flags);
  const loaded = await loadCloudProvider(wanted, { ...deps, metrics, ...(providerFlags && { flags: providerFlags }) });
  if (!loaded) throw new Error('--cloud-provider cannot be empty');
  const { client, config: clientConfig } = clientFor(component, flags.kubeconfig, deps.clock, {
    master: flags.master,
    metrics,
  });
  const manager = startAlone(component, metrics, () =>
    runCloudControllerManager(
      {
        providerName: loaded.name,
        cloud: loaded.cloud,
        controllers: flags.controllers,
        config,
        leaderElection: leaderElectionOf(flags),
        leaderMigration,
        identity: processIdentity(deps.rng),
        controllerStartIntervalMs: flags.controllerStartIntervalMs,
        allowUntaggedCloud: flags.allowUntaggedCloud,
      },
      {
        ...deps,
        client,
        metrics,
        decisions,
        clientFor: flags.useServiceAccountCredentials ? actingAs(client, clientConfig, deps.clock) : undefined,
      },
    ),
  );
  const shown = { metrics, decisions, configz: configurationOf(flags), flags: flagTexts(cloudControllerManagerFlags, flags) };
  const endpoints = managerEndpoints(manager, flags, deps.logger, shown);
  const servers = [
    await webhooksOf(flags, loaded.cloud, metrics, deps),
    await serveOwnEndpoints(component, flags, endpoints, { ...deps, client }),
  ];
  await untilStopped(async () => {
    await manager.stop();
    for (const server of servers) await server?.close({ graceMs: 0 });
  }, manager.ended);
}

/** The provider's flags. Help is shown without a provider, too. */
async function providerFlagTable(argv: readonly string[]): Promise<FlagTable> {
  const provider = textFlagIn(argv, cloudControllerManagerFlags.cloudProvider.name);
  const configFile = textFlagIn(argv, cloudControllerManagerFlags.cloudConfig.name);
  try {
    const definition = await findCloudProvider({ provider, configFile, builtIn });
    return definition ? tableOfProvider(definition, cloudControllerManagerFlags) : {};
  } catch (error) {
    if (argv.includes('--help') || argv.includes('-h')) return {};
    if (error instanceof CloudProviderLoadError) throw new FlagError(error.message);
    throw error;
  }
}

export const cloudControllerManagerCommand = (): Command =>
  command({
    name: component,
    description: 'The Cloud controller manager is a daemon that embeds the cloud specific control loops shipped with Kubernetes.',
    upstream: true,
    flags: cloudControllerManagerFlags,
    moreFlags: providerFlagTable,
    run: ({ values }) => run(values),
  });
