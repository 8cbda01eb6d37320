// `sagong node`: kubelet and kube-proxy of one real node in one process, each with its own identity. Started by `sagong up` inside the
// node's namespaces.
import { readFile } from 'node:fs/promises';
import type { NodeAgentConfig } from '#cluster';
import { createInformerFactory } from '#client';
import { execCommand } from '#host';
import { defaultOptions, runKubelet } from '#kubelet';
import { runKubeProxy } from '#kube-proxy';
import { clientFor, componentDeps, untilStopped } from '../component.ts';

const logs = { verbosity: 0, loggingFormat: 'text' } as const;

export async function runNode(path: string): Promise<void> {
  const config = JSON.parse(await readFile(path, 'utf8')) as NodeAgentConfig;
  const proxyDeps = componentDeps('kube-proxy', logs);
  const kubeletDeps = componentDeps('kubelet', logs);
  const informers = createInformerFactory({
    ...proxyDeps,
    client: clientFor('kube-proxy', config.kubeProxyKubeconfig, proxyDeps.clock).client,
  });
  const proxy = await runKubeProxy(
    { nodeName: config.nodeName, clusterCidr: config.clusterCidr },
    { ...proxyDeps, informers, exec: execCommand },
  );
  informers.start();
  const [cert, key, ca] = await Promise.all(
    [config.tlsCertFile, config.tlsPrivateKeyFile, config.clientCaFile].map((file) => readFile(file, 'utf8')),
  );
  const kubelet = await runKubelet(
    {
      ...defaultOptions(config.nodeName),
      nodeIPs: [config.nodeIp],
      clusterDNS: [config.clusterDns],
      clusterDomain: config.clusterDomain,
      rootDir: config.rootDir,
      podLogsDir: config.podLogsDir,
      containerRuntimeEndpoint: config.containerRuntimeEndpoint,
      podInfraImage: config.podInfraImage,
    },
    {
      ...kubeletDeps,
      client: clientFor('kubelet', config.kubeletKubeconfig, kubeletDeps.clock).client,
      serving: {
        tls: { cert: cert ?? '', key: key ?? '', ca, requestClientCert: true },
        anonymous: false,
        tokenReview: true,
        authorization: 'Webhook',
      },
    },
  );
  await untilStopped(async () => {
    informers.stop();
    await Promise.all([proxy.stop(), kubelet.close()]);
  });
}
