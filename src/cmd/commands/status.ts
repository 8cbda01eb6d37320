// `sagong status`, `kubeconfig` and `version`.
import { readFile } from 'node:fs/promises';
import { clusterPaths, clusterStatus, dataDirOf, machineStatus } from '#cluster';
import { versionInfo } from '#component-base';
import { systemClock } from '#host';
import { say } from '../process/say.ts';

interface Flags {
  name: string;
  dataDir?: string;
}

export async function runStatus(flags: Flags): Promise<void> {
  const dataDir = dataDirOf(flags.name, flags.dataDir);
  const { text, running } = (await machineStatus(dataDir)) ?? (await clusterStatus(dataDir, systemClock()));
  say(text);
  process.exitCode = running ? 0 : 1;
}

export async function runKubeconfig(flags: Flags): Promise<void> {
  const path = clusterPaths(dataDirOf(flags.name, flags.dataDir)).kubeconfig;
  const text = await readFile(path, 'utf8').catch(() => {
    throw new Error(`there is no cluster at ${path}; start one with: sagong up --name ${flags.name}`);
  });
  process.stdout.write(text);
}

export function runVersion(): void {
  const { gitVersion, platform } = versionInfo();
  say(`sagong ${gitVersion} ${platform} node ${process.version}`);
}
