// Flags of cloud-controller-manager with upstream's names and defaults (k8s.io/cloud-provider options; docs: cloud-controller-manager reference).
import {
  defaultLeaderElection,
  featureGateFlags,
  type FlagValues,
  flag,
  leaderElectionFlags,
  loggingFlags,
} from '#component-base';
import { type CloudControllersConfig, defaultCloudControllersConfig as config } from './controllers.ts';
import { parseClusterCidrs } from './route/index.ts';

const watchBasedGate = 'CloudControllerManagerWatchBasedRoutesReconciliation';

const text = (name: string, section: string, help: string, value = '') => flag.string({ name, default: value, help, section });
const duration = (name: string, section: string, value: number, help: string) =>
  flag.duration({ name, default: value, help, section });
const count = (name: string, section: string, value: number, help: string) => flag.int({ name, default: value, help, section });

const cloud = {
  cloudProvider: text('cloud-provider', 'Cloud provider', 'The provider: a built-in name, a path, or an npm package. Required.'),
  cloudConfig: text(
    'cloud-config',
    'Cloud provider',
    "Path of the provider's configuration. Providers are looked for from its folder.",
  ),
  clusterName: text('cluster-name', 'Generic', 'Prefix of what is made in the cloud.', config.clusterName),
  allowUntaggedCloud: flag.bool({
    name: 'allow-untagged-cloud',
    default: false,
    help: 'Run although resources in the cloud carry no cluster id.',
    section: 'Cloud provider',
    deprecated: 'a cluster id will be required on cloud instances',
  }),
};

const routes = {
  clusterCidr: flag.strings({ name: 'cluster-cidr', default: [], help: 'CIDRs of pods.', section: 'Route controller' }),
  allocateNodeCidrs: flag.bool({
    name: 'allocate-node-cidrs',
    default: false,
    help: 'Not done by this manager: kube-controller-manager gives nodes their ranges.',
    section: 'Route controller',
  }),
  configureCloudRoutes: flag.bool({
    name: 'configure-cloud-routes',
    default: config.configureCloudRoutes,
    help: 'Make routes to pods in the cloud.',
    section: 'Route controller',
  }),
  routeReconciliationPeriodMs: duration(
    'route-reconciliation-period',
    'Route controller',
    config.routeReconciliationPeriodMs,
    'Period of looking at routes.',
  ),
};

const loops = {
  nodeMonitorPeriodMs: duration(
    'node-monitor-period',
    'Node lifecycle',
    config.nodeMonitorPeriodMs,
    'Period of looking at nodes.',
  ),
  nodeStatusUpdateFrequencyMs: duration(
    'node-status-update-frequency',
    'Node controller',
    config.nodeStatusUpdateFrequencyMs,
    'How often the addresses of nodes are asked for.',
  ),
  concurrentNodeSyncs: count('concurrent-node-syncs', 'Node controller', config.concurrentNodeSyncs, 'Nodes in work at once.'),
  concurrentNodeStatusUpdates: count(
    'concurrent-node-status-updates',
    'Node controller',
    config.concurrentNodeStatusUpdates,
    'Nodes whose addresses are asked for at once; 0: as --concurrent-node-syncs.',
  ),
  concurrentServiceSyncs: count(
    'concurrent-service-syncs',
    'Service controller',
    config.concurrentServiceSyncs,
    'Services in work at once.',
  ),
  minResyncPeriodMs: duration('min-resync-period', 'Generic', config.minResyncPeriodMs, 'Shortest period of looking again.'),
  controllerStartIntervalMs: duration('controller-start-interval', 'Generic', 0, 'Time between the starts of two controllers.'),
  controllers: flag.strings({
    name: 'controllers',
    default: ['*'],
    help: "Controllers to enable: '*' all, 'foo' this one, '-foo' not this one; the first that matches decides.",
    section: 'Generic',
  }),
  useServiceAccountCredentials: flag.bool({
    name: 'use-service-account-credentials',
    default: false,
    help: 'Use an own identity for each controller.',
    section: 'Generic',
  }),
};

const serving = {
  kubeconfig: text('kubeconfig', 'Generic', 'Path to kubeconfig file with authorization and master location information.'),
  bindAddress: text('bind-address', 'Secure serving', 'Address of the own endpoints.', '0.0.0.0'),
  securePort: count('secure-port', 'Secure serving', 10_258, 'Port of the own endpoints; 0 serves none.'),
  tlsCertFile: text('tls-cert-file', 'Secure serving', 'Certificate of the own endpoints. Default: one made for this process.'),
  tlsPrivateKeyFile: text('tls-private-key-file', 'Secure serving', 'Key of --tls-cert-file.'),
  clientCaFile: text('client-ca-file', 'Authentication', 'Authority of client certificates for the own endpoints.'),
};

/** Accepted, so that upstream's command lines work; nothing here depends on them. */
const accepted = {
  kubeApiQps: flag.float({
    name: 'kube-api-qps',
    default: 20,
    help: 'Accepted; requests are not limited here.',
    section: 'Generic',
  }),
  kubeApiBurst: count('kube-api-burst', 'Generic', 30, 'Accepted; requests are not limited here.'),
  kubeApiContentType: text(
    'kube-api-content-type',
    'Generic',
    'Accepted; requests are JSON.',
    'application/vnd.kubernetes.protobuf',
  ),
  cidrAllocatorType: text('cidr-allocator-type', 'Route controller', 'Accepted; nodes get ranges elsewhere.', 'RangeAllocator'),
  profiling: flag.bool({ name: 'profiling', default: true, help: 'Accepted; there is no /debug/pprof.', section: 'Debugging' }),
  contentionProfiling: flag.bool({ name: 'contention-profiling', default: false, help: 'Accepted.', section: 'Debugging' }),
  nodeSyncPeriodMs: flag.duration({
    name: 'node-sync-period',
    default: 0,
    help: '',
    section: 'Node controller',
    deprecated: 'This flag is deprecated and has no current effect. It will be removed in a future release.',
  }),
  externalCloudVolumePlugin: flag.string({
    name: 'external-cloud-volume-plugin',
    default: '',
    help: '',
    section: 'Cloud provider',
    deprecated: 'This flag is deprecated and has no current effect.',
  }),
};

export const cloudControllerManagerFlags = {
  ...cloud,
  ...routes,
  ...loops,
  ...serving,
  ...accepted,
  ...leaderElectionFlags(defaultLeaderElection('cloud-controller-manager')),
  ...featureGateFlags([`${watchBasedGate}=true|false (ALPHA - default=false)`]),
  ...loggingFlags(),
};
export type CloudControllerManagerFlags = FlagValues<typeof cloudControllerManagerFlags>;

/** What the loops run with. Throws with upstream's text for values that cannot be. */
export function configFromFlags(flags: CloudControllerManagerFlags): CloudControllersConfig {
  if (flags.concurrentNodeSyncs <= 0) throw new Error('concurrent-node-syncs must be greater than 0');
  for (const gate of Object.keys(flags.featureGates))
    if (gate !== watchBasedGate) throw new Error(`invalid argument for "--feature-gates": unrecognized feature gate: ${gate}`);
  return {
    clusterName: flags.clusterName,
    clusterCidrs: parseClusterCidrs(flags.clusterCidr),
    configureCloudRoutes: flags.configureCloudRoutes,
    routeReconciliationPeriodMs: flags.routeReconciliationPeriodMs,
    watchBasedRoutes: flags.featureGates[watchBasedGate] ?? false,
    minResyncPeriodMs: flags.minResyncPeriodMs,
    nodeMonitorPeriodMs: flags.nodeMonitorPeriodMs,
    nodeStatusUpdateFrequencyMs: flags.nodeStatusUpdateFrequencyMs,
    concurrentNodeSyncs: flags.concurrentNodeSyncs,
    concurrentNodeStatusUpdates: flags.concurrentNodeStatusUpdates,
    concurrentServiceSyncs: flags.concurrentServiceSyncs,
  };
}
