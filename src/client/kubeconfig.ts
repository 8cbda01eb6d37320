// kubeconfig files (https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/): read, merge, write.
// In-cluster configuration follows https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { parseYaml } from '#apimachinery/codec';
import { atomicWrite } from '#host';
import { type ClientConfig, emptyKubeconfig, formatKubeconfig, type Kubeconfig } from './kubeconfig-entries.ts';

const serviceAccountDir = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Reads one file; relative paths in it are made absolute. Throws when unreadable or not a kubeconfig. */
export const readKubeconfig = (path: string): Kubeconfig => parseKubeconfig(readFileSync(path, 'utf8'), path);

/** Reads the text of the file at `path`, which relative paths in it are made absolute by. Throws where it is not a kubeconfig. */
export function parseKubeconfig(text: string, path: string): Kubeconfig {
  const parsed = parseYaml(text).value;
  if (parsed === null || parsed === undefined) return emptyKubeconfig();
  if (typeof parsed !== 'object' || Array.isArray(parsed)) throw new Error(`${path} is not a kubeconfig`);
  const config: Kubeconfig = { ...emptyKubeconfig(), ...parsed };
  config.clusters ??= [];
  config.users ??= [];
  config.contexts ??= [];
  const base = dirname(resolve(path));
  for (const { cluster } of config.clusters) absolute(cluster, base, 'certificate-authority');
  for (const { user } of config.users)
    for (const key of ['client-certificate', 'client-key', 'tokenFile'] as const) absolute(user, base, key);
  return config;
}

function absolute<K extends string>(entry: Partial<Record<K, string>> | undefined, base: string, key: K): void {
  const value = entry?.[key];
  if (entry && value) entry[key] = resolve(base, value);
}

/** The files kubectl would read: $KUBECONFIG's list, else ~/.kube/config. */
export function kubeconfigPaths(env: Record<string, string | undefined>): string[] {
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  return listed.length > 0 ? listed : [join(env['HOME'] ?? homedir(), '.kube', 'config')];
}

/** The connection of a context (default: the current one). */
export function clientConfigOf(config: Kubeconfig, contextName = config['current-context']): ClientConfig {
  const context = config.contexts.find(({ name }) => name === contextName)?.context;
  if (!context) throw new Error(`context "${contextName}" does not exist`);
  const cluster = config.clusters.find(({ name }) => name === context.cluster)?.cluster;
  if (!cluster?.server) throw new Error(`cluster "${context.cluster}" does not exist`);
  const user = config.users.find(({ name }) => name === context.user)?.user ?? {};
  return {
    server: cluster.server,
    ca: pem(cluster['certificate-authority-data'], cluster['certificate-authority']),
    insecure: cluster['insecure-skip-tls-verify'],
    serverName: cluster['tls-server-name'],
    certificate: pem(user['client-certificate-data'], user['client-certificate']),
    key: pem(user['client-key-data'], user['client-key']),
    token: user.token,
    tokenFile: user.tokenFile,
    namespace: context.namespace,
  };
}

const pem = (data: string | undefined, path: string | undefined): string | undefined =>
  data ? Buffer.from(data, 'base64').toString('utf8') : path ? readFileSync(path, 'utf8') : undefined;

/** `--kubeconfig`, else the pod's own service account. Throws a sentence that says what to do. */
export function loadClientConfig(path: string | undefined, env: Record<string, string | undefined>): ClientConfig {
  if (path) return clientConfigOf(readKubeconfig(path));
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  if (!host || !port) throw new Error('not running in a pod and no --kubeconfig given: name a kubeconfig file with --kubeconfig');
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    ca: readFileSync(join(serviceAccountDir, 'ca.crt'), 'utf8'),
    tokenFile: join(serviceAccountDir, 'token'),
    namespace: readFileSync(join(serviceAccountDir, 'namespace'), 'utf8').trim(),
  };
}

/** Writes a kubeconfig as a whole or not at all, readable by its owner alone (mode 0600). */
export async function writeKubeconfig(path: string, config: Kubeconfig): Promise<void> {
  await atomicWrite(path, formatKubeconfig(config), { mode: 0o600 });
}
