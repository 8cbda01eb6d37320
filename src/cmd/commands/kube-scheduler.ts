// `sagong kube-scheduler`.
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { flagCommand } from '#component-base';
import { kubeSchedulerFlags, optionsFromFlags, runKubeScheduler } from '#scheduler';
import { clientFor, componentDeps, processIdentity, untilStopped } from '../component.ts';

export const kubeSchedulerCommand = (): Command =>
  flagCommand({
    name: 'kube-scheduler',
    description: 'The Kubernetes scheduler assigns pods to nodes.',
    flags: kubeSchedulerFlags(),
    async run({ values }) {
      const deps = componentDeps('kube-scheduler', values);
      const configText = values.config ? await readFile(values.config, 'utf8') : undefined;
      const options = optionsFromFlags(values, configText);
      const { client } = clientFor('kube-scheduler', options.kubeconfig, deps.clock);
      const scheduler = runKubeScheduler({ ...options, identity: processIdentity(deps.rng) }, { ...deps, client });
      await untilStopped(() => scheduler.stop());
    },
  });
