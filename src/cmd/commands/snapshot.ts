// `sagong snapshot save|restore|status`: in the form of etcd's snapshots.
import { resolve } from 'node:path';
import {
  askCluster,
  assertOwnSnapshot,
  clusterPaths,
  type ControlPlaneConfig,
  dataDirOf,
  ownControlPlane,
  restoreEtcdSnapshot,
  runningProcess,
  type SavedSnapshotAnswer,
  saveEtcdSnapshot,
  saveOfAny,
  setAside,
  localPlanes,
  textTable,
} from '#cluster';
import { readSnapshotStatus, restoreSnapshot, saveSnapshot } from '#store';

interface Flags {
  name: string;
  dataDir?: string;
}

export async function runSnapshotSave(file: string, flags: Flags): Promise<void> {
  const dataDir = dataDirOf(flags.name, flags.dataDir);
  const path = resolve(file);
  const plane = await ownControlPlane(dataDir);
  if (plane) {
    const size = await saveEtcdSnapshot(plane, path);
    return void process.stdout.write(`Snapshot of etcd saved at ${path}: ${sizeText(size)}\n`);
  }
  const planes = await localPlanes(dataDir);
  if (planes.length > 0) {
    const { name: member, bytes } = await saveOfAny(dataDir, planes, path);
    return void process.stdout.write(`Snapshot of etcd saved at ${path} from ${member}: ${sizeText(bytes)}\n`);
  }
  const { controlSocket, store } = clusterPaths(dataDir);
  const { revision, bytes } = (await runningProcess(dataDir))
    ? await askCluster<SavedSnapshotAnswer>(controlSocket, 'PUT', '/snapshot', { file: path })
    : await saveSnapshot(store, path);
  process.stdout.write(`Snapshot saved at ${path}: revision ${revision}, ${sizeText(bytes)}\n`);
}

export async function runSnapshotRestore(file: string, { force = false, ...flags }: Flags & { force?: boolean }): Promise<void> {
  const dataDir = dataDirOf(flags.name, flags.dataDir);
  await assertStopped(dataDir);
  if (!force) await assertOwnSnapshot(dataDir, resolve(file));
  const plane = await ownControlPlane(dataDir);
  if (plane) return restoreEtcd(plane, resolve(file));
  const [first, ...others] = await localPlanes(dataDir);
  if (first) return restoreLocalEtcd(first, others, resolve(file));
  const { snapshot, revision, before } = await restoreSnapshot(clusterPaths(dataDir).store, resolve(file));
  process.stdout.write(`Restored revision ${snapshot} into ${clusterPaths(dataDir).store}, which goes on at ${revision}\n`);
  if (before) process.stdout.write(`What was there is kept in ${before}\n`);
}

/** Of a control plane of machines: the other members join it anew. */
async function restoreEtcd(plane: ControlPlaneConfig, file: string): Promise<void> {
  const before = await restoreEtcdSnapshot(plane, file);
  process.stdout.write(`Restored ${file} as the etcd of this machine alone\n`);
  if (before !== undefined) process.stdout.write(`What was there is kept in ${before}\n`);
  process.stdout.write(
    'On every other control plane, while it is stopped, remove the folder etcd of its control plane; it joins this one when it starts (docs/several-machines.md)\n',
  );
}

/** Of machines of the local cloud, which all begin again at the next start. */
async function restoreLocalEtcd(first: ControlPlaneConfig, others: readonly ControlPlaneConfig[], file: string): Promise<void> {
  const kept = [await restoreEtcdSnapshot(first, file)];
  for (const other of others) kept.push(await setAside(other));
  process.stdout.write(`Restored ${file} as the etcd of ${first.name}\n`);
  for (const before of kept) if (before !== undefined) process.stdout.write(`What was there is kept in ${before}\n`);
  if (others.length > 0) process.stdout.write(`${others.map(({ name }) => name).join(' and ')} will join it at the next start\n`);
}

export async function runSnapshotStatus(file: string, { output }: { output?: 'json' }): Promise<void> {
  const status = await readSnapshotStatus(resolve(file));
  if (output === 'json') return void process.stdout.write(`${JSON.stringify(status)}\n`);
  const { hash, revision, totalKey, totalSize, version } = status;
  const row = [hash.toString(16), String(revision), String(totalKey), sizeText(totalSize), version];
  process.stdout.write(`${textTable(['HASH', 'REVISION', 'TOTAL KEYS', 'TOTAL SIZE', 'STORAGE VERSION'], [row])}\n`);
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
