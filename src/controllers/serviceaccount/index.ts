// Keeps the ServiceAccount `default` in every namespace (pkg/controller/serviceaccount).
import type { Namespace, ServiceAccount } from '#api/core/v1';
import { defineController, watch } from '#controller-runtime';
import { namespaces, serviceAccounts } from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';

const name = 'default';

export const serviceAccountController = defineController({
  name: 'serviceaccount-controller',
  aliases: ['serviceaccount'],
  for: namespaces,
  serviceAccount: 'service-account-controller',
  rights: [allow('create', 'core', 'serviceaccounts'), recordEvents],
  watches: [
    watch<Namespace>({ resource: namespaces, keys: ({ metadata }) => [metadata.name ?? ''] }),
    watch<ServiceAccount>({
      resource: serviceAccounts,
      keys: ({ metadata }, old) => (old || metadata.name !== name ? [] : [metadata.namespace ?? '']),
    }),
  ],
  view: (key, cache) => ({
    namespace: cache.get<Namespace>(namespaces, '', key),
    account: cache.get<ServiceAccount>(serviceAccounts, key, name),
  }),
  reconcile({ namespace, account }) {
    if (namespace?.status?.phase !== 'Active' || account) return { effects: [] };
    const object: ServiceAccount = {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name, namespace: namespace.metadata.name ?? '' },
    };
    return {
      effects: [{ op: 'create', resource: serviceAccounts, object }],
      because: 'Pods that name no service account run as the one called default, so every namespace needs it.',
    };
  },
});
