// `sagong kubelet`.
import type { Command } from 'commander';
import { flagCommand } from '#component-base';
import { kubeletFlags, kubeletSettings, runKubelet } from '#kubelet';
import { clientFor, componentDeps, untilStopped } from '../component.ts';

export const kubeletCommand = (): Command =>
  flagCommand({
    name: 'kubelet',
    description: 'The kubelet is the primary node agent: it registers the node and runs its pods.',
    flags: kubeletFlags,
    async run({ values, changed }) {
      const deps = componentDeps('kubelet', values);
      const { client } = clientFor('kubelet', values.kubeconfig, deps.clock);
      const { options, serving } = await kubeletSettings(values, changed);
      const kubelet = await runKubelet(options, { ...deps, client, serving });
      await untilStopped(() => kubelet.close());
    },
  });
