// `sagong stop` and `sagong down`: ending a cluster, also one that crashed.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { execCommand } from '#host';
import type { Clock } from '#utils';
import { findProgram } from './capabilities.ts';
import { removeLoadBalancers } from '#cloud/load-balancers';
import { hasLeftovers, removeMachine } from '#cloud/machine';
import { cloudDir, clusterMark, clustersHome, isClusterDir } from './state/paths.ts';
import { forgetDir } from './state/elsewhere.ts';
import { ownMachineDir } from './machines/choice.ts';
import { leaveOthers } from './machines/leave.ts';
import { loadMachine } from './machines/machine.ts';
import { powerOff } from './machines/power.ts';
import { previousContext } from './access/previous-context.ts';
import { removeData } from './state/removal.ts';
import { lastServer } from './state/last-server.ts';
import { readRunState, removeRunState, runningProcess, stopProcess } from './state/run-state.ts';
import { loadSettings } from './state/settings.ts';
import { removeContextsOf, removeUserContext } from './access/user-kubeconfig.ts';

const canHaveNodes = (): boolean =>
  process.platform === 'linux' && process.getuid?.() === 0 && ['ip', 'iptables'].every((name) => findProgram(name));

/** What a crashed cloud has left on the machine. */
async function removeLeftovers(dataDir: string, clock: Clock): Promise<void> {
  const mark = clusterMark(dataDir);
  const dir = join(cloudDir(dataDir), 'load-balancers');
  await powerOff(ownMachineDir(dataDir), clock);
  await removeLoadBalancers(mark, { exec: execCommand, clock, dir });
  await removeMachine(mark, { exec: execCommand, clock, dir: dataDir });
}

/** Whether the machine has something of the cluster that is not in its directory, which may have been removed. */
const isOnMachine = async (dataDir: string): Promise<boolean> =>
  (await runningProcess(dataDir)) !== undefined || (canHaveNodes() && (await hasLeftovers(clusterMark(dataDir))));

/** Ends everything that runs; keeps the data. Gives whether something ran. */
export async function stop(dataDir: string, clock: Clock): Promise<boolean> {
  const stopped = await stopProcess(dataDir, clock);
  if (canHaveNodes() && (existsSync(dataDir) || (await isOnMachine(dataDir)))) await removeLeftovers(dataDir, clock);
  await removeRunState(dataDir);
  return stopped;
}

interface DownDeps {
  clock: Clock;
  env: Record<string, string | undefined>;
  /** Goes on where its member of etcd cannot be taken out. */
  force?: boolean;
  warn?(text: string): void;
}

/**
 * Ends everything and removes the data and the user's context. Gives whether there was a cluster, or a context
 * of one whose directory was removed by hand. Of several control planes, one whose member cannot leave
 * etcd stays as it is, unless `force` says otherwise.
 */
export async function down(dataDir: string, { clock, env, force = false, warn = () => {} }: DownDeps): Promise<boolean> {
  if (!isClusterDir(dataDir) && !(await isOnMachine(dataDir))) return removeContextsOf(dataDir, env);
  if (await loadMachine(dataDir))
    throw new Error(`${dataDir} is of a machine that has joined a cluster: sagong leave takes it out`);
  const settings = await loadSettings(dataDir).catch(() => undefined);
  const gone = settings?.machine && (await leaveOthers(dataDir, settings.machine, clock, force));
  const server = (await readRunState(dataDir))?.server ?? lastServer(dataDir);
  const previous = await previousContext(dataDir);
  await stop(dataDir, clock);
  for (const what of (await gone?.()) ?? []) warn(what);
  await removeData(dataDir);
  await forgetDir(dataDir, clustersHome()).catch((error: Error) => warn(error.message));
  // Last, because what is wrong with somebody else's file must not keep the rest.
  if (settings) await removeUserContext({ name: settings.name, server, previous }, env);
  else await removeContextsOf(dataDir, env);
  return true;
}
