// Settings of the control loops, named after kube-controller-manager's flags, with upstream's defaults
// (https://kubernetes.io/docs/reference/command-line-tools-reference/kube-controller-manager/).
import { nodeMonitorPeriodMs } from '#controller-runtime';

/** An authority, PEM, and the longest validity of what it signs. */
export interface ClusterSigner {
  cert: string;
  key: string;
  durationMs: number;
}

export interface ControllersConfig {
  /** `--cluster-cidr`: pod addresses, cut into node CIDRs when `allocateNodeCidrs`. */
  clusterCidrs: string[];
  allocateNodeCidrs: boolean;
  nodeCidrMaskSizeIpv4: number;
  nodeCidrMaskSizeIpv6: number;
  /** Not given to nodes. */
  serviceCidrs: string[];
  nodeMonitorPeriodMs: number;
  nodeMonitorGracePeriodMs: number;
  nodeStartupGracePeriodMs: number;
  /** Nodes a second whose pods are evicted in a healthy zone, and in an unhealthy one. */
  nodeEvictionRate: number;
  secondaryNodeEvictionRate: number;
  largeClusterSizeThreshold: number;
  unhealthyZoneThreshold: number;
  /** Finished pods that may exist before the oldest are deleted; 0 or less: no limit. */
  terminatedPodGcThreshold: number;
  /** PEM; published to every namespace as ConfigMap kube-root-ca.crt. '' publishes none. */
  rootCa: string;
  /** PEM; signs tokens of Secrets of type kubernetes.io/service-account-token. Absent: none are made. */
  serviceAccountSigningKey?: string;
  /** `--legacy-service-account-token-clean-up-period`: how long a token that was made automatically may go unused. */
  legacyTokenCleanUpPeriodMs: number;
  /** PEM; signs certificate requests. Absent: none are signed. */
  clusterSigning?: ClusterSigner;
  /** Authorities of single signers, by name, where there is not one for all. */
  clusterSigners?: Readonly<Record<string, ClusterSigner>>;
  horizontalPodAutoscalerSyncPeriodMs: number;
  resourceQuotaSyncPeriodMs: number;
  attachDetachReconcileSyncPeriodMs: number;
  disableAttachDetachReconcileSync: boolean;
  disableForceDetachOnTimeout: boolean;
}

export const defaultControllersConfig: ControllersConfig = {
  clusterCidrs: [],
  allocateNodeCidrs: false,
  nodeCidrMaskSizeIpv4: 24,
  nodeCidrMaskSizeIpv6: 64,
  serviceCidrs: [],
  nodeMonitorPeriodMs,
  nodeMonitorGracePeriodMs: 50_000,
  nodeStartupGracePeriodMs: 60_000,
  nodeEvictionRate: 0.1,
  secondaryNodeEvictionRate: 0.01,
  largeClusterSizeThreshold: 50,
  unhealthyZoneThreshold: 0.55,
  terminatedPodGcThreshold: 12_500,
  rootCa: '',
  legacyTokenCleanUpPeriodMs: 365 * 24 * 3_600_000,
  horizontalPodAutoscalerSyncPeriodMs: 15_000,
  resourceQuotaSyncPeriodMs: 300_000,
  attachDetachReconcileSyncPeriodMs: 60_000,
  disableAttachDetachReconcileSync: false,
  disableForceDetachOnTimeout: false,
};
