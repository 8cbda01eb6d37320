// The server and the credentials of a kubeconfig's current context, for webhooks that are configured by one
// (k8s.io/apiserver/pkg/util/webhook, LoadKubeconfig).
import { folderOf, pathBeside, readText } from '../platform/files.ts';
import { parseYaml } from '#apimachinery/codec';
import type { ClientTls } from '#wire';

export interface WebhookServer {
  /** With its path, if it has one. */
  url: string;
  tls: ClientTls;
  /** `Authorization`, asked for each post: token files change. */
  authorization(): Promise<string | undefined>;
}

interface Cluster {
  server?: string;
  'certificate-authority'?: string;
  'certificate-authority-data'?: string;
  'insecure-skip-tls-verify'?: boolean;
  'tls-server-name'?: string;
}
interface User {
  token?: string;
  tokenFile?: string;
  username?: string;
  password?: string;
  'client-certificate'?: string;
  'client-certificate-data'?: string;
  'client-key'?: string;
  'client-key-data'?: string;
}
interface Config {
  'current-context'?: string;
  contexts?: { name?: string; context?: { cluster?: string; user?: string } }[];
  clusters?: { name?: string; cluster?: Cluster }[];
  users?: { name?: string; user?: User }[];
}

async function pem(folder: string, data: string | undefined, path: string | undefined): Promise<string | undefined> {
  if (data) return Buffer.from(data, 'base64').toString();
  return path ? readText(pathBeside(folder, path)) : undefined;
}

async function tlsOf(folder: string, cluster: Cluster, user: User): Promise<ClientTls> {
  const ca = await pem(folder, cluster['certificate-authority-data'], cluster['certificate-authority']);
  const cert = await pem(folder, user['client-certificate-data'], user['client-certificate']);
  const key = await pem(folder, user['client-key-data'], user['client-key']);
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && key !== undefined && { cert, key }),
    ...(cluster['tls-server-name'] && { serverName: cluster['tls-server-name'] }),
    ...(cluster['insecure-skip-tls-verify'] && { insecureSkipVerify: true }),
  };
}

/** Rejects with an Error that says what is missing. */
export async function readWebhookServer(path: string): Promise<WebhookServer> {
  const config = (parseYaml(await readText(path)).value ?? {}) as Config;
  const current = config['current-context'] ?? '';
  const context = config.contexts?.find(({ name }) => name === current)?.context;
  if (!context) {
    throw new Error(
      current === ''
        ? 'invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable'
        : `invalid configuration: [context was not found for specified context: ${current}, cluster has no server defined]`,
    );
  }
  const cluster = config.clusters?.find(({ name }) => name === context.cluster)?.cluster ?? {};
  const user = config.users?.find(({ name }) => name === context.user)?.user ?? {};
  if (!cluster.server) throw new Error(`invalid configuration: cluster has no server defined`);
  const folder = folderOf(path);
  const { token, tokenFile, username, password } = user;
  return {
    url: cluster.server,
    tls: await tlsOf(folder, cluster, user),
    async authorization() {
      if (tokenFile) return `Bearer ${(await readText(pathBeside(folder, tokenFile))).trim()}`;
      if (token) return `Bearer ${token}`;
      return username ? `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}` : undefined;
    },
  };
}
