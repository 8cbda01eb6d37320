// `sagong endpoint-access` and `sagong describe-cluster`.
import { askCluster, clusterPaths, dataDirOf, describeCluster, describedTable, endpointAccessOf } from '#cluster';
import { say } from '../process/say.ts';

export async function runEndpointAccess(mode: string, flags: { name: string; dataDir?: string }): Promise<void> {
  const access = endpointAccessOf(mode);
  await askCluster(clusterPaths(dataDirOf(flags.name, flags.dataDir)).controlSocket, 'PUT', '/endpoint-access', { mode: access });
  say(`The endpoint of the control plane is ${access} now; clients find their way by its name`);
}

export async function runDescribeCluster({
  name,
  dataDir,
  output = 'json',
}: {
  name: string;
  dataDir?: string;
  output?: 'json' | 'table';
}): Promise<void> {
  const described = await describeCluster(dataDirOf(name, dataDir));
  say(output === 'table' ? describedTable(described) : JSON.stringify(described, null, 4));
}
