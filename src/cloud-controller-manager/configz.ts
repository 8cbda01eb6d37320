// What /configz shows: CloudControllerManagerConfiguration (cloudcontrollermanager.config.k8s.io/v1alpha1).
import { formatDurationMs } from '#apimachinery/duration';
import { leaderElectionOf } from '#component-base';
import { genericConfigz, kubeCloudSharedConfigz } from '#controller-runtime/manager';
import type { CloudControllerManagerFlags } from './flags.ts';

export const configurationOf = (flags: CloudControllerManagerFlags): { name: string; configuration: object } => ({
  name: 'cloudcontrollermanager.config.k8s.io',
  configuration: {
    kind: 'CloudControllerManagerConfiguration',
    apiVersion: 'cloudcontrollermanager.config.k8s.io/v1alpha1',
    Generic: genericConfigz(flags, leaderElectionOf(flags)),
    KubeCloudShared: kubeCloudSharedConfigz(flags),
    NodeController: {
      ConcurrentNodeSyncs: flags.concurrentNodeSyncs,
      ConcurrentNodeStatusUpdates: flags.concurrentNodeStatusUpdates,
    },
    ServiceController: { ConcurrentServiceSyncs: flags.concurrentServiceSyncs },
    NodeStatusUpdateFrequency: formatDurationMs(flags.nodeStatusUpdateFrequencyMs),
    Webhook: { Webhooks: flags.webhooks },
  },
});
