// What a kubeconfig holds: made, merged and taken apart as data. Pure.
import { formatYaml } from '#apimachinery/codec';

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

export const emptyKubeconfig = (): Kubeconfig => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [],
  users: [],
  contexts: [],
  'current-context': '',
});

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
