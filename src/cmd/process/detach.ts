// Commands that stay in the foreground, run in a process of their own: with their folder in the command line, by which other commands know whose
// processes they are, or detached from the terminal.
import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { openSync, readdirSync, readFileSync, rmdirSync, rmSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createProgress, readRunState, runningProcess } from '#cluster/start';
import { ensureDir, onSignals, systemClock } from '#host';
import { withoutTrailing } from '#utils';
import { type HandedOver, handOver, hide, without } from './handed-over.ts';
import { programOf } from './program.ts';
import { say } from './say.ts';

/** What the child gets otherwise than by its command line. */
export interface Handing {
  /** Values of flags that no command line is to show, through a pipe. */
  words?: HandedOver;
  /** The text of `--config`, by standard input. */
  config?: string | undefined;
}

/** The flags of this process, without those that the child gets in another way. */
const childFlags = (dataDir: string, secrets: readonly string[], { config }: Handing): string[] => {
  const given = process.argv.slice(2).filter((word) => !/^--detach(=|$)/.test(word));
  const replaced = ['--data-dir', ...secrets, ...(config === undefined ? [] : ['--config'])];
  return [...without(given, replaced), '--data-dir', dataDir, ...(config === undefined ? [] : ['--config', '-'])];
};

const nameOf = (key: string): string => `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Starts this program again, with the data directory in its command line and without what it gets in another way. */
function start(
  dataDir: string,
  { words = {}, config }: Handing,
  output: number | 'inherit',
  options: SpawnOptions,
): ChildProcess {
  const [command = process.execPath, ...args] = programOf();
  const secrets = Object.keys(words).map(nameOf);
  if (secrets.length > 0) hide(secrets);
  const otherwise = output === 'inherit' ? 'inherit' : 'ignore';
  const handed = handOver(words, [config === undefined ? otherwise : 'pipe', output, output]);
  const child = spawn(command, [...args, ...childFlags(dataDir, secrets, { config })], { ...options, ...handed.options });
  handed.send(child);
  tell(child, { config });
  return child;
}

/** A child that ended before it read all of it says itself why. */
function tell({ stdin }: ChildProcess, { config }: Handing): void {
  stdin?.on('error', () => undefined);
  stdin?.end(config);
}

/** Does the work in a child with the data directory named. Ctrl-C reaches both through the terminal; other signals are passed on. */
export async function again(dataDir: string, handing: Handing = {}): Promise<void> {
  const child = start(dataDir, handing, 'inherit', {});
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => {
      if (name !== 'SIGINT' || !process.stdin.isTTY) child.kill(name);
    });
  process.exitCode = await new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}

/** Removes the file and the folders around it, from the inner to the outer, unless they hold anything else: a start that was refused leaves nothing. */
function removeAlone(file: string, folders: readonly string[]): void {
  if (readdirSync(folders[0] ?? '').length > 1) return;
  rmSync(file);
  for (const folder of folders) {
    if (readdirSync(folder).length > 0) return;
    rmdirSync(folder);
  }
}

/** Why a process has written nothing: what it had to say may have found no room. */
function silence(file: string): string {
  const { bavail } = statfsSync(dirname(file));
  return bavail === 0 ? `there is no room left on the disk of ${dirname(file)}` : `it said nothing in ${file}`;
}

/** Returns when the process says that it is ready, and leaves it running. `what` it is: cluster, machine. */
export async function detach(dataDir: string, what: string, handing: Handing = {}): Promise<void> {
  const clock = systemClock();
  const running = await runningProcess(dataDir);
  if (running?.ready) return say(`The ${what} in ${dataDir} is running already (process ${running.pid})`);
  const logs = join(dataDir, 'logs');
  await ensureDir(logs);
  const outFile = join(logs, 'up.log');
  const out = openSync(outFile, 'w', 0o600);
  const child = start(dataDir, handing, out, { detached: true });
  let exit: number | undefined;
  child.once('exit', (code) => {
    exit = code ?? 1;
  });
  // Until the cluster is ready, a user who stops waiting stops the start.
  const giveUp = (): void => void child.kill(child.killed ? 'SIGKILL' : 'SIGTERM');
  onSignals({ SIGTERM: giveUp, SIGINT: giveUp, SIGHUP: giveUp });
  const progress = createProgress(process.stdout, clock);
  let waiting: string | undefined;
  await progress.step(`${what} in ${dataDir}`, async () => {
    for (;;) {
      if (exit !== undefined) {
        const said = readFileSync(outFile, 'utf8').trim() || silence(outFile);
        removeAlone(outFile, [logs, dataDir]);
        throw new Error(`the ${what} did not start:\n${said}`);
      }
      const state = await readRunState(dataDir);
      const own = state?.pid === child.pid ? state : undefined;
      if (own?.ready) return;
      if (own?.waiting !== undefined && own.waiting !== waiting) {
        waiting = own.waiting;
        progress.say(waiting);
      }
      await clock.sleep(25);
    }
  });
  child.unref();
  say(withoutTrailing(readFileSync(outFile, 'utf8').replaceAll(`${waiting}\n`, ''), '\n'));
  process.exit(0);
}
