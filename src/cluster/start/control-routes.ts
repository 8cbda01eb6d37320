// What other commands may ask a running cluster, over its control socket.
import { endpointAccessOf } from '../flags/endpoint-access.ts';
import type { ClusterNodes } from '../cluster-nodes/cluster-nodes.ts';
import type { ControlPlane, PlaneAccess } from '../control-plane.ts';
import { controlPlaneStates } from '../control-planes/states.ts';
import type { ControlRequest } from '../control-socket.ts';
import { explain } from '../explain/explain.ts';
import type { Clock } from '#utils';
import { changeSettings, type ClusterSettings } from '../state/settings.ts';
import { storeRoutes } from '../store/store-control.ts';
import type { UserAccess } from '../access/user-access.ts';

interface Asked {
  settings: ClusterSettings;
  plane: PlaneAccess;
  /** Where it is in this process. */
  own: ControlPlane | undefined;
  nodes: ClusterNodes | undefined;
  access: UserAccess;
  clock: Clock;
}

/** The questions and wishes of other commands that a running cluster answers. */
export const controlRoutes = ({ settings, plane, own, nodes, access, clock }: Asked): Record<string, ControlRequest> => ({
  ...storeRoutes(own?.apiserver.store),
  'GET /control-planes': async () => (nodes?.controlPlanes ? controlPlaneStates(nodes.controlPlanes) : []),
  'GET /components': () => Promise.resolve(plane.supervisor.status()),
  'GET /explain': (query) =>
    explain(plane, {
      kind: query.get('kind') ?? '',
      namespace: query.get('namespace') ?? 'default',
      name: query.get('name') ?? '',
      nowMs: clock.now(),
    }),
  'PUT /endpoint-access': async (query) => {
    const mode = endpointAccessOf(query.get('mode') ?? '');
    if (!nodes) throw new Error('this cluster has no nodes');
    await nodes.setEndpointAccess(mode);
    await changeSettings(settings.dataDir, (now) => ({ ...now, endpointAccess: mode }));
    if (nodes.endpoint) await access.tellEndpoint(nodes.endpoint);
  },
});
