// `sagong kube-controller-manager`.
import { createMetrics, type Command, command, leaderElectionOf, leaderMigrationOf, flagTexts } from '#component-base';
import { Decisions } from '#controller-runtime';
import {
  concurrencyOf,
  configurationOf,
  controllersConfigOf,
  type KubeControllerManagerFlags,
  kubeControllerManagerFlags,
  runKubeControllerManager,
} from '#controller-manager';
import {
  actingAs,
  clientFor,
  componentDeps,
  managerEndpoints,
  processIdentity,
  serveOwnEndpoints,
  startAlone,
  untilStopped,
} from '../component.ts';

const component = 'kube-controller-manager';

async function run(flags: KubeControllerManagerFlags): Promise<void> {
  const deps = componentDeps(component, flags);
  const metrics = createMetrics();
  const decisions = new Decisions();
  const config = controllersConfigOf(flags);
  const leaderMigration = leaderMigrationOf(flags);
  const { client, config: clientConfig } = clientFor(component, flags.kubeconfig, deps.clock, {
    master: flags.master,
    metrics,
  });
  const manager = startAlone(component, metrics, () =>
    runKubeControllerManager(
      {
        controllers: flags.controllers,
        config,
        identity: processIdentity(deps.rng),
        leaderElection: leaderElectionOf(flags),
        leaderMigration,
        concurrency: concurrencyOf(flags),
        controllerStartIntervalMs: flags.controllerStartIntervalMs,
      },
      {
        ...deps,
        client,
        metrics,
        decisions,
        clientFor: flags.useServiceAccountCredentials ? actingAs(client, clientConfig, deps.clock) : undefined,
      },
    ),
  );
  const shown = { metrics, decisions, configz: configurationOf(flags), flags: flagTexts(kubeControllerManagerFlags(), flags) };
  const endpoints = managerEndpoints(manager, flags, deps.logger, shown);
  const server = await serveOwnEndpoints(component, flags, endpoints, { ...deps, client });
  await untilStopped(async () => {
    await manager.stop();
    await server?.close({ graceMs: 0 });
  }, manager.ended);
}

export const kubeControllerManagerCommand = (): Command =>
  command({
    name: component,
    description: 'The Kubernetes controller manager embeds the core control loops.',
    upstream: true,
    flags: kubeControllerManagerFlags(),
    run: ({ values }) => run(values),
  });
