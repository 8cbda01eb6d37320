// A control-plane machine that goes takes its member out of etcd while it still runs: of two, one alone could not.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Clock } from '#utils';
import { type ControlPlaneConfig, controlPlaneConfigPath, controlPlaneDir } from '../control-planes/config.ts';
import { otherMembers, removeMember } from '../control-planes/etcd-members.ts';

async function configOf(dir: string, name: string): Promise<ControlPlaneConfig | undefined> {
  const path = controlPlaneConfigPath(controlPlaneDir(dir, name));
  if (!existsSync(path)) return undefined;
  const config = JSON.parse(await readFile(path, 'utf8')) as ControlPlaneConfig;
  return { ...config, directory: controlPlaneDir(dir, name) };
}

/** Gives where the control planes are that stay. */
export async function leaveEtcd(
  dir: string,
  { nodeName, nodeIp }: { nodeName: string; nodeIp: string },
  clock: Clock,
): Promise<string[]> {
  const config = await configOf(dir, nodeName);
  if (!config) return [];
  const others = await otherMembers(config);
  await removeMember(config, nodeIp, clock);
  return others;
}

/** From another control plane, for a machine that is gone for good. Gives whether this one is a control plane at all. */
export async function removeFromEtcd(dir: string, name: string, gone: string, clock: Clock): Promise<boolean> {
  const config = await configOf(dir, name);
  if (!config) return false;
  await removeMember(config, gone, clock);
  return true;
}
