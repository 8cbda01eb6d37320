// Flags of kube-controller-manager with upstream's names and defaults
// (https://kubernetes.io/docs/reference/command-line-tools-reference/kube-controller-manager/).
import { readFileSync } from 'node:fs';
import { featureGateFlags, flag, type FlagValues, loggingFlags } from '#component-base';
import { delegatedAuthFlags, secureServingFlags } from '#component-base/serving';
import { genericManagerFlags, kubeCloudSharedFlags } from '#controller-runtime/manager';
import { type ControllersConfig, createControllers, defaultControllersConfig as config } from '#controllers';
import { checkCloudProvider, cloudLoops } from './cloud.ts';

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
    default: config.nodeCidrMaskSizeIpv4,
    help: 'Mask size of a node range.',
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
  terminatedPodGcThreshold: flag.int({
    name: 'terminated-pod-gc-threshold',
    default: config.terminatedPodGcThreshold,
    help: 'Finished pods that may exist.',
    section: 'Podgc controller',
  }),
};

const signing = {
  clusterSigningCertFile: flag.string({
    name: 'cluster-signing-cert-file',
    default: '',
    help: 'Authority that signs certificate requests.',
    section: 'Csrsigning controller',
  }),
  clusterSigningKeyFile: flag.string({
    name: 'cluster-signing-key-file',
    default: '',
    help: 'Key of --cluster-signing-cert-file.',
    section: 'Csrsigning controller',
  }),
  clusterSigningDurationMs: flag.duration({
    name: 'cluster-signing-duration',
    default: 31_536_000_000,
    help: 'Longest validity of a signed certificate.',
    section: 'Csrsigning controller',
  }),
};

const shared = kubeCloudSharedFlags();
const names = (): string[] => [...createControllers(config), ...cloudLoops].map(({ name }) => name).sort();

export const kubeControllerManagerFlags = () => ({
  ...shared,
  cloudProvider: {
    ...shared.cloudProvider,
    help: "Empty, or 'external': a cloud-controller-manager runs the loops of the cloud.",
  },
  ...genericManagerFlags('kube-controller-manager', names()),
  ...accounts,
  ...network,
  ...nodes,
  ...signing,
  ...secureServingFlags({ port: 10_257 }),
  ...delegatedAuthFlags({ tolerateLookupFailure: false }),
  ...featureGateFlags([]),
  ...loggingFlags(),
});
export type KubeControllerManagerFlags = FlagValues<ReturnType<typeof kubeControllerManagerFlags>>;

const file = (path: string): string => (path === '' ? '' : readFileSync(path, 'utf8'));

/** What the loops run with. Throws, with upstream's text where it has one, for files that cannot be read and providers that are not there. */
export function controllersConfigOf(flags: KubeControllerManagerFlags): ControllersConfig {
  checkCloudProvider(flags.cloudProvider, flags.cidrAllocatorType);
  const cert = file(flags.clusterSigningCertFile);
  const key = file(flags.clusterSigningKeyFile);
  return {
    ...config,
    clusterCidrs: flags.clusterCidr,
    allocateNodeCidrs: flags.allocateNodeCidrs,
    serviceCidrs: flags.serviceClusterIpRange,
    nodeCidrMaskSizeIpv4: flags.nodeCidrMaskSize,
    nodeMonitorPeriodMs: flags.nodeMonitorPeriodMs,
    nodeMonitorGracePeriodMs: flags.nodeMonitorGracePeriodMs,
    nodeStartupGracePeriodMs: flags.nodeStartupGracePeriodMs,
    terminatedPodGcThreshold: flags.terminatedPodGcThreshold,
    rootCa: file(flags.rootCaFile),
    ...(flags.serviceAccountPrivateKeyFile && { serviceAccountSigningKey: file(flags.serviceAccountPrivateKeyFile) }),
    ...(cert && key && { clusterSigning: { cert, key, durationMs: flags.clusterSigningDurationMs } }),
  };
}
