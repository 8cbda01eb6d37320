// Snapshots of the etcd of a control plane of machines, by etcd's own tools (https://etcd.io/docs/v3.6/op-guide/recovery/): saved from the member beside,
// and restored as a cluster of this member alone, which the others then join anew.
import { existsSync } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { execCommand, removeTree } from '#host';
import { writeSnapshotAhead } from '#store';
import { findProgram } from '../capabilities.ts';
import { peerUrl } from './commands.ts';
import { type ControlPlaneConfig, controlPlaneFiles, filesOf } from './config.ts';
import { etcdSnapshotTimeoutMs } from './limits.ts';
import { noteJoined } from './member.ts';
import { etcdPorts } from './names.ts';
import { assertOwnData, ownFolder } from './own-folder.ts';

/** `inside`: words before the program that lead to where the member listens. */
async function etcdTool(program: string, words: readonly string[], inside: readonly string[] = []): Promise<void> {
  if (findProgram(program) === undefined)
    throw new Error(`${program} is not on this machine; install it with: node scripts/setup.mjs --for control-planes`);
  const env = { ...process.env, ETCDCTL_API: '3' };
  const [command = program, ...rest] = [...inside, program, ...words];
  const { code, stderr } = await execCommand(command, rest, { env, timeoutMs: etcdSnapshotTimeoutMs });
  if (code !== 0) throw new Error(`${program} ${words.slice(-3).join(' ')}: ${stderr.trim() || `exit code ${code}`}`);
}

/** Rejects when the member does not answer. Gives the size of the file in bytes. */
export async function saveEtcdSnapshot(
  config: ControlPlaneConfig,
  file: string,
  inside: readonly string[] = [],
): Promise<number> {
  const { etcdCa, etcdPeer } = filesOf(config);
  const words = [
    `--cacert=${etcdCa}`,
    `--cert=${etcdPeer.cert}`,
    `--key=${etcdPeer.key}`,
    `--endpoints=https://127.0.0.1:${etcdPorts.client}`,
    ...['snapshot', 'save', file],
  ];
  await etcdTool('etcdctl', words, inside);
  return (await stat(file)).size;
}

function asideOf(directory: string): string {
  for (let count = 1; ; count++) {
    const path = `${directory}-before-${count}`;
    if (!existsSync(path)) return path;
  }
}

const draftOf = (config: ControlPlaneConfig): string => `${filesOf(config).etcdData}-restored`;
/** There from when the restored data are whole until they are in their place: a start finishes what was cut off in between. */
const restoringPath = ({ directory }: ControlPlaneConfig): string => join(directory, 'restoring');

/**
 * Restores a snapshot for a control plane of which nothing runs: as the etcd of `first`, which the `others` then join. Gives the folders in which the
 * members' earlier data are kept.
 */
export async function restoreEtcdSnapshot(
  first: ControlPlaneConfig,
  others: readonly ControlPlaneConfig[],
  file: string,
): Promise<string[]> {
  // etcdctl had this before etcd 3.6 gave it to a tool for files.
  const program = findProgram('etcdutl') === undefined ? 'etcdctl' : 'etcdutl';
  const draft = draftOf(first);
  const ahead = `${draft}.db`;
  for (const one of [first, ...others]) await assertOwnData(one);
  await rm(restoringPath(first), { force: true });
  await removeTree(draft);
  const url = peerUrl(first.address);
  try {
    // Kubelets and others that run on have watches of the time after the snapshot: they have to end.
    await writeSnapshotAhead(file, ahead);
    await etcdTool(program, [
      ...['snapshot', 'restore', ahead],
      `--data-dir=${draft}`,
      `--name=${first.name}`,
      `--initial-cluster=${first.name}=${url}`,
      `--initial-advertise-peer-urls=${url}`,
      `--initial-cluster-token=${first.etcdToken}`,
    ]);
  } catch (error) {
    await removeTree(draft);
    throw error;
  } finally {
    await rm(ahead, { force: true });
  }
  await ownFolder(first.directory).write(restoringPath(first), '', 0o600);
  return (await finishRestore([first, ...others])) ?? [];
}

/**
 * Puts restored data in the place of the first member's, and takes the others' away: with theirs they would be a cluster of their own beside it. Gives where
 * the data of before are kept; undefined: there was nothing to finish. It is safe to repeat.
 */
export async function finishRestore([first, ...others]: readonly ControlPlaneConfig[]): Promise<string[] | undefined> {
  if (!first || !existsSync(restoringPath(first))) return undefined;
  for (const one of [first, ...others]) await assertOwnData(one);
  const kept: (string | undefined)[] = [];
  for (const other of others) kept.push(await setAside(other));
  if (existsSync(draftOf(first))) {
    kept.unshift(await setAside(first));
    await rename(draftOf(first), filesOf(first).etcdData);
  }
  await rm(restoringPath(first));
  return kept.filter((path) => path !== undefined);
}

/** Makes the member of this machine one that has lost its data: at its next start it joins the others anew. Gives where the data of before is kept. */
async function setAside(config: ControlPlaneConfig): Promise<string | undefined> {
  const { etcdData } = filesOf(config);
  const before = existsSync(etcdData) ? asideOf(etcdData) : undefined;
  if (before !== undefined) await rename(etcdData, before);
  // Those of before are members of another cluster now.
  await rm(controlPlaneFiles(config.directory).etcdMembers, { force: true });
  await noteJoined(config);
  return before;
}
