// What /configz shows: the part of KubeControllerManagerConfiguration (kubecontrollermanager.config.k8s.io/v1alpha1) that there are flags for.
import { formatDurationMs } from '#apimachinery/duration';
import { leaderElectionOf } from '#component-base';
import { genericConfigz, kubeCloudSharedConfigz } from '#controller-runtime/manager';
import type { KubeControllerManagerFlags } from './flags.ts';

export const configurationOf = (flags: KubeControllerManagerFlags): { name: string; configuration: object } => ({
  name: 'kubecontrollermanager.config.k8s.io',
  configuration: {
    kind: 'KubeControllerManagerConfiguration',
    apiVersion: 'kubecontrollermanager.config.k8s.io/v1alpha1',
    Generic: genericConfigz(flags, leaderElectionOf(flags)),
    KubeCloudShared: kubeCloudSharedConfigz(flags),
    AttachDetachController: {
      DisableAttachDetachReconcilerSync: flags.disableAttachDetachReconcileSync,
      ReconcilerSyncLoopPeriod: formatDurationMs(flags.attachDetachReconcileSyncPeriodMs),
      DisableForceDetachOnTimeout: flags.disableForceDetachOnTimeout,
    },
    CSRSigningController: {
      ClusterSigningCertFile: flags.clusterSigningCertFile,
      ClusterSigningKeyFile: flags.clusterSigningKeyFile,
      ClusterSigningDuration: formatDurationMs(flags.clusterSigningDurationMs),
    },
    NodeIPAMController: {
      ServiceCIDR: flags.serviceClusterIpRange[0] ?? '',
      SecondaryServiceCIDR: flags.serviceClusterIpRange[1] ?? '',
      NodeCIDRMaskSize: flags.nodeCidrMaskSize,
    },
    NodeLifecycleController: {
      NodeStartupGracePeriod: formatDurationMs(flags.nodeStartupGracePeriodMs),
      NodeMonitorGracePeriod: formatDurationMs(flags.nodeMonitorGracePeriodMs),
    },
    PodGCController: { TerminatedPodGCThreshold: flags.terminatedPodGcThreshold },
    SAController: { ServiceAccountKeyFile: flags.serviceAccountPrivateKeyFile, RootCAFile: flags.rootCaFile },
  },
});
