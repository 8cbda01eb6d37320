// Starting and ending everything that a machine runs as a node: its agent with containerd, pods and rules. All of it is in one cgroup, below one folder and
// under our own names, so that it can be ended whatever happened before.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { cgroupLayout, clearCgroups, createCgroups, unmountBelow } from '#cloud/machine';
import { atomicWrite, ensureDir, execCommand } from '#host';
import { removeAllRules } from '#kube-proxy';
import { removePolicyRules } from '#network-policy';
import type { Clock, Logger } from '#utils';
import { agentRestartMs } from './limits.ts';
import { loadMachine, machineCgroup, machinePaths } from './machine.ts';
import { removeNetwork } from './network/index.ts';

export interface RunningMachine {
  /** Ends the agent and everything that it runs. What is on the disk stays. */
  stop(): Promise<void>;
}

/** One that a crashed process left: it would hold the kubelet's port. Its pods run on. */
async function endPredecessor(dir: string): Promise<void> {
  const { agentPid, agentConfig } = machinePaths(dir);
  const pid = Number(await readFile(agentPid, 'utf8').catch(() => '0'));
  const words = pid > 0 ? (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0') : [];
  if (!words.includes(agentConfig)) return;
  process.kill(pid, 'SIGKILL');
  await rm(agentPid, { force: true });
}

/** `program`: how to run this program. */
async function startAgent(dir: string, program: readonly string[]): Promise<ChildProcess> {
  const { agentConfig, agentLog, agentPid } = machinePaths(dir);
  const name = machineCgroup(dir);
  const layout = cgroupLayout();
  await createCgroups(layout, name);
  // A cgroup below, since on version 2 one with controllers for others has no processes of its own.
  const enter = await createCgroups(layout, `${name}/agent`);
  const out = openSync(agentLog, 'a', 0o600);
  const words = ['-c', `${enter || ':'}; exec "$@"`, 'sh', ...program, 'node-agent', '--config', agentConfig];
  const child = spawn('sh', words, { stdio: ['ignore', out, out], detached: true });
  await once(child, 'spawn');
  await atomicWrite(agentPid, String(child.pid));
  return child;
}

/** Starts the agent, and again whenever it ends. */
export async function startMachine(
  dir: string,
  program: readonly string[],
  { clock, logger }: { clock: Clock; logger: Logger },
): Promise<RunningMachine> {
  const stopping = new AbortController();
  await ensureDir(`${dir}/logs`);
  await endPredecessor(dir);
  let child = await startAgent(dir, program);
  const keep = async (): Promise<void> => {
    for (let pauseMs = agentRestartMs.first; ; pauseMs = Math.min(agentRestartMs.max, pauseMs * 2)) {
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      if (stopping.signal.aborted) return;
      logger.error('The agent of this machine has ended and is started again', {
        code: child.exitCode,
        signal: child.signalCode,
      });
      await clock.sleep(pauseMs, stopping.signal).catch(() => {});
      if (stopping.signal.aborted) return;
      child = await startAgent(dir, program);
    }
  };
  const kept = keep().catch((error: unknown) => logger.error('The agent cannot be started', { err: error }));
  return {
    async stop() {
      stopping.abort();
      await powerOff(dir, clock);
      await kept;
    },
  };
}

/** Ends everything that the machine runs as a node, also what another process started, and removes its network. It is safe to repeat. */
export async function powerOff(dir: string, clock: Clock): Promise<void> {
  const settings = await loadMachine(dir);
  await clearCgroups(cgroupLayout(), machineCgroup(dir), clock);
  await unmountBelow(dir, execCommand);
  if (!settings) return;
  await rm(machinePaths(dir).agentPid, { force: true });
  await removeNetwork(execCommand, settings.podCidr);
  await removeAllRules(execCommand);
  await removePolicyRules(execCommand);
}
