// Snapshots of the etcd of a control plane of machines, by etcd's own tools (https://etcd.io/docs/v3.6/op-guide/recovery/): saved from the member beside,
// and restored as a cluster of this member alone, which the others then join anew.
import { existsSync } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { execCommand, removeTree } from '#host';
import { findProgram } from '../capabilities.ts';
import { peerUrl } from '../control-planes/commands.ts';
import { type ControlPlaneConfig, filesOf } from '../control-planes/config.ts';
import { noteJoined } from '../control-planes/member.ts';
import { etcdPorts } from '../control-planes/names.ts';
import { etcdSnapshotTimeoutMs } from './limits.ts';

async function etcdTool(program: string, words: readonly string[]): Promise<void> {
  if (findProgram(program) === undefined)
    throw new Error(`${program} is not on this machine; install it with: node scripts/setup.mjs --for control-planes`);
  const env = { ...process.env, ETCDCTL_API: '3' };
  const { code, stderr } = await execCommand(program, words, { env, timeoutMs: etcdSnapshotTimeoutMs });
  if (code !== 0) throw new Error(`${program} ${words.slice(-3).join(' ')}: ${stderr.trim() || `exit code ${code}`}`);
}

/** Rejects when the member of this machine does not answer. Gives the size of the file in bytes. */
export async function saveEtcdSnapshot(config: ControlPlaneConfig, file: string): Promise<number> {
  const { etcdCa, etcdClient } = filesOf(config);
  await etcdTool('etcdctl', [
    `--cacert=${etcdCa}`,
    `--cert=${etcdClient.cert}`,
    `--key=${etcdClient.key}`,
    `--endpoints=https://127.0.0.1:${etcdPorts.client}`,
    ...['snapshot', 'save', file],
  ]);
  return (await stat(file)).size;
}

function asideOf(directory: string): string {
  for (let count = 1; ; count++) {
    const path = `${directory}-before-${count}`;
    if (!existsSync(path)) return path;
  }
}

/** Where nothing of the control plane runs. Gives where the member's data of before is kept; undefined: it had none. */
export async function restoreEtcdSnapshot(config: ControlPlaneConfig, file: string): Promise<string | undefined> {
  const { etcdData, etcdMembers } = filesOf(config);
  // etcdctl had this before etcd 3.6 gave it to a tool for files.
  const program = findProgram('etcdutl') === undefined ? 'etcdctl' : 'etcdutl';
  const draft = `${etcdData}-restored`;
  await removeTree(draft);
  const url = peerUrl(config.address);
  try {
    await etcdTool(program, [
      ...['snapshot', 'restore', file],
      `--data-dir=${draft}`,
      `--name=${config.name}`,
      `--initial-cluster=${config.name}=${url}`,
      `--initial-advertise-peer-urls=${url}`,
      `--initial-cluster-token=${config.etcdToken}`,
    ]);
  } catch (error) {
    await removeTree(draft);
    throw error;
  }
  const before = existsSync(etcdData) ? asideOf(etcdData) : undefined;
  if (before !== undefined) await rename(etcdData, before);
  await rename(draft, etcdData);
  // Those of before are members of another cluster now.
  await rm(etcdMembers, { force: true });
  await noteJoined(config);
  return before;
}
