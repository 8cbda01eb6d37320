// Keeps the number of pods a ReplicationController asks for (pkg/controller/replication).
import type { ReplicationController } from '#api/core/v1';
import { setSelector } from '#component-helpers/workload';
import { allow, recordEvents, replicaController, replicationControllers } from '#controller-runtime/workload';

export const replicationController = replicaController<ReplicationController>({
  name: 'replicationcontroller-controller',
  aliases: ['replicationcontroller'],
  serviceAccount: 'replication-controller',
  eventSource: 'replication-controller',
  apiVersion: 'v1',
  kind: 'ReplicationController',
  resource: replicationControllers,
  concurrency: { flag: 'concurrent-rc-syncs', default: 5 },
  selector: ({ spec }) => setSelector(spec?.selector),
  countsTerminating: false,
  rights: [
    allow('get,list,update,watch', 'core', 'replicationcontrollers'),
    allow('update', 'core', 'replicationcontrollers/status'),
    allow('update', 'core', 'replicationcontrollers/finalizers'),
    allow('create,delete,list,patch,watch', 'core', 'pods'),
    recordEvents,
  ],
});
