// `sagong kube-proxy`.
import { hostname } from 'node:os';
import type { Command } from 'commander';
import { createEventRecorder, createInformerFactory } from '#client';
import { flagCommand } from '#component-base';
import { execCommand } from '#host';
import { kubeProxyFlags, removeRules, runKubeProxy } from '#kube-proxy';
import { clientFor, componentDeps, untilStopped } from '../component.ts';

export const kubeProxyCommand = (): Command =>
  flagCommand({
    name: 'kube-proxy',
    description: 'The Kubernetes network proxy carries traffic for Services to pods on this node.',
    flags: kubeProxyFlags,
    async run({ values }) {
      if (values.cleanup) return removeRules(execCommand);
      const deps = componentDeps('kube-proxy', values);
      const { client } = clientFor('kube-proxy', values.kubeconfig, deps.clock);
      const informers = createInformerFactory({ ...deps, client });
      const [host = '0.0.0.0', port = '0'] = values.healthzBindAddress.split(/:(?=\d+$)/);
      const nodeName = values.hostnameOverride || hostname();
      const proxy = await runKubeProxy(
        {
          nodeName,
          masqueradeAll: values.masqueradeAll,
          masqueradeBit: values.masqueradeBit,
          healthzHost: host,
          healthzPort: Number(port),
          ...(values.clusterCidr && { clusterCidr: values.clusterCidr }),
        },
        {
          ...deps,
          informers,
          exec: execCommand,
          recorder: createEventRecorder({ ...deps, client, component: 'kube-proxy', host: nodeName, api: 'events' }),
        },
      );
      informers.start();
      await untilStopped(async () => {
        informers.stop();
        await proxy.stop();
      });
    },
  });
