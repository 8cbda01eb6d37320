// `sagong node shell`: a program of this machine's in the namespaces of a real node, beside its kubelet.
import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';

import { controlPlaneConfigPath, controlPlaneDir } from './control-planes/config.ts';
import { agentConfigPath, clusterFlags } from './paths.ts';
import { loadSettings } from './settings.ts';

/** The agent itself; who only leads into the node (sh, nsenter, env) carries the same words behind its own. */
const leads = /(^|\/)(sh|nsenter|env)$/;

async function agentOf(configPaths: readonly string[]): Promise<string | undefined> {
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
    const isAgent = words.includes('node-agent') || words.includes('control-plane-agent');
    if (isAgent && configPaths.some((path) => words.includes(path)) && !leads.test(words[0] ?? '')) return pid;
  }
  return undefined;
}

/** Answers the exit code. Rejects with a sentence when there is no such node, or it does not run. */
export async function nodeShell(dataDir: string, node: string, command: readonly string[]): Promise<number> {
  const settings = await loadSettings(dataDir);
  if (!settings) throw new Error(`there is no cluster in ${dataDir}`);
  if (settings.runtime === 'simulated') throw new Error('the nodes of this cluster are simulated: no process runs on them');
  const pid = await agentOf([agentConfigPath(dataDir, node), controlPlaneConfigPath(controlPlaneDir(dataDir, node))]);
  const flags = clusterFlags(settings.name, dataDir);
  if (pid === undefined) throw new Error(`no node ${node} runs; see them with: sagong node list${flags}`);
  const inside = command.length > 0 ? command : [process.env['SHELL'] ?? '/bin/sh'];
  const child = spawn('nsenter', ['-t', pid, '-m', '-u', '-i', '-n', '-p', '-C', '--', ...inside], { stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? (signal ? 1 : 0)));
  });
}
