// Flags of kube-controller-manager with upstream's names and defaults
// (https://kubernetes.io/docs/reference/command-line-tools-reference/kube-controller-manager/).
import { defaultLeaderElection, featureGateFlags, flag, leaderElectionFlags, loggingFlags } from '#component-base';
import { defaultControllersConfig as config } from '#controllers';

const generic = {
  kubeconfig: flag.string({
    name: 'kubeconfig',
    default: '',
    help: 'Path to kubeconfig file with authorization and master location information.',
    section: 'Generic',
  }),
  controllers: flag.strings({
    name: 'controllers',
    default: ['*'],
    help: "Controllers to enable: '*' all, 'foo' this one, '-foo' all but this one.",
    section: 'Generic',
  }),
  useServiceAccountCredentials: flag.bool({
    name: 'use-service-account-credentials',
    default: false,
    help: 'Use an own identity for each controller.',
    section: 'Generic',
  }),
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
  clusterCidr: flag.strings({
    name: 'cluster-cidr',
    default: [],
    help: 'CIDRs of pods. Needs --allocate-node-cidrs.',
    section: 'Nodeipam controller',
  }),
  allocateNodeCidrs: flag.bool({
    name: 'allocate-node-cidrs',
    default: config.allocateNodeCidrs,
    help: 'Give each node a range of pod addresses.',
    section: 'Nodeipam controller',
  }),
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
  nodeMonitorPeriodMs: flag.duration({
    name: 'node-monitor-period',
    default: config.nodeMonitorPeriodMs,
    help: 'Period of looking at nodes.',
    section: 'Nodelifecycle controller',
  }),
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

export const kubeControllerManagerFlags = {
  ...generic,
  ...network,
  ...nodes,
  ...signing,
  ...leaderElectionFlags(defaultLeaderElection('kube-controller-manager')),
  ...featureGateFlags([]),
  ...loggingFlags(),
};
export type KubeControllerManagerFlags = typeof kubeControllerManagerFlags;
