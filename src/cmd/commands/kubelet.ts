// `sagong kubelet`.
import { type Command, command, flagTexts } from '#component-base';
import { kubeletFlags, kubeletSettings, openIdentity, renewServing, runKubelet, serveHealthz } from '#kubelet';
import { componentDeps, untilStopped } from '../component.ts';

export const kubeletCommand = (): Command =>
  command({
    name: 'kubelet',
    description: 'The kubelet is the primary node agent: it registers the node and runs its pods.',
    upstream: true,
    flags: kubeletFlags,
    async run({ values, changed }) {
      const { options, serving, healthz, certificates, logging, warnings } = await kubeletSettings(values, changed);
      const deps = componentDeps('kubelet', { ...values, ...logging });
      for (const warning of warnings) deps.logger.warn(warning);
      const { nodeName, hostname } = options;
      const { kubeconfig, bootstrapKubeconfig } = values;
      const { dir: certDir, rotateClient: rotate } = certificates;
      const identity = await openIdentity({ nodeName, kubeconfig, bootstrapKubeconfig, certDir, rotate }, deps);
      const { client } = identity;
      const kubelet = await runKubelet(
        { ...options, flags: flagTexts(kubeletFlags, values) },
        { ...deps, client, ...(serving && { serving }) },
      );
      const { server } = kubelet;
      const addresses = (): readonly string[] => kubelet.kubelet.parts.state.hostIPs();
      const renewal =
        certificates.serving && server && serving
          ? renewServing({ nodeName, hostname, certDir, addresses, client, server, tls: serving.tls }, deps)
          : undefined;
      const health = await serveHealthz(healthz, deps.logger);
      await untilStopped(async () => {
        renewal?.close();
        await health?.close({ graceMs: 0 });
        await kubelet.close();
        identity.close();
      });
    },
  });
