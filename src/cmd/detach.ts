// Commands that stay in the foreground, run in a process of their own: with their folder in the command line, by which other commands know whose
// processes they are, or detached from the terminal.
import { spawn } from 'node:child_process';
import { openSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createProgress, readRunState, runningProcess } from '#cluster/start';
import { ensureDir, onSignals, systemClock } from '#host';
import { programOf } from './program.ts';

const withDataDir = (dataDir: string): string[] => {
  const given = process.argv.slice(2).filter((word) => !/^--detach(=|$)/.test(word));
  const at = given.findIndex((word) => word === '--data-dir' || word.startsWith('--data-dir='));
  if (at >= 0) given.splice(at, given[at] === '--data-dir' ? 2 : 1);
  return [...given, '--data-dir', dataDir];
};

/** Does the work in a child with the data directory named. Ctrl-C reaches both through the terminal; other signals are passed on. */
export async function again(dataDir: string): Promise<void> {
  const [command = process.execPath, ...args] = programOf();
  const child = spawn(command, [...args, ...withDataDir(dataDir)], { stdio: 'inherit' });
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

/** Returns when the process says that it is ready, and leaves it running. `what` it is: cluster, machine. */
export async function detach(dataDir: string, what: string): Promise<void> {
  const clock = systemClock();
  const running = await runningProcess(dataDir);
  if (running?.ready) return void process.stdout.write(`The ${what} in ${dataDir} is running already (process ${running.pid})\n`);
  const logs = join(dataDir, 'logs');
  await ensureDir(logs);
  const outFile = join(logs, 'up.log');
  const out = openSync(outFile, 'w', 0o600);
  const [command = process.execPath, ...args] = programOf();
  const child = spawn(command, [...args, ...withDataDir(dataDir)], { detached: true, stdio: ['ignore', out, out] });
  let exit: number | undefined;
  child.once('exit', (code) => {
    exit = code ?? 1;
  });
  // Until it is ready, whoever gives up waiting gives up the start.
  const giveUp = (): void => void child.kill(child.killed ? 'SIGKILL' : 'SIGTERM');
  onSignals({ SIGTERM: giveUp, SIGINT: giveUp, SIGHUP: giveUp });
  const progress = createProgress(process.stdout, clock);
  let waiting: string | undefined;
  await progress.step(`${what} in ${dataDir}`, async () => {
    for (;;) {
      if (exit !== undefined) {
        const said = readFileSync(outFile, 'utf8');
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
  process.stdout.write(readFileSync(outFile, 'utf8').replaceAll(`${waiting}\n`, ''));
  process.exit(0);
}
