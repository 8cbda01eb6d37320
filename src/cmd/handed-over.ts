// Words of a command line that nobody else should read. Everybody on a machine can read the command line of a process for as long as it runs: one that
// stays hands them over to itself in a file that its owner alone can read, and that is removed when it is read.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { atomicWrite, ensureDir, readFileIfExists } from '#host';

export type HandedOver = Readonly<Record<string, string>>;

const pathIn = (dataDir: string): string => join(dataDir, 'handed-over.json');

/** Leaves them for the process that begins with this data directory. Gives what takes them back, where it did not read them. */
export async function handOver(dataDir: string, words: HandedOver): Promise<() => Promise<void>> {
  await ensureDir(dataDir);
  await atomicWrite(pathIn(dataDir), JSON.stringify(words), { mode: 0o600 });
  return () => rm(pathIn(dataDir), { force: true });
}

/** What was left, which is there no more; nothing where nobody left any. */
export async function takeOver(dataDir: string): Promise<HandedOver> {
  const text = (await readFileIfExists(pathIn(dataDir)))?.toString('utf8');
  if (text === undefined) return {};
  await rm(pathIn(dataDir), { force: true });
  return JSON.parse(text) as HandedOver;
}

/** The words without these flags and their values. */
export function without(words: readonly string[], flags: readonly string[]): string[] {
  const left: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const [name = '', value] = (words[at] ?? '').split('=', 2);
    if (!flags.includes(name)) left.push(words[at] ?? '');
    else if (value === undefined) at++;
  }
  return left;
}

/** Has the system show the command line of this process without these flags. */
export function hide(flags: readonly string[]): void {
  process.title = [process.argv0, ...without(process.argv.slice(1), flags)].join(' ');
}
