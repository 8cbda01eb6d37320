// `sagong kube-apiserver`.
import { kubeApiServerFlags, optionsFromFlags, runKubeApiServer } from '#apiserver/app';
import { type Command, command, flagTexts } from '#component-base';
import { componentDeps, untilStopped } from '../component.ts';
import { descriptions } from '../process/program.ts';

export const kubeApiServerCommand = (): Command =>
  command({
    name: 'kube-apiserver',
    description: 'The Kubernetes API server validates and configures data for the API objects.',
    upstream: true,
    flags: kubeApiServerFlags(),
    async run({ values, changed }) {
      const deps = componentDeps('kube-apiserver', values);
      const flags = () => flagTexts(kubeApiServerFlags(), values);
      const server = await runKubeApiServer(await optionsFromFlags(values, changed), {
        ...deps,
        descriptions,
        flags,
        alone: true,
      });
      const failed = server.failed.then((reason) => deps.logger.error('kube-apiserver ends', { err: reason.message }));
      await untilStopped(() => server.close(), failed);
    },
  });
