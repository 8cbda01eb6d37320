// `sagong kube-apiserver`.
import type { Command } from 'commander';
import { kubeApiServerFlags, optionsFromFlags, runKubeApiServer } from '#apiserver/app';
import { flagCommand } from '#component-base';
import { componentDeps, untilStopped } from '../component.ts';
import { descriptions } from '../program.ts';

export const kubeApiServerCommand = (): Command =>
  flagCommand({
    name: 'kube-apiserver',
    description: 'The Kubernetes API server validates and configures data for the API objects.',
    flags: kubeApiServerFlags(),
    async run({ values, changed }) {
      const deps = componentDeps('kube-apiserver', values);
      const server = await runKubeApiServer(await optionsFromFlags(values, changed), { ...deps, descriptions });
      const failed = server.failed.then((reason) => deps.logger.error('kube-apiserver ends', { err: reason.message }));
      await untilStopped(() => server.close(), failed);
    },
  });
