// `sagong cloud-controller-manager`.
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type ClientConfig, createClient, createRestTransport, type KubeClient, serviceAccountToken } from '#client';
import {
  type CloudControllerManagerFlags,
  cloudControllerManagerFlags,
  configFromFlags,
  runCloudControllerManager,
  serveCloudControllerManager,
} from '#cloud-controller-manager';
import { type CloudProviderDefinition, loadCloudProvider } from '#cloud-provider';
import { flagCommand, type LeaderElectionConfiguration } from '#component-base';
import type { Clock } from '#utils';
import { clientFor, componentDeps, processIdentity, untilStopped } from '../component.ts';

const component = 'cloud-controller-manager';

/** Providers that need no module of their own. */
const builtIn = {
  fake: async () => (await import('#cloud-provider/fake')).fakeCloudProvider as CloudProviderDefinition,
};

const leaderElectionOf = (flags: CloudControllerManagerFlags): LeaderElectionConfiguration => ({
  leaderElect: flags.leaderElect,
  leaseDurationMs: flags.leaderElectLeaseDurationMs,
  renewDeadlineMs: flags.leaderElectRenewDeadlineMs,
  retryPeriodMs: flags.leaderElectRetryPeriodMs,
  resourceLock: 'leases',
  resourceName: flags.leaderElectResourceName,
  resourceNamespace: flags.leaderElectResourceNamespace,
});

/** `--use-service-account-credentials`: each loop acts as its own service account, with tokens asked for by the manager. */
const actingAs = (manager: KubeClient, config: ClientConfig, clock: Clock, name: string): KubeClient => {
  const { server, ca, insecure, serverName } = config;
  const token = serviceAccountToken(manager, clock, 'kube-system', name);
  return createClient(createRestTransport({ config: { server, ca, insecure, serverName }, clock, userAgent: name, token }));
};

const tlsOf = ({ tlsCertFile: cert, tlsPrivateKeyFile: key }: CloudControllerManagerFlags) =>
  cert && key ? { tls: { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') } } : {};

async function run(flags: CloudControllerManagerFlags): Promise<void> {
  const deps = componentDeps(component, flags);
  const config = configFromFlags(flags);
  const loaded = await loadCloudProvider({ provider: flags.cloudProvider, configFile: flags.cloudConfig, builtIn }, deps);
  if (!loaded) throw new Error('--cloud-provider cannot be empty');
  const { client, config: clientConfig } = clientFor(component, flags.kubeconfig, deps.clock);
  const manager = runCloudControllerManager(
    {
      providerName: loaded.name,
      cloud: loaded.cloud,
      controllers: flags.controllers,
      config,
      leaderElection: leaderElectionOf(flags),
      identity: processIdentity(deps.rng),
      controllerStartIntervalMs: flags.controllerStartIntervalMs,
      allowUntaggedCloud: flags.allowUntaggedCloud,
    },
    {
      ...deps,
      client,
      ...(flags.useServiceAccountCredentials && {
        clientFor: (name: string) => actingAs(client, clientConfig, deps.clock, name),
      }),
      onLeadershipLost: () => process.exit(1),
    },
  );
  const server =
    flags.securePort === 0
      ? undefined
      : await serveCloudControllerManager(
          {
            listen: { host: flags.bindAddress, port: flags.securePort },
            ...tlsOf(flags),
            ...(flags.clientCaFile && { clientCa: readFileSync(flags.clientCaFile, 'utf8') }),
            healthChecks: () => manager.healthChecks(),
            metrics: manager.metrics,
            configuration: { ...flags, clusterCidrs: flags.clusterCidr },
          },
          { ...deps, client },
        );
  await untilStopped(async () => {
    await manager.stop();
    await server?.close({ graceMs: 0 });
  });
}

export const cloudControllerManagerCommand = (): Command =>
  flagCommand({
    name: component,
    description: 'The Cloud controller manager is a daemon that embeds the cloud specific control loops shipped with Kubernetes.',
    flags: cloudControllerManagerFlags,
    run: ({ values }) => run(values),
  });
