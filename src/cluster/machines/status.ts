// What the machine of a folder is that has joined a cluster, and whether it runs, in words.
import { clusterFlags } from '../state/paths.ts';
import { readRunState, runningProcess } from '../state/run-state.ts';
import { loadMachine } from './machine.ts';

/** Whether the node of this machine runs, as text; undefined where no machine has joined from the folder. */
export async function machineStatus(dir: string): Promise<{ text: string; running: boolean } | undefined> {
  const settings = await loadMachine(dir);
  if (!settings) return undefined;
  const { nodeName, server, controlPlane } = settings;
  const what = `The node ${nodeName} of ${server}${controlPlane ? `, a control plane of ${controlPlane.cluster},` : ''}`;
  const state = await runningProcess(dir);
  if (state?.ready) return { text: `${what} runs (process ${state.pid})`, running: true };
  if (state) return { text: `${what} is starting`, running: false };
  const crashed = await readRunState(dir);
  const how = crashed ? `has crashed: process ${crashed.pid} is gone` : 'is stopped';
  return { text: `${what} ${how}; start it with: sagong join --detach${clusterFlags('machine', dir)}`, running: false };
}
