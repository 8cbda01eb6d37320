// `sagong endpoint-access`.
import { askCluster, clusterPaths, dataDirOf, endpointAccessOf } from '#cluster';

export async function runEndpointAccess(mode: string, flags: { name: string; dataDir?: string }): Promise<void> {
  const access = endpointAccessOf(mode);
  await askCluster(clusterPaths(dataDirOf(flags.name, flags.dataDir)).controlSocket, 'PUT', '/endpoint-access', { mode: access });
  process.stdout.write(`The endpoint of the control plane is ${access} now; clients find their way by its name\n`);
}
