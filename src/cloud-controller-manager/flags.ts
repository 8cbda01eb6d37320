// Flags of cloud-controller-manager with upstream's names and defaults (k8s.io/cloud-provider options; docs: cloud-controller-manager reference).
import {
  createFeatureGates,
  defaultsOf,
  featureGateFlags,
  type FeatureGates,
  type FlagValues,
  flag,
  knownFeatures,
  libraryFeatures,
  loggingFlags,
} from '#component-base';
import { delegatedAuthFlags, secureServingFlags } from '#component-base/serving';
import { genericManagerFlags, kubeCloudSharedFlags } from '#controller-runtime/manager';
import { cloudControllerNames, type CloudControllersConfig } from './controllers.ts';
import { parseClusterCidrs } from './route/index.ts';
import { webhookFlags } from './webhook/flags.ts';

const watchBasedGate = 'CloudControllerManagerWatchBasedRoutesReconciliation';
/** Serves admission webhooks of the provider (KEP-2699). */
export const webhookGate = 'CloudControllerManagerWebhook';
const gates = [watchBasedGate, webhookGate];

/** `--feature-gates`: every gate that upstream knows is accepted, those in the help do something. Throws for others. */
export function featureGatesOf({ featureGates }: Pick<CloudControllerManagerFlags, 'featureGates'>): FeatureGates {
  const known = createFeatureGates({ ...knownFeatures, ...libraryFeatures });
  try {
    known.set(new Map(Object.entries(featureGates)));
  } catch (error) {
    throw new Error(`invalid argument for "--feature-gates": ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  return known;
}

const loops = {
  nodeStatusUpdateFrequencyMs: flag.duration({
    name: 'node-status-update-frequency',
    default: 300_000,
    help: 'How often the addresses of nodes are asked for.',
    section: 'Misc',
  }),
  concurrentNodeSyncs: flag.int({
    name: 'concurrent-node-syncs',
    default: 1,
    help: 'Nodes in work at once.',
    section: 'Node controller',
  }),
  concurrentNodeStatusUpdates: flag.int({
    name: 'concurrent-node-status-updates',
    default: 0,
    help: 'Nodes whose addresses are asked for at once; 0: as --concurrent-node-syncs.',
    section: 'Node controller',
  }),
  concurrentServiceSyncs: flag.int({
    name: 'concurrent-service-syncs',
    default: 1,
    help: 'Services in work at once.',
    section: 'Service controller',
  }),
};

const shared = kubeCloudSharedFlags();

export const cloudControllerManagerFlags = {
  ...shared,
  cloudProvider: {
    ...shared.cloudProvider,
    help: 'The provider: a built-in name, a path, or an npm package. Required.',
  },
  cloudConfig: {
    ...shared.cloudConfig,
    help: "Path of the provider's configuration. Providers are looked for from its folder.",
  },
  cidrAllocatorType: { ...shared.cidrAllocatorType, noEffect: 'kube-controller-manager gives nodes their ranges' },
  allocateNodeCidrs: {
    ...shared.allocateNodeCidrs,
    noEffect: 'kube-controller-manager gives nodes their ranges; use --configure-cloud-routes for routes to them',
  },
  ...genericManagerFlags('cloud-controller-manager', cloudControllerNames),
  ...loops,
  ...secureServingFlags({ port: 10_258 }),
  ...delegatedAuthFlags({ tolerateLookupFailure: false }),
  ...webhookFlags(),
  ...featureGateFlags(gates.map((gate) => `${gate}=true|false (ALPHA - default=false)`)),
  ...loggingFlags(),
};
export type CloudControllerManagerFlags = FlagValues<typeof cloudControllerManagerFlags>;

/** What the loops run with. Throws with upstream's text for values that cannot be. */
export function configFromFlags(flags: CloudControllerManagerFlags): CloudControllersConfig {
  if (flags.concurrentNodeSyncs <= 0) throw new Error('concurrent-node-syncs must be greater than 0');
  const features = featureGatesOf(flags);
  return {
    clusterName: flags.clusterName,
    clusterCidrs: parseClusterCidrs(flags.clusterCidr),
    configureCloudRoutes: flags.configureCloudRoutes,
    routeReconciliationPeriodMs: flags.routeReconciliationPeriodMs,
    watchBasedRoutes: features.enabled(watchBasedGate),
    minResyncPeriodMs: flags.minResyncPeriodMs,
    nodeMonitorPeriodMs: flags.nodeMonitorPeriodMs,
    nodeStatusUpdateFrequencyMs: flags.nodeStatusUpdateFrequencyMs,
    concurrentNodeSyncs: flags.concurrentNodeSyncs,
    concurrentNodeStatusUpdates: flags.concurrentNodeStatusUpdates,
    concurrentServiceSyncs: flags.concurrentServiceSyncs,
  };
}

/** What the loops run with where no flag is given. */
export const defaultCloudControllersConfig = (): CloudControllersConfig =>
  configFromFlags(defaultsOf(cloudControllerManagerFlags));
