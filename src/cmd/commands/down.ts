// `sagong stop` and `sagong down`.
import { existsSync } from 'node:fs';
import { dataDirOf, down, stop } from '#cluster';
import { systemClock } from '#host';
import { say, warn } from '../process/say.ts';

interface Flags {
  name: string;
  dataDir?: string;
}

export async function runStop(flags: Flags): Promise<void> {
  const dataDir = dataDirOf(flags.name, flags.dataDir);
  const stopped = await stop(dataDir, systemClock());
  const data = existsSync(dataDir) ? 'its data is kept' : 'its data was removed before';
  say(stopped ? `Stopped the cluster in ${dataDir}; ${data}` : `No cluster runs in ${dataDir}`);
}

export async function runDown({ force = false, ...flags }: Flags & { force?: boolean }): Promise<void> {
  const dataDir = dataDirOf(flags.name, flags.dataDir);
  const was = await down(dataDir, {
    clock: systemClock(),
    env: process.env,
    force,
    warn,
  });
  say(was ? `Removed the cluster in ${dataDir}` : `There is no cluster in ${dataDir}`);
}
