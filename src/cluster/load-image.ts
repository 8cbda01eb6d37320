// `sagong load-image`: an image archive into every node's containerd.
import { existsSync } from 'node:fs';
import { execCommand, readFileIfExists } from '#host';
import { importImage } from './images/index.ts';
import { nodeDir } from './cloud/machines.ts';
import { containerdPaths } from './nodes/index.ts';
import { loadSettings } from './settings.ts';

/** Rejects with a sentence when the cluster, its nodes or the archive are not there. */
export async function loadImage(dataDir: string, path: string): Promise<void> {
  const settings = await loadSettings(dataDir);
  if (!settings) throw new Error(`there is no cluster in ${dataDir}`);
  if (settings.runtime === 'simulated')
    throw new Error('the nodes of this cluster are simulated: they run any image name and hold no images');
  const archive = await readFileIfExists(path);
  if (!archive) throw new Error(`${path}: no such file (expected is an archive made by "docker save", or an OCI layout tar)`);
  const sockets = settings.nodes.map((name) => containerdPaths(nodeDir(dataDir, name)).socket);
  if (!sockets.every((socket) => existsSync(socket)))
    throw new Error(`the nodes of the cluster in ${dataDir} do not run; start it with: sagong up`);
  await Promise.all(sockets.map((socket) => importImage({ socket, exec: execCommand }, archive)));
}
