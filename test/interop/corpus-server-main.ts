// The server behind corpus-server.mjs: memory store (or LMDB in a folder), own certificate authority, one static token.
import { writeFileSync } from 'node:fs';
import { createApiServer } from '#apiserver';
import { createLogger } from '#component-base';
import { systemClock, systemRng } from '#host';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { openLmdbStore, openMemoryStore } from '#store';
import { serve } from '#wire';

export interface CorpusServerOptions {
  kubeconfig: string;
  port: number;
  dataDir?: string;
}

const kubeconfigText = (ca: string, port: number): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'corpus',
        cluster: { server: `https://127.0.0.1:${port}`, 'certificate-authority-data': Buffer.from(ca).toString('base64') },
      },
    ],
    users: [{ name: 'corpus', user: { token: 'corpus' } }],
    contexts: [{ name: 'corpus', context: { cluster: 'corpus', user: 'corpus' } }],
    'current-context': 'corpus',
  });

export async function main({ kubeconfig, port, dataDir }: CorpusServerOptions): Promise<void> {
  const clock = systemClock();
  const store = dataDir === undefined ? openMemoryStore({ clock }) : await openLmdbStore({ path: dataDir, clock });
  const logger = createLogger({ clock, component: 'kube-apiserver' });
  const server = await createApiServer({ store, clock, rng: systemRng(), logger });
  const ca = createCertificateAuthority({ commonName: 'corpus-ca', clock });
  const serving = issueCertificate({
    ca,
    commonName: 'kube-apiserver',
    ips: ['127.0.0.1'],
    dnsNames: ['localhost'],
    usages: ['digital signature', 'key encipherment', 'server auth'],
    clock,
  });
  const wire = await serve({
    tls: { ...serving, ca: ca.cert, requestClientCert: true },
    listen: { host: '127.0.0.1', port },
    onRequest: server.handle,
    logger,
  });
  await server.writer.create('', 'namespaces', { metadata: { name: 'default' } }).catch(() => undefined);
  writeFileSync(kubeconfig, kubeconfigText(ca.cert, wire.port));
  console.log(kubeconfig);
}
