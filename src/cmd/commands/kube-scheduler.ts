// `sagong kube-scheduler`.
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { flagCommand, type FlagValues } from '#component-base';
import { configurationOf, type KubeSchedulerFlags, kubeSchedulerFlags, optionsFromFlags, runKubeScheduler } from '#scheduler';
import { clientFor, componentDeps, processIdentity, serveOwnEndpoints, untilStopped } from '../component.ts';

const component = 'kube-scheduler';

async function run(flags: FlagValues<KubeSchedulerFlags>): Promise<void> {
  const deps = componentDeps(component, flags);
  const configText = flags.config ? await readFile(flags.config, 'utf8') : undefined;
  const options = optionsFromFlags(flags, configText);
  const { client } = clientFor(component, options.kubeconfig, deps.clock, flags.master);
  const scheduler = runKubeScheduler({ ...options, identity: processIdentity(deps.rng) }, { ...deps, client });
  const { checks, readyChecks, metrics } = scheduler;
  const health = () => ({ healthz: checks, livez: checks, readyz: readyChecks });
  const endpoints = { health, metrics, configz: configurationOf(options) };
  const server = await serveOwnEndpoints(component, flags, endpoints, { ...deps, client });
  await untilStopped(async () => {
    await scheduler.stop();
    await server?.close({ graceMs: 0 });
  }, scheduler.ended);
}

export const kubeSchedulerCommand = (): Command =>
  flagCommand({
    name: component,
    description: 'The Kubernetes scheduler assigns pods to nodes.',
    flags: kubeSchedulerFlags(),
    run: ({ values }) => run(values),
  });
