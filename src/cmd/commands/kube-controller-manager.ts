// `sagong kube-controller-manager`.
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type ClientConfig, createClient, createRestTransport, type KubeClient, serviceAccountToken } from '#client';
import { flagCommand, type FlagValues } from '#component-base';
import { type KubeControllerManagerFlags, kubeControllerManagerFlags, runKubeControllerManager } from '#controller-manager';
import { type ControllersConfig, defaultControllersConfig } from '#controllers';
import type { Clock } from '#utils';
import { clientFor, componentDeps, processIdentity, untilStopped } from '../component.ts';

const file = (path: string): string => (path === '' ? '' : readFileSync(path, 'utf8'));

function configOf(flags: FlagValues<KubeControllerManagerFlags>): ControllersConfig {
  const cert = file(flags.clusterSigningCertFile);
  const key = file(flags.clusterSigningKeyFile);
  return {
    ...defaultControllersConfig,
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

/** `--use-service-account-credentials`: each loop acts as its own service account, with tokens the manager asks for. */
const actingAs = (
  manager: KubeClient,
  { server, ca, insecure, serverName }: ClientConfig,
  clock: Clock,
  name: string,
): KubeClient =>
  createClient(
    createRestTransport({
      config: { server, ca, insecure, serverName },
      clock,
      userAgent: name,
      token: serviceAccountToken(manager, clock, 'kube-system', name),
    }),
  );

export const kubeControllerManagerCommand = (): Command =>
  flagCommand({
    name: 'kube-controller-manager',
    description: 'The Kubernetes controller manager embeds the core control loops.',
    flags: kubeControllerManagerFlags,
    async run({ values }) {
      const deps = componentDeps('kube-controller-manager', values);
      const { client, config } = clientFor('kube-controller-manager', values.kubeconfig, deps.clock);
      const manager = runKubeControllerManager(
        {
          controllers: values.controllers,
          config: configOf(values),
          identity: processIdentity(deps.rng),
          leaderElection: {
            leaderElect: values.leaderElect,
            leaseDurationMs: values.leaderElectLeaseDurationMs,
            renewDeadlineMs: values.leaderElectRenewDeadlineMs,
            retryPeriodMs: values.leaderElectRetryPeriodMs,
            resourceLock: 'leases',
            resourceName: values.leaderElectResourceName,
            resourceNamespace: values.leaderElectResourceNamespace,
          },
        },
        {
          ...deps,
          client,
          ...(values.useServiceAccountCredentials && { clientFor: (name: string) => actingAs(client, config, deps.clock, name) }),
        },
      );
      await untilStopped(() => manager.stop(), manager.ended);
    },
  });
