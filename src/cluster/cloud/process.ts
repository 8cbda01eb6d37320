// The process of a cloud, kept running by the cluster's. One that dies is started again at the same port with what it kept on disk: it finds its
// machines running, as after a crash of everything.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { openLogFile } from '#host';
import type { Running, Supervised, Supervisor } from '#component-base';
import type { Clock } from '#utils';
import { clusterPaths } from '../state/paths.ts';
import { cloudSaidMax, cloudStopTimeoutMs } from './limits.ts';

/** The message that the cloud's process sends over IPC to the process that started it. */
export interface Announcement {
  port?: number;
  noUplink?: string;
}

export interface CloudProcessOptions {
  /** The cluster's folder. */
  dataDir: string;
  /** Executable and arguments. */
  command: readonly string[];
}

interface Run {
  child: ChildProcess;
  /** Where its API answers. */
  port: number;
  /** Resolves with how it ended, and its last words. */
  ended: Promise<{ how: string; said: string }>;
}

export class CloudProcess {
  readonly #options: CloudProcessOptions;
  readonly #deps: { clock: Clock; supervisor: Supervisor };
  #running: Supervised<Running> | undefined;
  #noUplink: string | undefined;
  #port = 0;

  constructor(options: CloudProcessOptions, deps: { clock: Clock; supervisor: Supervisor }) {
    this.#options = options;
    this.#deps = deps;
  }
  get noUplink(): string | undefined {
    return this.#noUplink;
  }

  /** Resolves with the port when its API answers; from then on it is started again whenever it ends. */
  async start(): Promise<number> {
    this.#running = await this.#deps.supervisor.run('cloud', (fail) => this.#begin(fail));
    return this.#port;
  }
  async stop(): Promise<void> {
    await this.#running?.stop();
  }

  async #begin(fail: (error: Error) => void): Promise<Running> {
    const { child, port, ended } = await this.#run();
    this.#port = port;
    let stopping = false;
    void ended.then(({ how, said }) => {
      if (!stopping) fail(new Error(`the cloud has ended (${how}): ${said}`));
    });
    return {
      stop: async () => {
        stopping = true;
        child.kill('SIGTERM');
        const patience = new AbortController();
        const late = this.#deps.clock.sleep(cloudStopTimeoutMs, patience.signal).then(() => child.kill('SIGKILL'));
        late.catch(() => {});
        await ended;
        patience.abort();
      },
    };
  }
  async #run(): Promise<Run> {
    const [program = process.execPath, ...words] = this.#options.command;
    // Keys pressed in the terminal are for the cluster, which then ends its cloud in order.
    const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], detached: true });
    const log = openLogFile(join(clusterPaths(this.#options.dataDir).logs, 'cloud.log'));
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        said = (said + chunk.toString('utf8')).slice(-cloudSaidMax);
        log.write(chunk);
      });
    // What it said last may come after its end.
    child.once('close', () => log.end());
    const ended = new Promise<{ how: string; said: string }>((resolve) =>
      child.once('exit', (code, signal) => resolve({ how: signal ?? `exit code ${code}`, said })),
    );
    const port = await new Promise<number>((resolve, reject) => {
      child.on('message', (message: Announcement) => {
        this.#noUplink = message.noUplink ?? this.#noUplink;
        if (message.port !== undefined) resolve(message.port);
      });
      child.once('error', reject);
      void ended.then(({ how }) => reject(new Error(`the cloud did not start (${how}): ${said}`)));
    });
    return { child, port, ended };
  }
}
