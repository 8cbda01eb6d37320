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
    async run({ values }) {
      const server = await runKubeApiServer(await optionsFromFlags(values), {
        ...componentDeps('kube-apiserver', values),
        descriptions,
      });
      await untilStopped(() => server.close());
    },
  });
