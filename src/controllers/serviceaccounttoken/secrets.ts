// Secrets that hold tokens of service accounts (https://kubernetes.io/docs/concepts/configuration/secret/#serviceaccount-token-secrets). Pure.
import type { Pod, Secret, ServiceAccount } from '#api/core/v1';

export const tokenType = 'kubernetes.io/service-account-token';
export const nameAnnotation = 'kubernetes.io/service-account.name';
export const uidAnnotation = 'kubernetes.io/service-account.uid';

export const accountNameOf = ({ metadata }: Secret): string => metadata.annotations?.[nameAnnotation] ?? '';

/** Whether the secret is for this very account. */
export function isFor({ metadata }: Secret, account: ServiceAccount | undefined): account is ServiceAccount {
  const uid = metadata.annotations?.[uidAnnotation] ?? '';
  return account !== undefined && (uid === '' || uid === account.metadata.uid);
}

interface NamesSecret {
  secretRef?: { name?: string };
  secretName?: string;
  nodePublishSecretRef?: { name?: string };
}

/** All Secrets that a pod names in any way. */
export function* secretsOf({ spec }: Pod): Iterable<string> {
  for (const { name } of spec?.imagePullSecrets ?? []) if (name) yield name;
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? [])];
  for (const { env = [], envFrom = [] } of containers) {
    for (const { secretRef } of envFrom) if (secretRef?.name) yield secretRef.name;
    for (const { valueFrom } of env) if (valueFrom?.secretKeyRef?.name) yield valueFrom.secretKeyRef.name;
  }
  for (const { name: _, projected, ...sources } of spec?.volumes ?? []) {
    for (const { secret } of projected?.sources ?? []) if (secret?.name) yield secret.name;
    for (const source of Object.values(sources) as (NamesSecret | undefined)[]) {
      const found = source?.secretName ?? source?.secretRef?.name ?? source?.nodePublishSecretRef?.name;
      if (found) yield found;
    }
  }
}
