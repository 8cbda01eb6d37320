// `sagong snapshot save|restore|status`: in the form of etcd's snapshots.
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  askCluster,
  assertOwnSnapshot,
  clusterPaths,
  type ControlPlaneConfig,
  dataDirOf,
  embeddedStorePath,
  ownControlPlane,
  restoreEtcdSnapshot,
  runningProcess,
  type SavedSnapshotAnswer,
  saveEtcdSnapshot,
  saveOfAny,
  localPlanes,
  textTable,
} from '#cluster';
import { readSnapshotStatus, restoreSnapshot, saveSnapshot } from '#store';
import { say } from '../process/say.ts';

interface Flags {
  name: string;
  dataDir?: string;
}

export async function runSnapshotSave(file: string, flags: Flags): Promise<void> {
  const dataDir = dataDirOf(flags.name, flags.dataDir);
  const path = resolve(file);
  if (!existsSync(dirname(path))) throw new Error(`there is no folder ${dirname(path)}`);
  const plane = await ownControlPlane(dataDir);
  if (plane) {
    const size = await saveEtcdSnapshot(plane, path);
    return say(`Snapshot of etcd saved at ${path}: ${sizeText(size)}`);
  }
  const planes = await localPlanes(dataDir);
  if (planes.length > 0) {
    const { name: member, bytes } = await saveOfAny(dataDir, planes, path);
    return say(`Snapshot of etcd saved at ${path} from ${member}: ${sizeText(bytes)}`);
  }
  const { revision, bytes } = (await runningProcess(dataDir))
    ? await askCluster<SavedSnapshotAnswer>(clusterPaths(dataDir).controlSocket, 'PUT', '/snapshot', { file: path })
    : await saveSnapshot(await embeddedStorePath(dataDir), path);
  say(`Snapshot saved at ${path}: revision ${revision}, ${sizeText(bytes)}`);
}

export async function runSnapshotRestore(file: string, { force = false, ...flags }: Flags & { force?: boolean }): Promise<void> {
  const dataDir = dataDirOf(flags.name, flags.dataDir);
  await assertStopped(dataDir);
  if (!force) await assertOwnSnapshot(dataDir, resolve(file));
  const plane = await ownControlPlane(dataDir);
  if (plane) return restoreEtcd(plane, resolve(file));
  const [first, ...others] = await localPlanes(dataDir);
  if (first) return restoreLocalEtcd(first, others, resolve(file));
  const store = await embeddedStorePath(dataDir);
  const { snapshot, revision, before } = await restoreSnapshot(store, resolve(file));
  say(`Restored revision ${snapshot} into ${store}, which goes on at ${revision}`);
  if (before) say(`What was there is kept in ${before}`);
}

/** Restores the snapshot of a control plane of machines. The other members then join it again. */
async function restoreEtcd(plane: ControlPlaneConfig, file: string): Promise<void> {
  const kept = await restoreEtcdSnapshot(plane, [], file);
  say(`Restored ${file} as the etcd of this machine alone`);
  for (const before of kept) say(`What was there is kept in ${before}`);
  say(
    'On every other control plane, while it is stopped, remove the folder etcd of its control plane; it joins this one when it starts (docs/several-machines.md)',
  );
}

/** Restores the snapshot of machines of the local cloud, which all begin again at the next start. */
async function restoreLocalEtcd(first: ControlPlaneConfig, others: readonly ControlPlaneConfig[], file: string): Promise<void> {
  const kept = await restoreEtcdSnapshot(first, others, file);
  say(`Restored ${file} as the etcd of ${first.name}`);
  for (const before of kept) say(`What was there is kept in ${before}`);
  if (others.length > 0) say(`${others.map(({ name }) => name).join(' and ')} will join it at the next start`);
}

export async function runSnapshotStatus(file: string, { output }: { output?: 'json' }): Promise<void> {
  const status = await readSnapshotStatus(resolve(file));
  if (output === 'json') return say(JSON.stringify(status));
  const { hash, revision, totalKey, totalSize, version } = status;
  const row = [hash.toString(16), String(revision), String(totalKey), sizeText(totalSize), version];
  say(textTable(['HASH', 'REVISION', 'TOTAL KEYS', 'TOTAL SIZE', 'STORAGE VERSION'], [row]));
}

export async function assertStopped(dataDir: string): Promise<void> {
  const running = await runningProcess(dataDir);
  if (running) throw new Error(`the cluster in ${dataDir} runs (process ${running.pid}); stop it first: sagong stop`);
}

const units = ['B', 'kB', 'MB', 'GB', 'TB'];

/** A size as etcdctl prints it: two digits at least, in powers of ten. */
export function sizeText(bytes: number): string {
  if (bytes < 10) return `${bytes} B`;
  const power = Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = Math.floor((bytes / 1000 ** power) * 10 + 0.5) / 10;
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ${units[power]}`;
}
