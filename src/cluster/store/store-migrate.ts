// `sagong store migrate`: the data of a stopped cluster from its own store into an etcd, and back. What was there before is kept.
import { copyFromEtcd, copyToEtcd, moveStoreAside, type Moved, openDiskStore, openEtcdStore, type Store } from '#store';
import { openEtcdLocation } from './etcd-location.ts';
import { clusterPaths } from '../state/paths.ts';
import { type ClusterSettings, type EtcdLocation, loadSettings, saveSettings } from '../state/settings.ts';

export interface Migration extends Moved {
  /** Where the data is still, as it was. */
  kept: string;
}

async function settingsOf(dataDir: string): Promise<ClusterSettings> {
  const settings = await loadSettings(dataDir);
  if (!settings) throw new Error(`there is no cluster in ${dataDir}`);
  return settings;
}

const etcdStore = async (location: EtcdLocation): Promise<Store> => {
  const { servers, tls } = await openEtcdLocation(location);
  return openEtcdStore({ endpoints: servers, ...(tls && { tls }) });
};

/** The settings say where the data is: they change, to what `then` makes of them, when all of it is there. */
export async function migrateToEtcd(
  dataDir: string,
  etcd: EtcdLocation,
  then: (settings: ClusterSettings) => ClusterSettings = (settings) => ({ ...settings, etcd }),
): Promise<Migration> {
  const settings = await settingsOf(dataDir);
  if (settings.controlPlanes || settings.machine?.controlPlane)
    throw new Error('the data of this cluster is in the etcd of its control planes already');
  if (settings.etcd) throw new Error(`the data of this cluster is in an etcd already: ${settings.etcd.servers.join(',')}`);
  const { store: path } = clusterPaths(dataDir);
  const source = await openDiskStore({ path, mustExist: true });
  let moved: Moved;
  try {
    const target = await etcdStore(etcd);
    try {
      moved = await copyToEtcd(source, target);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
  await saveSettings(then(settings));
  return { ...moved, kept: (await moveStoreAside(path)) ?? path };
}

export async function migrateToEmbedded(dataDir: string): Promise<Migration> {
  const { etcd, ...settings } = await settingsOf(dataDir);
  if (!etcd) throw new Error('the data of this cluster is in its own store already');
  const { store: path } = clusterPaths(dataDir);
  const source = await etcdStore(etcd);
  try {
    // One of an earlier move that ended before the settings said so, or of a time before the etcd.
    await moveStoreAside(path);
    const moved = await copyFromEtcd(source, path);
    await saveSettings(settings);
    return { ...moved, kept: etcd.servers.join(',') };
  } finally {
    await source.close();
  }
}
