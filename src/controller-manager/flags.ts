// Flags of kube-controller-manager with upstream's names and defaults
// (https://kubernetes.io/docs/reference/command-line-tools-reference/kube-controller-manager/).
import { readFileSync } from 'node:fs';
import {
  fixedFeatureGateFlags,
  flag,
  flagsWithoutEffect,
  type FlagValues,
  loggingFlags,
  refusedFlags,
  versionFlags,
} from '#component-base';
import { delegatedAuthFlags, secureServingFlags } from '#component-base/serving';
import { genericManagerFlags, kubeCloudSharedFlags } from '#controller-runtime/manager';
import { type ControllersConfig, createControllers, defaultControllersConfig as config } from '#controllers';
import { parseCertificates } from '#pki';
import { absentLoops } from './absent.ts';
import { checkCloudProvider, cloudLoops } from './cloud.ts';
import { concurrencyFlags } from './concurrency.ts';
import { signersOf, signingFlags } from './signing.ts';
import { refused, withoutEffect } from './unserved-flags.ts';

const accounts = {
  serviceAccountPrivateKeyFile: flag.string({
    name: 'service-account-private-key-file',
    default: '',
    help: 'Key that tokens in Secrets are signed with.',
    section: 'Serviceaccount controller',
  }),
  rootCaFile: flag.string({
    name: 'root-ca-file',
    default: '',
    help: 'Authority that is published to every namespace.',
    section: 'Serviceaccount controller',
  }),
};

const network = {
  serviceClusterIpRange: flag.strings({
    name: 'service-cluster-ip-range',
    default: [],
    help: 'CIDRs of Services; never given to nodes.',
    section: 'Nodeipam controller',
  }),
  nodeCidrMaskSize: flag.int({
    name: 'node-cidr-mask-size',
    default: 0,
    help: `Mask size of a node range; 0: ${config.nodeCidrMaskSizeIpv4} for IPv4, ${config.nodeCidrMaskSizeIpv6} for IPv6.`,
    section: 'Nodeipam controller',
  }),
  nodeCidrMaskSizeIpv4: flag.int({
    name: 'node-cidr-mask-size-ipv4',
    default: 0,
    help: `Mask size of an IPv4 node range in a cluster of both families; 0: ${config.nodeCidrMaskSizeIpv4}.`,
    section: 'Nodeipam controller',
  }),
  nodeCidrMaskSizeIpv6: flag.int({
    name: 'node-cidr-mask-size-ipv6',
    default: 0,
    help: `Mask size of an IPv6 node range in a cluster of both families; 0: ${config.nodeCidrMaskSizeIpv6}.`,
    section: 'Nodeipam controller',
  }),
};

const nodes = {
  nodeMonitorGracePeriodMs: flag.duration({
    name: 'node-monitor-grace-period',
    default: config.nodeMonitorGracePeriodMs,
    help: 'Time a running node may be silent before it is marked unhealthy.',
    section: 'Nodelifecycle controller',
  }),
  nodeStartupGracePeriodMs: flag.duration({
    name: 'node-startup-grace-period',
    default: config.nodeStartupGracePeriodMs,
    help: 'Time a starting node may be silent before it is marked unhealthy.',
    section: 'Nodelifecycle controller',
  }),
  nodeEvictionRate: flag.float({
    name: 'node-eviction-rate',
    default: config.nodeEvictionRate,
    help: 'Nodes a second whose pods are evicted in a healthy zone.',
    section: 'Nodelifecycle controller',
  }),
  secondaryNodeEvictionRate: flag.float({
    name: 'secondary-node-eviction-rate',
    default: config.secondaryNodeEvictionRate,
    help: 'Nodes a second whose pods are evicted in an unhealthy zone.',
    section: 'Nodelifecycle controller',
  }),
  largeClusterSizeThreshold: flag.int({
    name: 'large-cluster-size-threshold',
    default: config.largeClusterSizeThreshold,
    help: 'Unhealthy zones of clusters up to this size evict nothing.',
    section: 'Nodelifecycle controller',
  }),
  unhealthyZoneThreshold: flag.float({
    name: 'unhealthy-zone-threshold',
    default: config.unhealthyZoneThreshold,
    help: 'Part of the nodes of a zone that is not ready when the zone is unhealthy.',
    section: 'Nodelifecycle controller',
  }),
  terminatedPodGcThreshold: flag.int({
    name: 'terminated-pod-gc-threshold',
    default: config.terminatedPodGcThreshold,
    help: 'Finished pods that may exist.',
    section: 'Podgc controller',
  }),
};

const attachDetach = {
  attachDetachReconcileSyncPeriodMs: flag.duration({
    name: 'attach-detach-reconcile-sync-period',
    default: config.attachDetachReconcileSyncPeriodMs,
    help: 'Time between two looks at what is attached where. More than one second.',
    section: 'Attachdetach controller',
  }),
  disableAttachDetachReconcileSync: flag.bool({
    name: 'disable-attach-detach-reconcile-sync',
    default: config.disableAttachDetachReconcileSync,
    help: 'Do not look again at what is attached where.',
    section: 'Attachdetach controller',
  }),
  disableForceDetachOnTimeout: flag.bool({
    name: 'disable-force-detach-on-timeout',
    default: config.disableForceDetachOnTimeout,
    help: 'Do not detach a volume from a silent node after a while.',
    section: 'Attachdetach controller',
  }),
};

const periods = {
  horizontalPodAutoscalerSyncPeriodMs: flag.duration({
    name: 'horizontal-pod-autoscaler-sync-period',
    default: config.horizontalPodAutoscalerSyncPeriodMs,
    help: 'Time between two looks at an autoscaler.',
    section: 'Horizontalpodautoscaling controller',
  }),
  resourceQuotaSyncPeriodMs: flag.duration({
    name: 'resource-quota-sync-period',
    default: config.resourceQuotaSyncPeriodMs,
    help: 'Time between two counts of everything a quota limits.',
    section: 'Resourcequota controller',
  }),
  legacyTokenCleanUpPeriodMs: flag.duration({
    name: 'legacy-service-account-token-clean-up-period',
    default: config.legacyTokenCleanUpPeriodMs,
    help: 'How long a token that was made automatically may go unused.',
    section: 'Legacy service account token cleaner',
  }),
};

const shared = kubeCloudSharedFlags();
const { minResyncPeriodMs } = genericManagerFlags('kube-controller-manager', []);
interface Listed {
  name: string;
  disabledByDefault?: boolean;
}
const listed = (isListed: (loop: Listed) => boolean): string[] =>
  [...createControllers(config), ...cloudLoops, ...absentLoops]
    .filter(isListed)
    .map(({ name }) => name)
    .sort();

/** Flags that this manager has because it shares a table with the one that speaks to a cloud. */
const noCloud = { noEffect: 'this manager speaks to no cloud' };
const ofClouds = {
  cloudConfig: { ...shared.cloudConfig, ...noCloud },
  clusterName: { ...shared.clusterName, ...noCloud },
  allowUntaggedCloud: { ...shared.allowUntaggedCloud, ...noCloud },
  routeReconciliationPeriodMs: { ...shared.routeReconciliationPeriodMs, ...noCloud },
  configureCloudRoutes: { ...shared.configureCloudRoutes, ...noCloud },
};

export const kubeControllerManagerFlags = () => ({
  ...shared,
  ...ofClouds,
  cloudProvider: {
    ...shared.cloudProvider,
    help: "Empty, or 'external': a cloud-controller-manager runs the loops of the cloud.",
  },
  ...genericManagerFlags(
    'kube-controller-manager',
    listed(() => true),
    listed(({ disabledByDefault }) => disabledByDefault === true),
  ),
  minResyncPeriodMs: {
    ...minResyncPeriodMs,
    noEffect: 'what loops see is kept current by watches, and not looked at again by a period',
  },
  ...accounts,
  ...network,
  ...nodes,
  ...signingFlags(),
  ...periods,
  ...attachDetach,
  ...secureServingFlags({ port: 10_257 }),
  ...delegatedAuthFlags({ tolerateLookupFailure: false }),
  ...fixedFeatureGateFlags(),
  ...versionFlags(),
  ...concurrencyFlags(),
  ...flagsWithoutEffect(withoutEffect),
  ...refusedFlags(refused),
  ...loggingFlags(),
});
export type KubeControllerManagerFlags = FlagValues<ReturnType<typeof kubeControllerManagerFlags>>;

const file = (path: string): string => (path === '' ? '' : readFileSync(path, 'utf8'));

/** What every namespace is given to know the apiserver by; pods would believe nobody with something else. Throws with upstream's text. */
function rootCaIn(path: string): string {
  try {
    const bundle = file(path);
    if (path !== '') parseCertificates(bundle);
    return bundle;
  } catch (error) {
    throw new Error(`error parsing root-ca-file at ${path}: ${(error as Error).message}`, { cause: error });
  }
}

/** Sizes of node ranges: one flag for a cluster of one family, one each for both (pkg/controller nodeipam). */
function maskSizesOf(
  flags: KubeControllerManagerFlags,
): Pick<ControllersConfig, 'nodeCidrMaskSizeIpv4' | 'nodeCidrMaskSizeIpv6'> {
  const { nodeCidrMaskSize: any, nodeCidrMaskSizeIpv4: ipv4, nodeCidrMaskSizeIpv6: ipv6, clusterCidr } = flags;
  const dual = clusterCidr.length > 1;
  if (dual && any !== 0) throw new Error('usage of --node-cidr-mask-size is not allowed with dual-stack clusters');
  if (!dual && ipv4 !== 0 && clusterCidr[0]?.includes(':'))
    throw new Error('usage of --node-cidr-mask-size-ipv4 is not allowed for a single-stack IPv6 cluster');
  if (!dual && ipv6 !== 0 && clusterCidr[0] !== undefined && !clusterCidr[0].includes(':'))
    throw new Error('usage of --node-cidr-mask-size-ipv6 is not allowed for a single-stack IPv4 cluster');
  return {
    nodeCidrMaskSizeIpv4: ipv4 || any || config.nodeCidrMaskSizeIpv4,
    nodeCidrMaskSizeIpv6: ipv6 || any || config.nodeCidrMaskSizeIpv6,
  };
}

/** What the loops run with. Throws, with upstream's text where it has one, for files that cannot be read and providers that are not there. */
export function controllersConfigOf(flags: KubeControllerManagerFlags): ControllersConfig {
  checkCloudProvider(flags.cloudProvider, flags.cidrAllocatorType);
  if (flags.attachDetachReconcileSyncPeriodMs < 1_000)
    throw new Error('duration time must be greater than one second as set via command line option reconcile-sync-loop-period');
  const signing = signersOf(flags);
  const masks = maskSizesOf(flags);
  return {
    ...config,
    clusterCidrs: flags.clusterCidr,
    allocateNodeCidrs: flags.allocateNodeCidrs,
    serviceCidrs: flags.serviceClusterIpRange,
    ...masks,
    nodeMonitorPeriodMs: flags.nodeMonitorPeriodMs,
    nodeMonitorGracePeriodMs: flags.nodeMonitorGracePeriodMs,
    nodeStartupGracePeriodMs: flags.nodeStartupGracePeriodMs,
    terminatedPodGcThreshold: flags.terminatedPodGcThreshold,
    rootCa: rootCaIn(flags.rootCaFile),
    ...(flags.serviceAccountPrivateKeyFile && { serviceAccountSigningKey: file(flags.serviceAccountPrivateKeyFile) }),
    ...signing,
    attachDetachReconcileSyncPeriodMs: flags.attachDetachReconcileSyncPeriodMs,
    disableAttachDetachReconcileSync: flags.disableAttachDetachReconcileSync,
    disableForceDetachOnTimeout: flags.disableForceDetachOnTimeout,
    nodeEvictionRate: flags.nodeEvictionRate,
    secondaryNodeEvictionRate: flags.secondaryNodeEvictionRate,
    largeClusterSizeThreshold: flags.largeClusterSizeThreshold,
    unhealthyZoneThreshold: flags.unhealthyZoneThreshold,
    horizontalPodAutoscalerSyncPeriodMs: flags.horizontalPodAutoscalerSyncPeriodMs,
    resourceQuotaSyncPeriodMs: flags.resourceQuotaSyncPeriodMs,
    legacyTokenCleanUpPeriodMs: flags.legacyTokenCleanUpPeriodMs,
  };
}
