// Empties and finalizes namespaces that are being deleted (pkg/controller/namespace).
import type { Namespace } from '#api/core/v1';
import { action, type ControllerDefinition, defineController, ownKey, type Plan, watch } from '#controller-runtime';
import { namespaces } from '#controller-runtime/platform';
import { allow } from '#controller-runtime/workload';
import { emptyNamespace } from './actions.ts';
import { afterRound } from './deletion.ts';

/** Given to other apiservers to notice, and to creations already on their way. */
const deletionGracePeriodMs = 5_000;

const empty = action<Namespace>('empty');

export interface NamespaceView {
  namespace: Namespace | undefined;
}

/** Decides whether a namespace is to be emptied now. */
export function reconcileNamespace({ namespace }: NamespaceView, now: number): Plan {
  const deletionTimestamp = namespace?.metadata.deletionTimestamp;
  if (!namespace || deletionTimestamp === undefined) return { effects: [] };
  if ((namespace.spec?.finalizers ?? []).length === 0) return { effects: [], because: 'The namespace is finalized.' };
  const waitMs = Date.parse(deletionTimestamp) + deletionGracePeriodMs - now;
  if (waitMs > 0)
    return { effects: [], requeueAfterMs: waitMs, because: 'The deletion has just begun: others may still be writing.' };
  return {
    effects: [...(namespace.status?.phase === 'Terminating' ? [] : [terminating(namespace)]), empty.on(namespace)],
    because: 'The namespace is being deleted, so everything in it goes first, pods before the rest.',
  };
}

function terminating(namespace: Namespace): Plan['effects'][number] {
  const object: Namespace = { ...namespace, status: { ...namespace.status, phase: 'Terminating' } };
  return { op: 'update', resource: namespaces, subresource: 'status', object };
}

export const namespaceController: ControllerDefinition = defineController<NamespaceView>({
  name: 'namespace-controller',
  aliases: ['namespace'],
  for: namespaces,
  concurrency: { flag: 'concurrent-namespace-syncs', default: 10 },
  rights: [
    allow('delete,get,list,watch', 'core', 'namespaces'),
    allow('update', 'core', 'namespaces/finalize,namespaces/status'),
    allow('delete,deletecollection,get,list,watch', '*', '*'),
  ],
  watches: [
    watch<Namespace>({
      resource: namespaces,
      keys: (namespace) => (namespace.metadata.deletionTimestamp ? ownKey(namespace) : []),
    }),
  ],
  view: (key, cache) => ({ namespace: cache.get<Namespace>(namespaces, '', key) }),
  reconcile: reconcileNamespace,
  actions: ({ client, clock }) => [
    empty.by(({ metadata }, signal) =>
      emptyNamespace(client, metadata.name ?? '', signal).then(({ namespace, report }) =>
        afterRound(namespace, report, clock.now()),
      ),
    ),
  ],
  backoff: { baseMs: 5, maxMs: 60_000 },
});
