// `sagong stop` and `sagong down`: ending a cluster, also one that crashed.
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { execCommand } from '#host';
import type { Clock } from '#utils';
import { findProgram } from './capabilities.ts';
import { removeMachine } from '#cloud/machine';
import { clusterMark } from './paths.ts';
import { readRunState, removeRunState, stopProcess } from './run-state.ts';
import { loadSettings } from './settings.ts';
import { removeUserContext } from './user-kubeconfig.ts';

const canHaveNodes = (): boolean =>
  process.platform === 'linux' && process.getuid?.() === 0 && ['ip', 'iptables'].every((name) => findProgram(name));

/** Ends everything that runs; keeps the data. Gives whether something ran. */
export async function stop(dataDir: string, clock: Clock): Promise<boolean> {
  const stopped = await stopProcess(dataDir, clock);
  if (canHaveNodes() && existsSync(dataDir))
    await removeMachine(clusterMark(dataDir), { exec: execCommand, clock, dir: dataDir });
  await removeRunState(dataDir);
  return stopped;
}

/** Ends everything and removes the data and the user's context. Gives whether there was a cluster. */
export async function down(
  dataDir: string,
  { clock, env }: { clock: Clock; env: Record<string, string | undefined> },
): Promise<boolean> {
  if (!existsSync(dataDir)) return false;
  const settings = await loadSettings(dataDir).catch(() => undefined);
  const server = (await readRunState(dataDir))?.server ?? (settings && `https://127.0.0.1:${settings.port}`);
  await stop(dataDir, clock);
  if (settings) await removeUserContext(settings.name, server, env);
  await rm(dataDir, { recursive: true, force: true });
  return true;
}
