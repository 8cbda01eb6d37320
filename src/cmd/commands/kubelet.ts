// `sagong kubelet`.
import type { Command } from 'commander';
import { flagCommand } from '#component-base';
import { kubeletFlags, kubeletSettings, runKubelet, serveHealthz } from '#kubelet';
import { clientFor, componentDeps, untilStopped } from '../component.ts';

export const kubeletCommand = (): Command =>
  flagCommand({
    name: 'kubelet',
    description: 'The kubelet is the primary node agent: it registers the node and runs its pods.',
    flags: kubeletFlags,
    async run({ values, changed }) {
      const { options, serving, healthz, logging, warnings } = await kubeletSettings(values, changed);
      const deps = componentDeps('kubelet', { ...values, ...logging });
      for (const warning of warnings) deps.logger.warn(warning);
      const { client } = clientFor('kubelet', values.kubeconfig, deps.clock);
      const kubelet = await runKubelet(options, { ...deps, client, ...(serving && { serving }) });
      const health = await serveHealthz(healthz, deps.logger);
      await untilStopped(async () => {
        await health?.close({ graceMs: 0 });
        await kubelet.close();
      });
    },
  });
