// The kubelet's serving certificate from the cluster (KubeletConfiguration serverTLSBootstrap): asked for with the addresses that the node has now,
// again when they change, and long before it ends. Somebody has to approve it, as the signer's documentation says.
import { CertificateManager, type KubeClient } from '#client';
import type { Clock, Logger, Rng } from '#utils';
import type { ServerTls, WireServer } from '#wire';

export interface ServingOptions {
  nodeName: string;
  hostname: string;
  certDir: string;
  /** The node's addresses, as far as they are known. */
  addresses(): readonly string[];
  client: KubeClient;
  server: WireServer;
  /** Everything but certificate and key. */
  tls: ServerTls;
}

/** Gives what ends it. Until the first certificate is there the server shows the one that it began with. */
export function renewServing(options: ServingOptions, deps: { clock: Clock; rng: Rng; logger: Logger }): { close(): void } {
  const { nodeName, hostname, certDir, addresses, client, server, tls } = options;
  const manager = new CertificateManager(
    {
      dir: certDir,
      name: 'kubelet-server',
      signerName: 'kubernetes.io/kubelet-serving',
      usages: ['digital signature', 'server auth'],
      subject() {
        const ips = addresses();
        const commonName = `system:node:${nodeName}`;
        return ips.length === 0 ? undefined : { commonName, organizations: ['system:nodes'], dnsNames: [hostname], ips };
      },
      client: () => client,
      onChange: ({ cert, key }) => server.reloadTls({ ...tls, cert, key, requestClientCert: true }),
    },
    deps,
  );
  manager.run();
  return manager;
}
