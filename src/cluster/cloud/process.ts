// The process of a cloud, kept running by the cluster's. One that dies is started again at the same port with what it kept on disk: it finds its
// machines running, as after a crash of everything.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { openLogFile } from '#host';
import type { Clock, Logger } from '#utils';
import { clusterPaths } from '../paths.ts';
import { cloudRestartMs, cloudSaidMax, cloudStopTimeoutMs } from './limits.ts';

/** What the process tells the one that started it, over IPC. */
export interface Announcement {
  port?: number;
  noUplink?: string;
}

export interface CloudProcessOptions {
  /** Of the cluster. */
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
  readonly #deps: { clock: Clock; logger: Logger };
  readonly #stopping = new AbortController();
  #child: ChildProcess | undefined;
  #kept: Promise<void> = Promise.resolve();
  #noUplink: string | undefined;

  constructor(options: CloudProcessOptions, deps: { clock: Clock; logger: Logger }) {
    this.#options = options;
    this.#deps = deps;
  }
  get noUplink(): string | undefined {
    return this.#noUplink;
  }

  /** Resolves with the port when its API answers; from then on it is started again whenever it ends. */
  async start(): Promise<number> {
    const first = await this.#run();
    this.#kept = this.#keepRunning(first);
    return first.port;
  }
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#child?.kill('SIGTERM');
    const patience = new AbortController();
    const late = this.#deps.clock.sleep(cloudStopTimeoutMs, patience.signal).then(() => this.#child?.kill('SIGKILL'));
    late.catch(() => {});
    await this.#kept;
    patience.abort();
  }

  async #keepRunning(first: Run): Promise<void> {
    const { clock, logger } = this.#deps;
    const { signal } = this.#stopping;
    let pauseMs = cloudRestartMs.first;
    for (let current: Run | undefined = first; ; ) {
      const startedMs = clock.monotonic();
      const end = await current?.ended;
      if (signal.aborted) return;
      if (current && clock.monotonic() - startedMs > cloudRestartMs.forgivenAfter) pauseMs = cloudRestartMs.first;
      if (end) logger.error('the cloud has ended and is started again', { ...end, pauseMs });
      await clock.sleep(pauseMs, signal).catch(() => {});
      pauseMs = Math.min(pauseMs * 2, cloudRestartMs.max);
      if (signal.aborted) return;
      current = await this.#run().catch((error: unknown) => {
        if (!signal.aborted) logger.error('the cloud is not back yet', { error: String(error), pauseMs });
        return undefined;
      });
      if (current) logger.info('the cloud is back', { port: current.port });
    }
  }
  async #run(): Promise<Run> {
    const [program = process.execPath, ...words] = this.#options.command;
    // Keys pressed in the terminal are for the cluster, which then ends its cloud in order.
    const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], detached: true });
    this.#child = child;
    const log = openLogFile(join(clusterPaths(this.#options.dataDir).logs, 'cloud.log'));
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        said = (said + chunk.toString('utf8')).slice(-cloudSaidMax);
        log.write(chunk);
      });
    const ended = new Promise<{ how: string; said: string }>((resolve) =>
      child.once('exit', (code, signal) => {
        log.end();
        resolve({ how: signal ?? `exit code ${code}`, said });
      }),
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
