// Flags that kube-controller-manager and cloud-controller-manager share (k8s.io/controller-manager/options, k8s.io/cloud-provider/options
// KubeCloudSharedOptions), with upstream's names and defaults, and what /configz shows of them.
import {
  defaultLeaderElection,
  defaultLeaderMigration,
  flag,
  type FlagValues,
  type LeaderElectionConfiguration,
  leaderElectionFlags,
  leaderMigrationFlags,
  leaderMigrationOf,
} from '#component-base';
import { formatDurationMs } from '#apimachinery/duration';
import { nodeMonitorPeriodMs } from '../limits.ts';

const generic = 'Generic';

const connection = () => ({
  kubeconfig: flag.string({
    name: 'kubeconfig',
    default: '',
    help: 'Path to kubeconfig file with authorization and master location information. Default: the identity of the pod.',
    section: generic,
  }),
  master: flag.string({
    name: 'master',
    default: '',
    help: 'Address of the apiserver; wins over the one in the kubeconfig.',
    section: generic,
  }),
  kubeApiQps: flag.float({
    name: 'kube-api-qps',
    default: 20,
    help: 'Requests per second to the apiserver.',
    section: generic,
    noEffect: 'requests are not limited here',
  }),
  kubeApiBurst: flag.int({
    name: 'kube-api-burst',
    default: 30,
    help: 'Requests per second to the apiserver.',
    section: generic,
    noEffect: 'requests are not limited here',
  }),
  kubeApiContentType: flag.string({
    name: 'kube-api-content-type',
    default: 'application/vnd.kubernetes.protobuf',
    help: 'Content type of requests.',
    section: generic,
    noEffect: 'requests are JSON',
  }),
});

/** GenericControllerManagerConfigurationOptions. `all`: names of the loops, and those that `*` does not mean, for the help text. */
export const genericManagerFlags = (component: string, all: readonly string[], disabledByDefault: readonly string[] = []) => ({
  ...connection(),
  minResyncPeriodMs: flag.duration({
    name: 'min-resync-period',
    default: 43_200_000,
    help: 'Shortest period of looking at everything again; up to twice as long.',
    section: generic,
  }),
  controllerStartIntervalMs: flag.duration({
    name: 'controller-start-interval',
    default: 0,
    help: 'Time between the starts of two controllers.',
    section: generic,
  }),
  controllers: flag.strings({
    name: 'controllers',
    default: ['*'],
    help: `Controllers to enable: '*' all, 'foo' this one, '-foo' not this one; the first that matches decides. All controllers: ${all.join(', ')}. Disabled-by-default controllers: ${disabledByDefault.join(', ')}`,
    section: generic,
  }),
  profiling: flag.bool({
    name: 'profiling',
    default: true,
    help: 'Let the verbosity of the log be changed by PUT /debug/flags/v; there is no /debug/pprof.',
    section: 'Debugging',
  }),
  contentionProfiling: flag.bool({
    name: 'contention-profiling',
    default: false,
    help: 'Profile contention.',
    section: 'Debugging',
    noEffect: 'there is one thread, without locks to profile',
  }),
  ...leaderElectionFlags(defaultLeaderElection(component)),
  ...leaderMigrationFlags(),
});

const cloud = 'Cloud provider';

/** The flags that say which cloud it is, and who acts in it. */
const providerFlags = () => ({
  cloudProvider: flag.string({ name: 'cloud-provider', default: '', help: 'The provider for cloud services.', section: cloud }),
  cloudConfig: flag.string({ name: 'cloud-config', default: '', help: "Path of the provider's configuration.", section: cloud }),
  externalCloudVolumePlugin: flag.string({
    name: 'external-cloud-volume-plugin',
    default: '',
    help: 'The volume plugin of a cloud.',
    section: cloud,
    noEffect: 'volumes of clouds are the work of CSI drivers',
  }),
  useServiceAccountCredentials: flag.bool({
    name: 'use-service-account-credentials',
    default: false,
    help: 'Use an own identity for each controller.',
    section: generic,
  }),
  allowUntaggedCloud: flag.bool({
    name: 'allow-untagged-cloud',
    default: false,
    help: 'Run although resources in the cloud carry no cluster id.',
    section: cloud,
    deprecated:
      'This flag is deprecated and will be removed in a future release. A cluster-id will be required on cloud instances.',
  }),
});

/** The flags that upstream's managers share about the cloud and the cluster's networks (KubeCloudSharedOptions). */
export const kubeCloudSharedFlags = () => ({
  ...providerFlags(),
  routeReconciliationPeriodMs: flag.duration({
    name: 'route-reconciliation-period',
    default: 10_000,
    help: 'Period of looking at routes in the cloud.',
    section: generic,
  }),
  nodeMonitorPeriodMs: flag.duration({
    name: 'node-monitor-period',
    default: nodeMonitorPeriodMs,
    help: 'Period of looking at nodes.',
    section: generic,
  }),
  clusterName: flag.string({
    name: 'cluster-name',
    default: 'kubernetes',
    help: 'Name of the cluster in the cloud.',
    section: generic,
  }),
  clusterCidr: flag.strings({
    name: 'cluster-cidr',
    default: [],
    help: 'CIDRs of pods: one, or one of each family.',
    section: generic,
  }),
  allocateNodeCidrs: flag.bool({
    name: 'allocate-node-cidrs',
    default: false,
    help: 'Give each node a range of pod addresses; the work of kube-controller-manager.',
    section: generic,
  }),
  cidrAllocatorType: flag.string({
    name: 'cidr-allocator-type',
    default: 'RangeAllocator',
    help: 'How ranges are found. Only RangeAllocator.',
    section: generic,
  }),
  configureCloudRoutes: flag.bool({
    name: 'configure-cloud-routes',
    default: true,
    help: 'Make routes to the ranges of nodes in the cloud.',
    section: generic,
  }),
  nodeSyncPeriodMs: flag.duration({
    name: 'node-sync-period',
    default: 0,
    help: '',
    section: generic,
    deprecated: 'This flag is currently no-op and will be deleted.',
  }),
});

export type GenericManagerFlags = FlagValues<ReturnType<typeof genericManagerFlags>>;
export type KubeCloudSharedFlags = FlagValues<ReturnType<typeof kubeCloudSharedFlags>>;

/** The LeaderElectionConfiguration of component-base, as /configz shows it. */
export const leaderElectionConfigz = (election: LeaderElectionConfiguration): object => ({
  leaderElect: election.leaderElect,
  leaseDuration: formatDurationMs(election.leaseDurationMs),
  renewDeadline: formatDurationMs(election.renewDeadlineMs),
  retryPeriod: formatDurationMs(election.retryPeriodMs),
  resourceLock: election.resourceLock,
  resourceName: election.resourceName,
  resourceNamespace: election.resourceNamespace,
});

/** GenericControllerManagerConfiguration (controllermanager.config.k8s.io/v1alpha1) as JSON. Throws for an unusable migration file. */
export const genericConfigz = (
  flags: GenericManagerFlags & { bindAddress: string; securePort: number },
  election: LeaderElectionConfiguration,
): object => ({
  Port: flags.securePort,
  Address: flags.bindAddress,
  MinResyncPeriod: formatDurationMs(flags.minResyncPeriodMs),
  ClientConnection: {
    kubeconfig: flags.kubeconfig,
    acceptContentTypes: '',
    contentType: flags.kubeApiContentType,
    qps: flags.kubeApiQps,
    burst: flags.kubeApiBurst,
  },
  ControllerStartInterval: formatDurationMs(flags.controllerStartIntervalMs),
  LeaderElection: leaderElectionConfigz(election),
  Controllers: flags.controllers,
  Debugging: { EnableProfiling: flags.profiling, EnableContentionProfiling: flags.contentionProfiling },
  LeaderMigrationEnabled: flags.enableLeaderMigration,
  LeaderMigration: leaderMigrationOf(flags) ?? {
    ...defaultLeaderMigration,
    leaderName: '',
    resourceLock: '',
    controllerLeaders: [],
  },
});

/** The KubeCloudSharedConfiguration (cloudcontrollermanager.config.k8s.io/v1alpha1), as /configz shows it. */
export const kubeCloudSharedConfigz = (flags: KubeCloudSharedFlags): object => ({
  CloudProvider: { Name: flags.cloudProvider, CloudConfigFile: flags.cloudConfig },
  ExternalCloudVolumePlugin: flags.externalCloudVolumePlugin,
  UseServiceAccountCredentials: flags.useServiceAccountCredentials,
  AllowUntaggedCloud: flags.allowUntaggedCloud,
  RouteReconciliationPeriod: formatDurationMs(flags.routeReconciliationPeriodMs),
  NodeMonitorPeriod: formatDurationMs(flags.nodeMonitorPeriodMs),
  ClusterName: flags.clusterName,
  ClusterCIDR: flags.clusterCidr.join(','),
  AllocateNodeCIDRs: flags.allocateNodeCidrs,
  CIDRAllocatorType: flags.cidrAllocatorType,
  ConfigureCloudRoutes: flags.configureCloudRoutes,
  NodeSyncPeriod: formatDurationMs(flags.nodeSyncPeriodMs),
});
