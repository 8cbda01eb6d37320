// `sagong leave`: this machine stops being a node, and a part of the control plane where it was one. Everything that join did is undone.
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { isNotFound } from '#apimachinery/errors';
import { clientConfigOf, createClient, createRestTransport, type KubeClient, readKubeconfig } from '#client';
import { userAgent } from '#component-base';
import { removeTree } from '#host';
import type { Clock } from '#utils';
import { apiPort } from '../control-planes/names.ts';
import { clusterPaths } from '../state/paths.ts';
import { removeEntries } from '../state/removal.ts';
import { stopProcess } from '../state/run-state.ts';
import type { MachineChoice } from '../state/settings.ts';
import { leaveEtcd } from './leave-etcd.ts';
import { loadMachine, machinePaths } from './machine.ts';
import { nodeClient, nodesResource } from './node-client.ts';
import { powerOff } from './power.ts';

/** Through one control plane after the other. */
async function deleteNode(nodeName: string, clients: (KubeClient | undefined)[]): Promise<string[]> {
  let failure: string | undefined;
  for (const client of clients)
    try {
      await client?.resource(nodesResource).delete(nodeName);
      return [];
    } catch (error) {
      if (isNotFound(error)) return [];
      failure = (error as Error).message;
    } finally {
      client?.close();
    }
  return failure === undefined ? [] : [`the Node ${nodeName} is still in the cluster: ${failure}`];
}

/** Reports a failure in `left` where the user forced the leave; otherwise throws it as a sentence. */
const unlessForced =
  (force: boolean, left: string[]) =>
  (error: unknown): string[] => {
    const why = `this machine is still a member of etcd: ${(error as Error).message}`;
    if (!force)
      throw new Error(
        `${why}; nothing was undone, for the members that stay may have no majority without it: try again when they answer, or go on with --force`,
        { cause: error },
      );
    left.push(why);
    return [];
  };

const serverAt = (address: string): string => `https://${address}:${apiPort}`;

/**
 * Gives what could not be undone, in sentences. A machine whose member cannot leave etcd stays as it is, unless `force` says otherwise: of two members, the
 * one that stays could write no more.
 */
export async function leave(dir: string, clock: Clock, { force = false }: { force?: boolean } = {}): Promise<string[]> {
  const settings = await loadMachine(dir);
  if (!settings) throw new Error(`there is no node in ${dir}`);
  const left: string[] = [];
  let others: string[] = [];
  if (settings.controlPlane) others = await leaveEtcd(dir, settings, clock).catch(unlessForced(force, left));
  await stopProcess(dir, clock);
  // Before its Node goes, for a kubelet that runs would make it again.
  await powerOff(dir, clock);
  const servers = settings.controlPlane ? others.map(serverAt) : [undefined];
  left.push(
    ...(await deleteNode(
      settings.nodeName,
      servers.map((server) => nodeClient(dir, clock, server)),
    )),
  );
  await removeEntries(dir, await readdir(dir).catch(() => []), basename(machinePaths(dir).settings));
  await removeTree(dir);
  return left;
}

/**
 * The first machine of a cluster goes, and other control planes stay: its member leaves etcd at once. Gives what is to be done when nothing of it runs
 * any more, which gives what could not be undone, in sentences; undefined: nobody else has the cluster. Rejects as `leave` does.
 */
export async function leaveOthers(
  dataDir: string,
  { controlPlane: nodeName, advertiseAddress: nodeIp }: MachineChoice,
  clock: Clock,
  force: boolean,
): Promise<(() => Promise<string[]>) | undefined> {
  if (nodeName === undefined) return undefined;
  const left: string[] = [];
  const others = await leaveEtcd(dataDir, { nodeName, nodeIp }, clock).catch(unlessForced(force, left));
  const { kubeconfig } = clusterPaths(dataDir);
  if ((others.length === 0 && left.length === 0) || !existsSync(kubeconfig)) return undefined;
  const config = clientConfigOf(readKubeconfig(kubeconfig));
  const clientAt = (address: string): KubeClient =>
    createClient(
      createRestTransport({ config: { ...config, server: serverAt(address) }, clock, userAgent: userAgent('sagong') }),
    );
  return async () => [...left, ...(await deleteNode(nodeName, others.map(clientAt)))];
}
