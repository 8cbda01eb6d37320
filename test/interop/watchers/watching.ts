// The program beside this file, built and run: informers and watches of client-go that see every write of others once and in order, or say what they missed.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Writes that were acknowledged, and by watcher what it missed, saw twice or out of order. */
export interface Watched {
  acknowledged: number;
  faults: object;
}

/** Needs a Go toolchain. */
export async function buildGo(source: string, binary: string): Promise<void> {
  await run('nice', ['-n', '15', 'go', 'build', '-o', binary, '.'], { cwd: source });
}
export const buildWatchers = (binary: string): Promise<void> => buildGo(dirname(fileURLToPath(import.meta.url)), binary);

/** Resolves when all of them watch a namespace, which must be there. Gives what ends them, with what they saw. */
export async function startWatchers(binary: string, kubeconfig: string, namespace: string): Promise<() => Promise<Watched>> {
  const words = [`--kubeconfig=${kubeconfig}`, `--namespace=${namespace}`];
  const started = spawn(binary, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(started.stdout, 'readable');
  const said = text(started.stdout);
  return async () => {
    started.stdin.end();
    const seen = (await said).trim().split('\n').at(-1) ?? '';
    console.info(`${namespace}: ${seen}`);
    return JSON.parse(seen) as Watched;
  };
}
