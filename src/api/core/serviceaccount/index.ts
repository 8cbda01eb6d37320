// Service accounts (core/v1; pkg/registry/core/serviceaccount).
import type { ServiceAccount } from '#api/core/v1';
import { age, columns } from '../../common/printing.ts';
import { defineKind } from '../../kind.ts';

const mountableSecrets = 'kubernetes.io/enforce-mountable-secrets';

/** References to secrets hold names only. */
function cleanReferences(draft: ServiceAccount): void {
  if (draft.secrets) draft.secrets = draft.secrets.map(({ name }) => (name === undefined ? {} : { name }));
}

export const serviceAccount = defineKind<ServiceAccount>({
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  prepareForCreate: cleanReferences,
  prepareForUpdate: cleanReferences,
  warnings({ metadata }, old) {
    if (metadata.annotations?.[mountableSecrets] === undefined || old?.metadata.annotations?.[mountableSecrets] !== undefined)
      return [];
    return [
      `metadata.annotations[${mountableSecrets}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
    ];
  },
  printer: { columns: columns('Name', 'Age'), cells: ({ metadata }, now) => [metadata.name ?? '', age(metadata, now)] },
  deletion: { returnsObject: true },
});
