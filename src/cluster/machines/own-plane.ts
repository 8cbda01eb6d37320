// The part of a control plane on etcd that this machine is, found by its folder: that of the first machine's cluster, or of a machine that has joined.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { ControlPlaneConfig } from '../control-planes/config.ts';
import { controlPlaneConfigPath, controlPlaneDir } from '../state/paths.ts';
import { loadSettings } from '../state/settings.ts';
import { loadMachine } from './machine.ts';

/** The control plane that runs on this machine; undefined when there is none. */
export async function ownControlPlane(dir: string): Promise<ControlPlaneConfig | undefined> {
  const name = (await loadSettings(dir))?.machine?.controlPlane ?? (await loadMachine(dir))?.nodeName;
  return name === undefined ? undefined : controlPlaneNamed(dir, name);
}

/** The folder may have been made under another path than it has now. */
export async function controlPlaneNamed(dir: string, name: string): Promise<ControlPlaneConfig | undefined> {
  const directory = controlPlaneDir(dir, name);
  const path = controlPlaneConfigPath(directory);
  if (!existsSync(path)) return undefined;
  return { ...(JSON.parse(await readFile(path, 'utf8')) as ControlPlaneConfig), directory };
}
