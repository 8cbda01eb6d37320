// The server behind corpus-server.mjs: kube-apiserver with the settings of the recording, one static token of system:masters.
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { generateKeyPair, privateKeyPem } from '#pki';
import { createLogger } from '#component-base';
import { systemClock, systemRng } from '#host';
import { defaultOptions, runKubeApiServer } from '#apiserver/app';

export interface CorpusServerOptions {
  kubeconfig: string;
  port: number;
  dataDir?: string;
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

export async function main({ kubeconfig, port, dataDir = '' }: CorpusServerOptions): Promise<void> {
  const clock = systemClock();
  const logger = createLogger({ clock, component: 'kube-apiserver' });
  const options = {
    ...defaultOptions(),
    store: { etcdServers: [], dataDir },
    securePort: port,
    tokenFile: 'corpus,admin,,system:masters\n',
    serviceAccountSigningKey: privateKeyPem(generateKeyPair('RSA-2048').privateKey),
  };
  const server = await runKubeApiServer(options, {
    clock,
    rng: systemRng(),
    logger,
    descriptions: () => readFile('dist/openapi-descriptions.json', 'utf8').catch(() => undefined),
    alone: true,
  });
  await server.started;
  writeFileSync(kubeconfig, kubeconfigText(server.ca ?? '', server.url));
  console.log(kubeconfig);
}
