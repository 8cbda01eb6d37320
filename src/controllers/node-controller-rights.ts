// What the service account node-controller may do: three loops act as it, so its role is one.
import { allow, recordEvents } from '#controller-runtime/workload';

export const nodeControllerRights = [
  allow('delete,get,list,patch,update,watch', 'core', 'nodes'),
  allow('patch,update', 'core', 'nodes/status'),
  allow('patch,update', 'core', 'pods/status'),
  allow('delete,get,list,watch', 'core', 'pods'),
  recordEvents,
];
