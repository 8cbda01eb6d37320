// The cluster that the suite runs against: `sagong up` of this checkout with a name and a directory of its own.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, step } from './process.mjs';
import { controlPlaneNamespaces, registryUrl, startRegistry } from './registry.mjs';

const program = fileURLToPath(new URL('../../bin/sagong.mjs', import.meta.url));
const sagong = (...args) => run(process.execPath, [program, ...args]);

/** Starts it and loads the images. Resolves with the path of its kubeconfig, and how to take it away without a trace. */
export async function startCluster({ work, name, nodes, uplink, images }) {
  const dataDir = join(work, 'cluster');
  const place = ['--name', name, '--data-dir', dataDir];
  let stopRegistry = async () => {};
  const down = () =>
    step('taking the cluster away', async () => {
      await stopRegistry();
      await sagong('down', ...place);
    });
  // What an earlier run that was killed has left.
  await sagong('down', ...place).catch(() => {});
  await rm(dataDir, { recursive: true, force: true });
  try {
    const settings = ['--nodes', String(nodes), '--uplink', uplink, '--registry-mirror', registryUrl, '--no-kubeconfig', '--detach'];
    // The nodes share the machine's disk: one that others have filled halfway is no pressure.
    settings.push('--kubelet-arg', 'eviction-hard=memory.available<100Mi,nodefs.available<3%,imagefs.available<3%');
    const others = await controlPlaneNamespaces();
    await step(`starting a cluster of ${nodes} nodes`, () => sagong('up', ...place, ...settings));
    await step('loading the images into its nodes', () => sagong('load-image', ...place, ...images));
    const namespace = (await controlPlaneNamespaces()).find((name) => !others.includes(name));
    const socket = join(dataDir, `nodes/${name}-node-1/containerd/containerd.sock`);
    stopRegistry = await step('filling a registry for its nodes', () => startRegistry({ work, namespace, socket }));
  } catch (error) {
    await down().catch(() => {});
    throw error;
  }
  return { kubeconfig: join(dataDir, 'kubeconfig'), down };
}
