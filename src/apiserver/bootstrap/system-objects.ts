// The namespaces, priority classes and configuration every cluster starts with (pkg/controlplane/controller/systemnamespaces,
// pkg/registry/scheduling/rest, pkg/controlplane/controller/clusterauthenticationtrust).
import type { ConfigMap, Namespace } from '#api/core/v1';
import type { PriorityClass } from '#api/scheduling/v1';

export const systemNamespaces = ['kube-system', 'kube-public', 'kube-node-lease', 'default'] as const;

export const namespace = (name: string): Namespace => ({ metadata: { name } });

export const defaultPriorityClasses = (): PriorityClass[] => [
  {
    metadata: { name: 'system-cluster-critical' },
    value: 2_000_000_000,
    description: 'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
  {
    metadata: { name: 'system-node-critical' },
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
];

/** What extension apiservers need to trust this one. Lists are given as flags give them. */
export interface AuthenticationTrust {
  /** PEM bundle. */
  clientCa?: string;
  requestHeader?: {
    ca: string;
    allowedNames: readonly string[];
    usernameHeaders: readonly string[];
    uidHeaders: readonly string[];
    groupHeaders: readonly string[];
    extraHeaderPrefixes: readonly string[];
  };
}

export function authenticationConfigMap({ clientCa, requestHeader }: AuthenticationTrust): ConfigMap {
  const json = (words: readonly string[]): string => JSON.stringify(words);
  return {
    metadata: { name: 'extension-apiserver-authentication', namespace: 'kube-system' },
    data: {
      ...(clientCa !== undefined && { 'client-ca-file': clientCa }),
      ...(requestHeader && {
        'requestheader-allowed-names': json(requestHeader.allowedNames),
        'requestheader-client-ca-file': requestHeader.ca,
        'requestheader-extra-headers-prefix': json(requestHeader.extraHeaderPrefixes),
        'requestheader-group-headers': json(requestHeader.groupHeaders),
        'requestheader-uid-headers': json(requestHeader.uidHeaders),
        'requestheader-username-headers': json(requestHeader.usernameHeaders),
      }),
    },
  };
}

const missingData = (current: ConfigMap, wanted: ConfigMap): boolean =>
  Object.entries(wanted.data ?? {}).some(([key, value]) => current.data?.[key] !== value);

/** The config map with this server's entries; undefined when it has them. */
export const reconciledConfigMap = (current: ConfigMap, wanted: ConfigMap): ConfigMap | undefined =>
  missingData(current, wanted) ? { ...current, data: { ...current.data, ...wanted.data } } : undefined;

/** Since when the use of service account tokens from Secrets is tracked (pkg/controlplane/controller/legacytokentracking). */
export const tokenTrackingConfigMap = (nowMs: number): ConfigMap => ({
  metadata: { name: 'kube-apiserver-legacy-service-account-token-tracking', namespace: 'kube-system' },
  data: { since: new Date(nowMs).toISOString().slice(0, 10) },
});

const isDate = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));

/** The config map with a date, where it has none that can be read. */
export const trackedSince = (current: ConfigMap, wanted: ConfigMap): ConfigMap | undefined =>
  isDate(current.data?.['since'] ?? '') ? undefined : { ...current, data: { ...current.data, ...wanted.data } };
