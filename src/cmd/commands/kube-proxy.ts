// `sagong kube-proxy`.
import { readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { formatYaml } from '#apimachinery/codec';
import { createEventRecorder, createInformerFactory } from '#client';
import { type Command, command, flagTexts } from '#component-base';
import { execCommand } from '#host';
import { configurationOf, kubeProxyFlags, optionsFromFlags, removeAllRules, runKubeProxy, withConfiguration } from '#kube-proxy';
import { clientFor, componentDeps, untilStopped } from '../component.ts';

export const kubeProxyCommand = (): Command =>
  command({
    name: 'kube-proxy',
    description: 'The Kubernetes network proxy carries traffic for Services to pods on this node.',
    upstream: true,
    flags: kubeProxyFlags,
    async run({ values: given }) {
      const { values, warnings } =
        given.config === '' ? { values: given, warnings: [] } : withConfiguration(given, await readFile(given.config, 'utf8'));
      if (values.cleanup) return removeAllRules(execCommand);
      if (values.writeConfigTo) return writeFile(values.writeConfigTo, formatYaml(configurationOf(values)));
      const deps = componentDeps('kube-proxy', values);
      for (const warning of warnings) deps.logger.warn(warning);
      const { client } = clientFor('kube-proxy', values.kubeconfig, deps.clock, { master: values.master });
      const informers = createInformerFactory({ ...deps, client });
      const nodeName = values.hostnameOverride || hostname();
      const proxy = await runKubeProxy(
        { nodeName, ...optionsFromFlags(values), flags: flagTexts(kubeProxyFlags, values) },
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
