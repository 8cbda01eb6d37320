// kubeconfig files (https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/): read, merge, write.
// In-cluster configuration follows https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { formatYaml, parseYaml } from '#apimachinery/codec';
import { atomicWrite } from '#host';

interface Named<K extends string, V> {
  entries: (Record<K, V> & { name: string })[];
}
export interface ClusterEntry {
  server: string;
  'certificate-authority'?: string;
  'certificate-authority-data'?: string;
  'insecure-skip-tls-verify'?: boolean;
  'tls-server-name'?: string;
}
export interface UserEntry {
  'client-certificate'?: string;
  'client-certificate-data'?: string;
  'client-key'?: string;
  'client-key-data'?: string;
  token?: string;
  tokenFile?: string;
}
export interface ContextEntry {
  cluster: string;
  user: string;
  namespace?: string;
  /** What programs keep with it, by their names. */
  extensions?: { name: string; extension: unknown }[];
}
export interface Kubeconfig {
  apiVersion: 'v1';
  kind: 'Config';
  clusters: Named<'cluster', ClusterEntry>['entries'];
  users: Named<'user', UserEntry>['entries'];
  contexts: Named<'context', ContextEntry>['entries'];
  'current-context': string;
  preferences?: Record<string, unknown>;
}

/** Everything needed to connect as one user. PEM strings; `tokenFile` is read anew as it changes. */
export interface ClientConfig {
  server: string;
  ca?: string;
  insecure?: boolean;
  serverName?: string;
  certificate?: string;
  key?: string;
  token?: string;
  tokenFile?: string;
  namespace?: string;
}

const serviceAccountDir = '/var/run/secrets/kubernetes.io/serviceaccount';

export const emptyKubeconfig = (): Kubeconfig => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [],
  users: [],
  contexts: [],
  'current-context': '',
});

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

/** A kubeconfig with one cluster, one user and one context, all called `name`. */
export function kubeconfigFor(name: string, client: ClientConfig): Kubeconfig {
  const encode = (text: string): string => Buffer.from(text).toString('base64');
  return {
    ...emptyKubeconfig(),
    clusters: [
      {
        name,
        cluster: {
          ...(client.ca && { 'certificate-authority-data': encode(client.ca) }),
          server: client.server,
          ...(client.serverName && { 'tls-server-name': client.serverName }),
        },
      },
    ],
    users: [
      {
        name,
        user: {
          ...(client.certificate && { 'client-certificate-data': encode(client.certificate) }),
          ...(client.key && { 'client-key-data': encode(client.key) }),
          ...(client.token && { token: client.token }),
        },
      },
    ],
    contexts: [{ name, context: { cluster: name, user: name, ...(client.namespace && { namespace: client.namespace }) } }],
    'current-context': name,
  };
}

const put = <E extends { name: string }>(entries: E[], added: readonly E[]): E[] => [
  ...entries.filter(({ name }) => !added.some((entry) => entry.name === name)),
  ...added,
];

/** `base` with the entries of `added` in place of its own of the same names, and `added`'s current context. */
export function mergeKubeconfig(base: Kubeconfig, added: Kubeconfig): Kubeconfig {
  return {
    ...base,
    clusters: put(base.clusters, added.clusters),
    users: put(base.users, added.users),
    contexts: put(base.contexts, added.contexts),
    'current-context': added['current-context'],
  };
}

/** The kubeconfig `base` without the cluster, the user and the context of that name. */
export function withoutContext(base: Kubeconfig, name: string): Kubeconfig {
  const keep = <E extends { name: string }>(entries: E[]): E[] => entries.filter((entry) => entry.name !== name);
  return {
    ...base,
    clusters: keep(base.clusters),
    users: keep(base.users),
    contexts: keep(base.contexts),
    'current-context': base['current-context'] === name ? '' : base['current-context'],
  };
}

/** The text of a file, as kubectl writes and reads it: what is no text in YAML 1.1 (a cluster called `no`) is quoted. */
export const formatKubeconfig = (config: Kubeconfig): string => formatYaml(config);

/** Writes a kubeconfig as a whole or not at all, readable by its owner alone (mode 0600). */
export async function writeKubeconfig(path: string, config: Kubeconfig): Promise<void> {
  await atomicWrite(path, formatKubeconfig(config), { mode: 0o600 });
}
