// Snapshots of the etcd of a control plane of machines, by etcd's own tools (https://etcd.io/docs/v3.6/op-guide/recovery/): saved from the member beside,
// and restored as a cluster of this member alone, which the others then join anew.
import { existsSync } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { execCommand, removeTree } from '#host';
import { writeSnapshotAhead } from '#store';
import { findProgram } from '../capabilities.ts';
import { peerUrl } from './commands.ts';
import { type ControlPlaneConfig, controlPlaneFiles, filesOf } from './config.ts';
import { etcdSnapshotTimeoutMs } from './limits.ts';
import { noteJoined } from './member.ts';
import { etcdPorts } from './names.ts';

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

/**
 * Restores a snapshot for a control plane of which nothing runs. Resolves with the folder where the member's earlier data are kept; undefined where
 * it had none.
 */
export async function restoreEtcdSnapshot(config: ControlPlaneConfig, file: string): Promise<string | undefined> {
  const { etcdData } = filesOf(config);
  // etcdctl had this before etcd 3.6 gave it to a tool for files.
  const program = findProgram('etcdutl') === undefined ? 'etcdctl' : 'etcdutl';
  const [draft, ahead] = [`${etcdData}-restored`, `${etcdData}-restored.db`];
  await removeTree(draft);
  const url = peerUrl(config.address);
  try {
    // Kubelets and others that run on have watches of the time after the snapshot: they have to end.
    await writeSnapshotAhead(file, ahead);
    await etcdTool(program, [
      ...['snapshot', 'restore', ahead],
      `--data-dir=${draft}`,
      `--name=${config.name}`,
      `--initial-cluster=${config.name}=${url}`,
      `--initial-advertise-peer-urls=${url}`,
      `--initial-cluster-token=${config.etcdToken}`,
    ]);
  } catch (error) {
    await removeTree(draft);
    throw error;
  } finally {
    await rm(ahead, { force: true });
  }
  const before = await setAside(config);
  await rename(draft, etcdData);
  return before;
}

/** Makes the member of this machine one that has lost its data: at its next start it joins the others anew. Gives where the data of before is kept. */
export async function setAside(config: ControlPlaneConfig): Promise<string | undefined> {
  const { etcdData } = filesOf(config);
  const before = existsSync(etcdData) ? asideOf(etcdData) : undefined;
  if (before !== undefined) await rename(etcdData, before);
  // Those of before are members of another cluster now.
  await rm(controlPlaneFiles(config.directory).etcdMembers, { force: true });
  await noteJoined(config);
  return before;
}
