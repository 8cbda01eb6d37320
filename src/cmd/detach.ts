// Commands that stay in the foreground, run in a process of their own: with their folder in the command line, by which other commands know whose
// processes they are, or detached from the terminal.
import { spawn } from 'node:child_process';
import { openSync, readdirSync, readFileSync, rmdirSync, rmSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createProgress, readRunState, runningProcess } from '#cluster/start';
import { ensureDir, onSignals, systemClock } from '#host';
import { withoutTrailing } from '#utils';
import { type HandedOver, handOver, hide, without } from './handed-over.ts';
import { programOf } from './program.ts';
import { say } from './say.ts';

/** The flags of this process that the child gets in another way: `secrets` in a file. */
const withDataDir = (dataDir: string, secrets: readonly string[]): string[] => {
  const given = process.argv.slice(2).filter((word) => !/^--detach(=|$)/.test(word));
  return [...without(given, ['--data-dir', ...secrets]), '--data-dir', dataDir];
};

const nameOf = (key: string): string => `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** No process shows them from now on. Gives their flags, and what takes back what the child has not read. */
async function secretly(dataDir: string, words: HandedOver): Promise<{ flags: string[]; takeBack(): Promise<void> }> {
  const flags = Object.keys(words).map(nameOf);
  if (flags.length === 0) return { flags, takeBack: () => Promise.resolve() };
  hide(flags);
  return { flags, takeBack: await handOver(dataDir, words) };
}

/**
 * Does the work in a child with the data directory named. Ctrl-C reaches both through the terminal; other signals are passed on. `words`: values of flags
 * that no command line is to show.
 */
export async function again(dataDir: string, words: HandedOver = {}): Promise<void> {
  const [command = process.execPath, ...args] = programOf();
  const { flags, takeBack } = await secretly(dataDir, words);
  const child = spawn(command, [...args, ...withDataDir(dataDir, flags)], { stdio: 'inherit' });
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => {
      if (name !== 'SIGINT' || !process.stdin.isTTY) child.kill(name);
    });
  process.exitCode = await new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
  await takeBack();
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

/** Returns when the process says that it is ready, and leaves it running. `what` it is: cluster, machine; `words`: as for `again`. */
export async function detach(dataDir: string, what: string, words: HandedOver = {}): Promise<void> {
  const clock = systemClock();
  const running = await runningProcess(dataDir);
  if (running?.ready) return say(`The ${what} in ${dataDir} is running already (process ${running.pid})`);
  const logs = join(dataDir, 'logs');
  await ensureDir(logs);
  const outFile = join(logs, 'up.log');
  const out = openSync(outFile, 'w', 0o600);
  const [command = process.execPath, ...args] = programOf();
  const { flags, takeBack } = await secretly(dataDir, words);
  const child = spawn(command, [...args, ...withDataDir(dataDir, flags)], { detached: true, stdio: ['ignore', out, out] });
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
        await takeBack();
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
