// Whether machines can join the cluster of a folder, as seen from one of its control planes: the first machine, or one that has joined as one.
import { clientConfigOf, readKubeconfig } from '#client';
import { clusterPaths } from '../state/paths.ts';
import { loadSettings } from '../state/settings.ts';
import { endpointOfMachine } from './choice.ts';
import { loadMachine } from './machine.ts';

export interface Joinable {
  /** `10.0.0.1:6443`. */
  endpoint: string;
  /** PEM. */
  ca: string;
  /** Other machines can be control planes. */
  growing: boolean;
}

/** What another machine needs to join the cluster. Rejects with a sentence where the folder has no cluster, or one that cannot be joined. */
export async function joinable(dataDir: string): Promise<Joinable> {
  const ca = (): string => clientConfigOf(readKubeconfig(clusterPaths(dataDir).kubeconfig)).ca ?? '';
  const joined = await loadMachine(dataDir);
  if (joined?.controlPlane) return { endpoint: joined.controlPlane.endpoint, ca: ca(), growing: true };
  if (joined) throw new Error(`the machine in ${dataDir} is only a node; run the command on a control plane`);
  const settings = await loadSettings(dataDir);
  if (!settings) throw new Error(`there is no cluster in ${dataDir}`);
  if (!settings.machine)
    throw new Error(
      'no machine can join this cluster: it is on this machine alone; start one with: sagong up --advertise-address',
    );
  const growing = settings.machine.controlPlane !== undefined;
  return { endpoint: endpointOfMachine(settings.machine, settings.port), ca: ca(), growing };
}
