// How a kubelet comes to its identity (https://kubernetes.io/docs/reference/access-authn-authz/kubelet-tls-bootstrapping/): a kubeconfig with a
// bootstrap token asks for the first client certificate and is then not needed any more; the certificate is renewed while the kubelet runs.
import { existsSync } from 'node:fs';
import {
  CertificateManager,
  type ClientConfig,
  createClient,
  createRestTransport,
  currentCertificate,
  type KubeClient,
  kubeconfigFor,
  loadClientConfig,
  writeKubeconfig,
} from '#client';
import { userAgent } from '#component-base';
import { parseCertificates } from '#pki';
import type { Clock, Logger, Rng } from '#utils';
import type { Dial } from '#wire';

export interface IdentityOptions {
  nodeName: string;
  /** Written when it is missing or its certificate is over. */
  kubeconfig: string;
  /** The path of a bootstrap kubeconfig. With '' there is no bootstrapping, and the kubeconfig has to exist. */
  bootstrapKubeconfig: string;
  /** The folder of the certificates that the kubelet requests. */
  certDir: string;
  /** Whether the certificate is renewed before its end. */
  rotate: boolean;
  /** Opens connections in place of the kubelet. */
  dial?: Dial | undefined;
}

export interface NodeIdentity {
  readonly client: KubeClient;
  close(): void;
}

interface Deps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
}

const name = 'kubelet-client';
const signerName = 'kubernetes.io/kube-apiserver-client-kubelet';
const usages = ['digital signature', 'client auth'];

/** What is there, when it can be used: with a certificate, one that is not over. */
function usable(path: string, clock: Clock): ClientConfig | undefined {
  if (!existsSync(path)) return undefined;
  try {
    const config = loadClientConfig(path, {});
    const [leaf] = config.certificate ? parseCertificates(config.certificate) : [];
    return leaf && leaf.notAfter <= clock.now() ? undefined : config;
  } catch {
    return undefined;
  }
}

const clientOf = (config: ClientConfig, clock: Clock, dial: Dial | undefined) =>
  createRestTransport({ config, clock, userAgent: userAgent('kubelet'), ...(dial && { dial }) });

/** Resolves when the kubelet has a client certificate; rejects when it is denied one, or with what is wrong with the files. */
export async function openIdentity(options: IdentityOptions, deps: Deps, signal?: AbortSignal): Promise<NodeIdentity> {
  const { kubeconfig, bootstrapKubeconfig, certDir, rotate } = options;
  if (bootstrapKubeconfig !== '' && !usable(kubeconfig, deps.clock)) await bootstrap(options, deps, signal);
  const config = loadClientConfig(kubeconfig || undefined, process.env);
  const transport = clientOf(config, deps.clock, options.dial);
  const client = createClient(transport);
  if (!rotate || !config.certificate || !config.key) return { client, close: () => client.close() };
  const manager = new CertificateManager(
    {
      ...{ dir: certDir, name, signerName, usages },
      subject: () => subjectOf(options),
      client: () => client,
      initial: { cert: config.certificate, key: config.key },
      onChange: ({ cert, key }) => transport.use({ ...config, certificate: cert, key }),
    },
    deps,
  );
  await manager.load();
  manager.wake();
  return {
    client,
    close() {
      manager.close();
      client.close();
    },
  };
}

const subjectOf = ({ nodeName }: IdentityOptions) => ({ commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] });

async function bootstrap(options: IdentityOptions, deps: Deps, signal: AbortSignal | undefined): Promise<void> {
  const { bootstrapKubeconfig, certDir, kubeconfig } = options;
  const { logger, clock } = deps;
  logger.info('Using bootstrap kubeconfig to generate TLS client cert, key and kubeconfig file', { bootstrapKubeconfig });
  const config = loadClientConfig(bootstrapKubeconfig, {});
  const transport = clientOf(config, clock, options.dial);
  const client = createClient(transport);
  const wish = { dir: certDir, name, signerName, usages, subject: () => subjectOf(options), client: () => client };
  const manager = new CertificateManager(wish, deps);
  try {
    await manager.start(signal);
  } finally {
    manager.close();
    client.close();
  }
  const file = currentCertificate(certDir, name);
  const { server, ca, insecure, serverName } = config;
  const written = kubeconfigFor('default-cluster', { server, ca, insecure, serverName });
  const user = { 'client-certificate': file, 'client-key': file };
  await writeKubeconfig(kubeconfig, { ...written, users: [{ name: 'default-auth', user }], contexts: contextsOf(written) });
}

const contextsOf = ({ contexts }: ReturnType<typeof kubeconfigFor>) =>
  contexts.map(({ name: context, context: { cluster } }) => ({ name: context, context: { cluster, user: 'default-auth' } }));
