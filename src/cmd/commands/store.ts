// `sagong store check|repair|defrag|migrate`.
import { resolve } from 'node:path';
import {
  askCluster,
  clusterFlags,
  clusterPaths,
  dataDirOf,
  type DefragmentAnswer,
  embeddedStorePath,
  type EtcdFlags,
  etcdFromFlags,
  migrateToEmbedded,
  migrateToEtcd,
  runningProcess,
  textTable,
} from '#cluster';
import { checkDiskStore, openDiskStore, restoreSnapshot, type StoreReport } from '#store';
import { assertStopped, sizeText } from './snapshot.ts';
import { say } from '../process/say.ts';

interface Flags {
  name: string;
  dataDir?: string;
}

export async function runStoreCheck(flags: Flags): Promise<void> {
  const report = await checkDiskStore(await embeddedStorePath(dataDirOf(flags.name, flags.dataDir)));
  say(reportText(report));
  if (report.damages.length > 0) process.exitCode = 1;
}

export function reportText(report: StoreReport): string {
  const { damages } = report;
  const stateOf = (name: string): string => (damages.some(({ file }) => file === name) ? 'Damaged' : 'Good');
  const rows = [
    ...report.files.map(({ name, size, used }) => [name, sizeText(size), sizeText(used), stateOf(name)]),
    ...report.spares.map(({ name, size }) => [name, sizeText(size), '-', 'Prepared']),
    ...[...new Set(damages.map(({ file }) => file))]
      .filter((file) => !report.files.some(({ name }) => name === file))
      .map((file) => [file, '-', '-', 'Damaged']),
  ];
  const open = report.openIn === undefined ? '' : `, open in process ${report.openIn}`;
  const facts = `revision ${report.revision}, compacted to ${report.compactedRevision}, ${report.records} records verified${open}`;
  const found = damages.map(({ file, offset, what }) => `  ${file} at byte ${offset}: ${what}`);
  const verdict =
    damages.length === 0
      ? [`No damage in ${report.path}: ${facts}`]
      : [
          `DAMAGED: ${report.path} (${damages.length} found)`,
          ...found,
          'To begin again from a snapshot: sagong store repair --from-snapshot FILE',
        ];
  return [textTable(['FILE', 'SIZE', 'USED', 'STATUS'], rows), '', ...verdict].join('\n');
}

export async function runStoreRepair(flags: Flags & { fromSnapshot: string }): Promise<void> {
  const dataDir = dataDirOf(flags.name, flags.dataDir);
  await assertStopped(dataDir);
  const { snapshot, before } = await restoreSnapshot(await embeddedStorePath(dataDir), resolve(flags.fromSnapshot));
  say(`The store begins again at revision ${snapshot}; everything written after it is lost`);
  if (before) say(`What was there is kept in ${before}`);
}

export async function runStoreDefrag(flags: Flags): Promise<void> {
  const dataDir = dataDirOf(flags.name, flags.dataDir);
  const { bytesBefore, bytes } = (await runningProcess(dataDir)) ? await askDefrag(dataDir) : await defragOffline(dataDir);
  say(`The store takes ${sizeText(bytes)} on disk now, ${sizeText(bytesBefore)} before`);
}

const askDefrag = (dataDir: string): Promise<DefragmentAnswer> =>
  askCluster<DefragmentAnswer>(clusterPaths(dataDir).controlSocket, 'PUT', '/defragment', {});

async function defragOffline(dataDir: string): Promise<DefragmentAnswer> {
  const store = await openDiskStore({ path: await embeddedStorePath(dataDir), mustExist: true });
  const bytesBefore = store.stats().bytes;
  await store.defragment();
  const { bytes } = store.stats();
  await store.close();
  return { bytesBefore, bytes };
}

export async function runStoreMigrate(flags: Flags & EtcdFlags & { to: 'etcd' | 'embedded' }): Promise<void> {
  const dataDir = dataDirOf(flags.name, flags.dataDir);
  const etcd = etcdFromFlags(flags);
  if (flags.to === 'etcd' && !etcd) throw new Error('--to etcd needs --etcd-servers');
  if (flags.to === 'embedded' && etcd) throw new Error('--etcd-servers is for --to etcd: the cluster knows where its data is');
  await assertStopped(dataDir);
  const { keys, checksum, revision, already, kept } = await (etcd ? migrateToEtcd(dataDir, etcd) : migrateToEmbedded(dataDir));
  const before = already > 0 ? ` (${already} by an earlier try)` : '';
  say(`Moved ${keys} keys${before}, verified: SHA-256 ${checksum}, now at revision ${revision}`);
  say(`What was there is kept in ${kept}; start the cluster with: sagong up${clusterFlags(flags.name, dataDir)}`);
}
