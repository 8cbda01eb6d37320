// The containerd of one node, kept running by the node's agent. It may end and start again at any time: containers are held by their shims.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { atomicWrite } from '#host';
import type { Clock, Logger } from '#utils';
import { cniTemplate, containerdConfig, containerdPaths, type ContainerdOptions, podNetworkFile } from './containerd-config.ts';
import { containerdPollMs, containerdTimeoutMs, restartMs } from './limits.ts';
import { accepts, killPid, type ManagedProcess, startProcess } from './processes.ts';
import { type RegistryMirror, writeRegistryMirrors } from './registry-mirrors.ts';

export interface ContainerdServiceOptions extends ContainerdOptions {
  registryMirrors: readonly RegistryMirror[];
}

export class ContainerdService {
  readonly socket: string;
  readonly #options: ContainerdServiceOptions;
  readonly #deps: { clock: Clock; logger: Logger };
  readonly #stopped = new AbortController();

  constructor(options: ContainerdServiceOptions, deps: { clock: Clock; logger: Logger }) {
    this.#options = options;
    this.#deps = deps;
    this.socket = containerdPaths(options.nodeDir).socket;
  }

  /** Resolves when CRI answers on `socket`; from then on it is started again whenever it ends. */
  async start(): Promise<void> {
    await this.#prepareDisk();
    await this.#endPredecessor();
    const first = await this.#run();
    this.#keepRunning(first).catch((error: unknown) =>
      this.#deps.logger.error('containerd cannot be started again', { error: String(error) }),
    );
  }
  /** Lets it run on, as pods do. */
  leave(): void {
    this.#stopped.abort();
  }

  async #prepareDisk(): Promise<void> {
    const { nodeDir, cniConfDir } = this.#options;
    const paths = containerdPaths(nodeDir);
    await writeRegistryMirrors(paths.certsDir, this.#options.registryMirrors);
    for (const path of [paths.dir, join(nodeDir, 'logs')]) await mkdir(path, { recursive: true });
    // Written by containerd when the kubelet tells it the node's pod CIDR, which may be another one than at the last boot.
    await rm(join(cniConfDir, podNetworkFile), { force: true });
    await mkdir(cniConfDir, { recursive: true });
    await writeFile(paths.cniTemplate, cniTemplate(this.#options));
    await writeFile(paths.configFile, containerdConfig(this.#options), { mode: 0o600 });
  }
  /** One of an agent that crashed: nobody would start it again. */
  async #endPredecessor(): Promise<void> {
    const { pidFile, configFile } = containerdPaths(this.#options.nodeDir);
    const pid = Number(await readFile(pidFile, 'utf8').catch(() => '0'));
    const running = async (): Promise<boolean> =>
      pid > 0 && (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0').includes(configFile);
    const deadline = this.#deps.clock.monotonic() + containerdTimeoutMs;
    while (await running()) {
      killPid(pid, this.#deps.clock.monotonic() > deadline ? 'SIGKILL' : 'SIGTERM');
      await this.#deps.clock.sleep(containerdPollMs);
    }
  }
  async #run(): Promise<ManagedProcess> {
    const { nodeDir } = this.#options;
    const { configFile, pidFile } = containerdPaths(nodeDir);
    const process = await startProcess('containerd', ['--config', configFile], {
      logFile: join(nodeDir, 'logs', 'containerd.log'),
    });
    await atomicWrite(pidFile, String(process.child.pid));
    await this.#untilListening(process);
    return process;
  }
  async #keepRunning(first: ManagedProcess): Promise<void> {
    const { clock, logger } = this.#deps;
    const { signal } = this.#stopped;
    let pauseMs = restartMs.first;
    for (let current: ManagedProcess | undefined = first; ; ) {
      const startedMs = clock.monotonic();
      const end = await current?.ended;
      if (signal.aborted) return;
      if (current && clock.monotonic() - startedMs > restartMs.forgivenAfter) pauseMs = restartMs.first;
      logger.error('containerd has ended and is started again', { ...end, error: current?.lastWords(), pauseMs });
      await clock.sleep(pauseMs, signal).catch(() => {});
      pauseMs = Math.min(pauseMs * 2, restartMs.max);
      if (signal.aborted) return;
      current = await this.#run().catch((error: unknown) => {
        logger.error('containerd did not start', { error: String(error) });
        return undefined;
      });
    }
  }
  async #untilListening(process: ManagedProcess): Promise<void> {
    const { clock } = this.#deps;
    const deadline = clock.monotonic() + containerdTimeoutMs;
    let over = false;
    void process.ended.then(() => {
      over = true;
    });
    while (!(await accepts({ path: this.socket }))) {
      if (over) throw new Error(`containerd ended: ${process.lastWords()}`);
      if (clock.monotonic() > deadline) throw new Error(`containerd does not answer on ${this.socket}`);
      await clock.sleep(containerdPollMs);
    }
  }
}
