// Where a stopped cluster's own store is, for commands on its files. A store beside the one that a cluster uses would be read and saved as if it were that.
import { clusterPaths, isClusterDir } from '../state/paths.ts';
import { loadSettings } from '../state/settings.ts';

/** The folder of the store. Rejects with a sentence where there is no cluster, and where its data is in an etcd. */
export async function embeddedStorePath(dataDir: string): Promise<string> {
  if (!isClusterDir(dataDir)) throw new Error(`there is no cluster in ${dataDir}`);
  const { etcd, controlPlanes, machine } = (await loadSettings(dataDir)) ?? {};
  if (controlPlanes || machine?.controlPlane)
    throw new Error(
      'the data of this cluster is in the etcd of its control planes: "sagong snapshot save" and "restore" are for it, and etcdctl there',
    );
  if (etcd) throw new Error(`the data of this cluster is in an etcd, ${etcd.servers.join(',')}: use etcdctl`);
  return clusterPaths(dataDir).store;
}
