// Keeps the number of pods a ReplicaSet asks for (pkg/controller/replicaset).
import type { ReplicaSet } from '#api/apps/v1';
import { workloadSelector } from '#component-helpers/workload';
import { allow, recordEvents, replicaController, replicaSets } from '#controller-runtime/workload';

export const replicaSetController = replicaController<ReplicaSet>({
  name: 'replicaset-controller',
  aliases: ['replicaset'],
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  resource: replicaSets,
  concurrency: { flag: 'concurrent-replicaset-syncs', default: 5 },
  selector: ({ spec }) => workloadSelector(spec?.selector),
  countsTerminating: true,
  rights: [
    allow('get,list,update,watch', 'apps,extensions', 'replicasets'),
    allow('update', 'apps,extensions', 'replicasets/status'),
    allow('update', 'apps,extensions', 'replicasets/finalizers'),
    allow('create,delete,list,patch,watch', 'core', 'pods'),
    recordEvents,
  ],
});
