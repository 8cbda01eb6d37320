// A driver in a process of its own, which can be killed.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { DriverContext, Observation, World } from '#cloud/model';

const main = (room: string, create: string): string => `
import { ${create} } from '${room}';
import { execCommand, systemClock } from '#host';
import { silentLogger } from '#utils';
let driver;
process.on('message', async ({ context, world }) => {
  const observe = (observation) => process.send({ observation });
  driver ??= ${create}({ ...context, observe }, { exec: execCommand, clock: systemClock(), logger: silentLogger });
  try {
    await driver.realise(world);
    process.send({ done: true });
  } catch (error) {
    process.send({ done: false, error: String(error) });
  }
});
`;

export interface DriverProcess {
  realise(world: World): Promise<void>;
  /** With SIGKILL. */
  kill(): Promise<void>;
}

type Message = { observation: Observation } | { done: boolean; error?: string };

export async function startDriverProcess(
  context: Omit<DriverContext, 'observe'>,
  observe: (observation: Observation) => void,
  { room, create } = { room: '#cloud/machine', create: 'createMachineDriver' },
): Promise<DriverProcess> {
  const dir = await mkdtemp(join(tmpdir(), 'sagong-driver-'));
  const path = join(dir, 'driver.mjs');
  await build({
    stdin: { contents: main(room, create), resolveDir: fileURLToPath(new URL('.', import.meta.url)), loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['sagong-src'],
    outfile: path,
    logLevel: 'error',
  });
  const child = fork(path, [context.dir], { serialization: 'advanced', execArgv: [] });
  // What cannot be sent to a process that has ended: its end is told by `exit`.
  child.on('error', () => {});
  let finish: (message: { done: boolean; error?: string }) => void = () => {};
  child.on('message', (message: Message) => ('observation' in message ? observe(message.observation) : finish(message)));
  return {
    realise: (world) =>
      new Promise((resolve, reject) => {
        finish = ({ done, error }) => (done ? resolve() : reject(new Error(error)));
        child.once('exit', () => reject(new Error('the driver process has ended')));
        child.send({ context, world });
      }),
    async kill() {
      const exited = once(child, 'exit');
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await exited;
      }
      await rm(dir, { recursive: true, force: true });
    },
  };
}
