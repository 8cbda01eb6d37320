// `sagong kube-scheduler`.
import { readFile, writeFile } from 'node:fs/promises';
import { formatYaml } from '#apimachinery/codec';
import { createMetrics, type Command, command, type FlagValues, flagTexts } from '#component-base';
import { configurationOf, type KubeSchedulerFlags, kubeSchedulerFlags, optionsFromFlags, runKubeScheduler } from '#scheduler';
import { clientFor, componentDeps, processIdentity, serveOwnEndpoints, startAlone, untilStopped } from '../component.ts';

const component = 'kube-scheduler';

async function run(flags: FlagValues<KubeSchedulerFlags>): Promise<void> {
  const deps = componentDeps(component, flags);
  const metrics = createMetrics();
  const configText = flags.config ? await readFile(flags.config, 'utf8') : undefined;
  const options = optionsFromFlags(flags, configText);
  if (flags.writeConfigTo) return writeFile(flags.writeConfigTo, formatYaml(configurationOf(options).configuration));
  const { client } = clientFor(component, options.kubeconfig, deps.clock, { master: flags.master, metrics });
  const scheduler = startAlone(component, metrics, () =>
    runKubeScheduler({ ...options, identity: processIdentity(deps.rng) }, { ...deps, client, metrics }),
  );
  const { checks, readyChecks } = scheduler;
  const health = () => ({ healthz: checks, livez: checks, readyz: readyChecks });
  const setVerbosity = flags.profiling ? deps.logger.setLevel : undefined;
  const decisions = (query: URLSearchParams): object => ({ scheduling: scheduler.told(query.get('uid') ?? '') });
  const texts = flagTexts(kubeSchedulerFlags(), flags);
  const endpoints = { health, metrics, setVerbosity, decisions, configz: configurationOf(options), flags: texts };
  const server = await serveOwnEndpoints(component, flags, endpoints, { ...deps, client });
  await untilStopped(async () => {
    await scheduler.stop();
    await server?.close({ graceMs: 0 });
  }, scheduler.ended);
}

export const kubeSchedulerCommand = (): Command =>
  command({
    name: component,
    description: 'The Kubernetes scheduler assigns pods to nodes.',
    upstream: true,
    flags: kubeSchedulerFlags(),
    run: ({ values }) => run(values),
  });
