// What other commands may ask a running cluster, over its control socket.
import { endpointAccessOf } from './cloud/endpoint-access.ts';
import type { ClusterNodes } from './cloud/nodes.ts';
import type { ControlPlane, PlaneAccess } from './control-plane.ts';
import { controlPlaneStates } from './control-planes/states.ts';
import type { ControlRequest } from './control-socket.ts';
import { explain } from './explain.ts';
import { type ClusterSettings, loadSettings, saveSettings } from './state/settings.ts';
import { storeRoutes } from './store/store-control.ts';
import type { UserAccess } from './access/user-access.ts';

interface Asked {
  settings: ClusterSettings;
  plane: PlaneAccess;
  /** Where it is in this process. */
  own: ControlPlane | undefined;
  nodes: ClusterNodes | undefined;
  access: UserAccess;
}

/** What other commands may ask. */
export const controlRoutes = ({ settings, plane, own, nodes, access }: Asked): Record<string, ControlRequest> => ({
  ...storeRoutes(own?.apiserver.store),
  'GET /control-planes': async () => (nodes?.controlPlanes ? controlPlaneStates(nodes.controlPlanes) : []),
  'GET /components': () => Promise.resolve(plane.supervisor.status()),
  'GET /explain': (query) =>
    explain(plane, query.get('kind') ?? '', query.get('namespace') ?? 'default', query.get('name') ?? ''),
  'PUT /endpoint-access': async (query) => {
    const mode = endpointAccessOf(query.get('mode') ?? '');
    if (!nodes) throw new Error('this cluster has no nodes');
    await nodes.setEndpointAccess(mode);
    await saveSettings({ ...((await loadSettings(settings.dataDir)) ?? settings), endpointAccess: mode });
    if (nodes.endpoint) await access.tellEndpoint(nodes.endpoint);
  },
});
