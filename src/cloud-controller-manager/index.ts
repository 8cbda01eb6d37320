// The cloud-controller-manager: the four loops between a cluster and its cloud, over any provider.
export {
  type CloudControllerManagerDeps,
  type CloudControllerManagerOptions,
  runCloudControllerManager,
  type RunningCloudControllerManager,
} from './app.ts';
export { configurationOf } from './configz.ts';
export type { CloudControllerEntry } from './controller-entry.ts';
export { cloudControllers, type CloudControllersConfig } from './controllers.ts';
export { providerValuesOf, tableOfProvider, textFlagIn } from './provider-flags.ts';
export { cloudMetrics } from './metrics.ts';
export { beyondDocumented, delegationRole, documentedRole, leaderElectionRole, ownIdentityRole } from './rights.ts';
export { parseClusterCidrs } from './route/index.ts';
export {
  cloudControllerManagerFlags,
  type CloudControllerManagerFlags,
  configFromFlags,
  defaultCloudControllersConfig,
  featureGatesOf,
  webhookGate,
} from './flags.ts';
export { serveWebhooks, type WebhookHostOptions, webhookServingFlags } from './webhook/index.ts';
