// The servers behind scheduler-server.mjs: kube-apiserver and kube-scheduler in one process, without nodes or controllers.
import { readFileSync, writeFileSync } from 'node:fs';
import { createClient } from '#client';
import { createLogger } from '#component-base';
import { systemClock, systemRng } from '#host';
import { generateKeyPair, privateKeyPem } from '#pki';
import { defaultOptions, runKubeApiServer } from '#apiserver/app';
import { parseConfiguration, runKubeScheduler } from '#scheduler';

export interface SchedulerServerOptions {
  kubeconfig: string;
  port: number;
  /** KubeSchedulerConfiguration file. */
  config?: string;
}

const kubeconfigText = (ca: string, server: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'corpus', cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    users: [{ name: 'corpus', user: { token: 'corpus' } }],
    contexts: [{ name: 'corpus', context: { cluster: 'corpus', user: 'corpus' } }],
    'current-context': 'corpus',
  });

export async function main({ kubeconfig, port, config }: SchedulerServerOptions): Promise<void> {
  const clock = systemClock();
  const rng = systemRng();
  const options = {
    ...defaultOptions(),
    store: { etcdServers: [], dataDir: '' },
    securePort: port,
    tokenFile: 'corpus,admin,,system:masters\n',
    serviceAccountSigningKey: privateKeyPem(generateKeyPair('RSA-2048').privateKey),
  };
  const server = await runKubeApiServer(options, { clock, rng, logger: createLogger({ clock, component: 'kube-apiserver' }) });
  await server.started;
  const user = { name: 'system:kube-scheduler', groups: ['system:authenticated'] };
  const profiles = config === undefined ? [] : (parseConfiguration(readFileSync(config, 'utf8')).profiles ?? []);
  const scheduler = runKubeScheduler(
    { profiles },
    {
      client: createClient(server.transport(user, 'kube-scheduler')),
      clock,
      rng,
      logger: createLogger({ clock, component: 'kube-scheduler' }),
    },
  );
  await scheduler.started;
  writeFileSync(kubeconfig, kubeconfigText(server.ca ?? '', server.url));
  console.log(kubeconfig);
}
