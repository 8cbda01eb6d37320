// `sagong stop` and `sagong down`.
import { dataDirOf, down, stop } from '#cluster';
import { systemClock } from '#host';

interface Flags {
  name: string;
  dataDir?: string;
}

export async function runStop(flags: Flags): Promise<void> {
  const dataDir = dataDirOf(flags.name, flags.dataDir);
  const stopped = await stop(dataDir, systemClock());
  process.stdout.write(stopped ? `Stopped the cluster in ${dataDir}; its data is kept\n` : `No cluster runs in ${dataDir}\n`);
}

export async function runDown({ force = false, ...flags }: Flags & { force?: boolean }): Promise<void> {
  const dataDir = dataDirOf(flags.name, flags.dataDir);
  const was = await down(dataDir, {
    clock: systemClock(),
    env: process.env,
    force,
    warn: (text) => void process.stderr.write(`sagong: ${text}\n`),
  });
  process.stdout.write(was ? `Removed the cluster in ${dataDir}\n` : `There is no cluster in ${dataDir}\n`);
}
