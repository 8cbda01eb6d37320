// Words of a command line that nobody else should read. Everybody on a machine can read the command line of a process for as long as it runs: one that
// stays gets them from the process that starts it, through a pipe. They are on no disk, whoever is killed when.
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { closeSync, readFileSync } from 'node:fs';
import type { Writable } from 'node:stream';

export type HandedOver = Readonly<Record<string, string>>;

/** Says that there is a pipe, and where. */
const variable = 'SAGONG_HANDED_OVER';
const descriptor = 3;
/** A pipe of Linux takes this much without a reader, so that nobody waits. */
const bytesMax = 4_096;

/** How to start a process that is to get these words; `send` once it is started. `stdio`: its standard input, output and error. */
export function handOver(words: HandedOver, stdio: readonly (number | 'ignore' | 'inherit' | 'pipe')[]) {
  const text = JSON.stringify(words);
  if (Buffer.byteLength(text) > bytesMax) throw new Error('the values of --token and --certificate-key are too long');
  const isNeeded = Object.keys(words).length > 0;
  const options: SpawnOptions = isNeeded
    ? { stdio: [...stdio, 'pipe'], env: { ...process.env, [variable]: String(descriptor) } }
    : { stdio: [...stdio] };
  return {
    options,
    send({ stdio: streams }: Pick<ChildProcess, 'stdio'>): void {
      if (!isNeeded) return;
      const pipe = streams[descriptor] as Writable;
      // A child that ended before it read them says itself why.
      pipe.on('error', () => undefined);
      pipe.end(text);
    },
  };
}

/** What this process was given, once; nothing where nobody gave any. */
export function takeOver(env = process.env): HandedOver {
  const from = env[variable];
  if (from === undefined) return {};
  delete env[variable];
  const text = readFileSync(Number(from), 'utf8');
  closeSync(Number(from));
  return text === '' ? {} : (JSON.parse(text) as HandedOver);
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
