// Snapshots of the etcd of control-plane machines of the local cloud, whose disks are folders of this machine.
import { join } from 'node:path';
import { agentOf } from '../nodes/node-shell.ts';
import { nodeDir, controlPlaneConfigPath, controlPlaneDir } from '../state/paths.ts';
import { loadSettings } from '../state/settings.ts';
import type { ControlPlaneConfig } from './config.ts';
import { saveEtcdSnapshot } from './etcd-snapshot.ts';
import { ownFolder } from './own-folder.ts';
import { etcdDataDir } from './places.ts';

/** Reads the configuration; undefined where the text is not one: the next start writes a new one. */
function parsed(text = ''): Omit<ControlPlaneConfig, 'etcdData'> | undefined {
  try {
    const { etcdData: _, ...config } = JSON.parse(text) as ControlPlaneConfig;
    return config;
  } catch {
    return undefined;
  }
}

/** Every machine of the control plane that has a disk on this machine. The list is empty for clusters whose control plane is not on machines. */
export async function localPlanes(dataDir: string): Promise<ControlPlaneConfig[]> {
  const { controlPlanes = [], layout } = (await loadSettings(dataDir)) ?? {};
  const found: ControlPlaneConfig[] = [];
  for (const name of controlPlanes) {
    const directory = controlPlaneDir(dataDir, name, layout);
    const config = parsed(await ownFolder(directory).read(controlPlaneConfigPath(directory)));
    if (config === undefined) continue;
    // What a node has in its own root is below the node's folder, seen from here. Where that is, a file on its disk does not say.
    const etcdData = layout === 'pods' ? join(nodeDir(dataDir, name), 'root', etcdDataDir) : undefined;
    found.push({ ...config, name, directory, ...(etcdData !== undefined && { etcdData }) });
  }
  return found;
}

/** Saves from the first member that answers. Rejects with what each of them said. Gives who it was, and the size of the file in bytes. */
export async function saveOfAny(
  dataDir: string,
  planes: readonly ControlPlaneConfig[],
  file: string,
): Promise<{ name: string; bytes: number }> {
  const failures: string[] = [];
  for (const plane of planes) {
    const { name } = plane;
    const pid = await agentOf(dataDir, name);
    if (pid === undefined) failures.push(`${name} does not run`);
    else
      try {
        return { name, bytes: await saveEtcdSnapshot(plane, file, ['nsenter', '-t', pid, '-n', '--']) };
      } catch (error) {
        failures.push(`${name}: ${(error as Error).message}`);
      }
  }
  throw new Error(`no member of etcd has given a snapshot: ${failures.join('; ')}`);
}
