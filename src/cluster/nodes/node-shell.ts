// `sagong node shell`: a program of this machine's in the namespaces of a real node, beside its kubelet.
import { spawn } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { constants } from 'node:os';
import type { Clock } from '#utils';
import { controlPlaneConfigPath, controlPlaneDir, agentConfigPath, clusterFlags } from '../state/paths.ts';
import { loadSettings } from '../state/settings.ts';

/** A node that was switched on a moment ago has a first process before it has an agent. */
const bootedWithinMs = 5_000;
const pollMs = 100;

/** The agent itself; who only leads into the node (sh, nsenter, env) carries the same words behind its own. */
const leads = /(^|\/)(sh|nsenter|env)$/;

/**
 * Whether the process is of this user and has the file where it says: everybody on the machine, and every container, may write into a command line what
 * it likes, and who enters its namespaces runs its programs.
 */
export async function isOurs(pid: string, configPath: string): Promise<boolean> {
  try {
    const [status, here, there] = await Promise.all([
      readFile(`/proc/${pid}/status`, 'utf8'),
      stat(configPath),
      stat(`/proc/${pid}/root${configPath}`),
    ]);
    const uids = /^Uid:\s+(\d+)\s+(\d+)/m.exec(status)?.slice(1) ?? [];
    return uids.every((uid) => Number(uid) === process.getuid?.()) && here.ino === there.ino && here.dev === there.dev;
  } catch {
    return false;
  }
}

/** The process of the agent of a node or of a control-plane machine; undefined: it does not run. */
export async function agentOf(dataDir: string, node: string): Promise<string | undefined> {
  const planeDirs = [controlPlaneDir(dataDir, node), controlPlaneDir(dataDir, node, 'pods')];
  const configPaths = [agentConfigPath(dataDir, node), ...planeDirs.map(controlPlaneConfigPath)];
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
    const isAgent = words.includes('node-agent') || words.includes('control-plane-agent');
    const configPath = configPaths.find((path) => words.includes(path));
    if (isAgent && configPath !== undefined && !leads.test(words[0] ?? '') && (await isOurs(pid, configPath))) return pid;
  }
  return undefined;
}

/** Answers the exit code. Waits for a node that boots just now; rejects with a sentence when there is no such node, or it does not run. */
export async function nodeShell(dataDir: string, node: string, command: readonly string[], clock: Clock): Promise<number> {
  const settings = await loadSettings(dataDir);
  if (!settings) throw new Error(`there is no cluster in ${dataDir}`);
  if (settings.runtime === 'simulated') throw new Error('the nodes of this cluster are simulated: no process runs on them');
  const isKnown = [...settings.nodes, ...(settings.controlPlanes ?? [])].includes(node);
  const deadline = clock.monotonic() + (isKnown ? bootedWithinMs : 0);
  let pid = await agentOf(dataDir, node);
  while (pid === undefined && clock.monotonic() < deadline) {
    await clock.sleep(pollMs);
    pid = await agentOf(dataDir, node);
  }
  const flags = clusterFlags(settings.name, dataDir);
  if (pid === undefined) throw new Error(`no node ${node} runs; see them with: sagong node list${flags}`);
  const inside = command.length > 0 ? command : [process.env['SHELL'] ?? '/bin/sh'];
  const child = spawn('nsenter', ['-t', pid, '-m', '-u', '-i', '-n', '-p', '-C', '--', ...inside], { stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}
