// Who runs the cluster of a data directory right now: `<data-dir>/run.json`, written by the running process, read by `down`, `stop`,
// `status` and the next `up`.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { atomicWrite, listenerOf, readFileIfExists, withLock } from '#host';
import type { Clock } from '#utils';
import { clusterPaths } from './paths.ts';

export interface RunState {
  pid: number;
  startedAtMs: number;
  /** URL of the apiserver, once it answers. */
  server?: string;
  /** All nodes are Ready and add-ons are in place. */
  ready: boolean;
  /** A sentence that says what the cluster waits for before it can go on, and why. */
  waiting?: string;
  /** Why it failed to start. */
  failure?: string;
}

export const runStatePath = (dataDir: string): string => join(dataDir, 'run.json');

export const writeRunState = (dataDir: string, state: RunState): Promise<void> =>
  atomicWrite(runStatePath(dataDir), JSON.stringify(state), { mode: 0o600 });

export const removeRunState = (dataDir: string): Promise<void> => rm(runStatePath(dataDir), { force: true });

/** What was last written, whether or not that process still lives. */
export async function readRunState(dataDir: string): Promise<RunState | undefined> {
  return parsed((await readFileIfExists(runStatePath(dataDir)))?.toString('utf8'));
}

function parsed(text: string | undefined): RunState | undefined {
  try {
    const state = text === undefined ? undefined : (JSON.parse(text) as Partial<RunState> | null);
    // What names no process says nothing.
    return Number.isSafeInteger(state?.pid) && Number(state?.pid) > 0 ? (state as RunState) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether `pid` is a live process of this data directory (and not one that merely got the same number later). */
export async function isRunning(dataDir: string, pid: number): Promise<boolean> {
  if (process.platform !== 'linux') return signalable(pid);
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return commandLine.split('\0').some((word) => word.includes(dataDir));
}

function signalable(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The live process of the data directory, if any. One whose file is gone or damaged, as of a directory that was removed, is known by its socket. */
export async function runningProcess(dataDir: string): Promise<RunState | undefined> {
  const state = await readRunState(dataDir);
  if (state && (await isRunning(dataDir, state.pid))) return state;
  const pid = await listenerOf(clusterPaths(dataDir).controlSocket);
  return pid !== undefined && (await isRunning(dataDir, pid)) ? { pid, startedAtMs: 0, ready: true } : undefined;
}

/** Throws a sentence where another process than `pid` runs `what` is in the directory: the cluster, or the node of a joined machine. */
export async function assertNotRunning(dataDir: string, pid: number, what = 'cluster'): Promise<void> {
  const other = await runningProcess(dataDir);
  if (other && other.pid !== pid)
    throw new Error(
      `the ${what} in ${dataDir} is already running (process ${other.pid}); stop it with: sagong stop --data-dir ${dataDir}`,
    );
}

/** How long a start waits for others that begin at the same moment, each of which has little to do. */
const turnMs = 30_000;

/** Becomes the process of the data directory, which has its logs. Rejects with a sentence when another one is, or becomes it at the same moment. */
export async function claimRunState(dataDir: string, state: RunState, what?: string): Promise<void> {
  const act = async (): Promise<void> => {
    await assertNotRunning(dataDir, state.pid, what);
    await writeRunState(dataDir, state);
  };
  await withLock(join(dataDir, 'logs', 'starting'), act, turnMs);
}

/** Asks the process to stop and waits; kills it when it does not in time. Gives whether there was one. */
export async function stopProcess(dataDir: string, clock: Clock, patienceMs = 30_000): Promise<boolean> {
  const state = await runningProcess(dataDir);
  if (!state || state.pid === process.pid) return false;
  process.kill(state.pid, 'SIGTERM');
  const deadline = clock.monotonic() + patienceMs;
  while (await isRunning(dataDir, state.pid)) {
    if (clock.monotonic() > deadline) {
      process.kill(state.pid, 'SIGKILL');
      break;
    }
    await clock.sleep(50);
  }
  return true;
}
