// One HAProxy, brought in line with the proxies wanted of it: started when there are some, told over its socket when only servers change, reloaded
// without losing a connection when listeners do, ended when there are none. What an earlier process left running is taken over.
import { mkdir, open, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { readFileIfExists } from '#host';
import type { Clock, Exec, Logger } from '#utils';
import { limits } from '../limits.ts';
import { livesIn } from '../netns.ts';
import {
  balancerOfProxy,
  type Config,
  configOf,
  parseProcesses,
  parseServerStates,
  type Processes,
  type Proxy,
  refusedProxies,
  serverCommands,
  serversMatch,
  sockets,
} from './config.ts';
import { findHaproxy, isAlive, type Running, startHaproxy, stopHaproxy, watched } from './process.ts';
import { ask, tell } from './sockets.ts';

export interface HaproxyOptions {
  /** Namespace that it lives in, named as in `ip netns`. */
  netns: string;
  /** Its own folder; absolute. */
  dir: string;
  exec: Exec;
  clock: Clock;
  logger: Logger;
  /** Called when the program has ended by itself. */
  onEnded(): void;
}

export interface Haproxy {
  /** Makes HAProxy serve `proxies`. Gives reasons by load balancer for those it could not open; rejects when it cannot run at all. */
  apply(proxies: readonly Proxy[]): Promise<ReadonlyMap<string, string>>;
  stop(): Promise<void>;
}

/** HAProxy could not open some of its listeners; others may be served. */
class Refused extends Error {
  override name = 'Refused';
  readonly reasons: ReadonlyMap<string, string>;
  constructor(reasons: ReadonlyMap<string, string>, message: string) {
    super(message);
    this.reasons = reasons;
  }
}

const logBytesMax = 1 << 20;

export function createHaproxy(options: HaproxyOptions): Haproxy {
  return new ManagedHaproxy(options);
}

class ManagedHaproxy implements Haproxy {
  readonly #options: HaproxyOptions;
  readonly #configFile: string;
  readonly #candidate: string;
  readonly #logFile: string;
  #running: (Running & { watching: { stop(): void } }) | undefined;
  #searched = false;
  /** Nothing of it is on the machine. */
  #absent = false;
  /** The structure of the configuration that the newest worker was started with. */
  #structure: string | undefined;
  /** What is in the configuration file. */
  #written: string | undefined;

  constructor(options: HaproxyOptions) {
    this.#options = options;
    this.#configFile = join(options.dir, 'haproxy.cfg');
    this.#candidate = join(options.dir, 'candidate.cfg');
    this.#logFile = join(options.dir, 'haproxy.log');
  }

  async apply(proxies: readonly Proxy[]): Promise<ReadonlyMap<string, string>> {
    const refused = new Map<string, string>();
    // Each round leaves out at least one load balancer.
    for (;;) {
      const served = proxies.filter(({ balancerId }) => !refused.has(balancerId));
      if (served.length === 0) {
        await this.stop();
        return refused;
      }
      try {
        await this.#serve(served);
        return refused;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        for (const [name, why] of error.reasons) refused.set(balancerOfProxy(name), why);
      }
    }
  }

  async stop(): Promise<void> {
    if (this.#absent) return;
    await this.#findOld();
    this.#running?.watching.stop();
    if (this.#running) await stopHaproxy(this.#running.pid, this.#options.clock);
    this.#running = undefined;
    this.#structure = undefined;
    this.#written = undefined;
    await rm(this.#options.dir, { recursive: true, force: true });
    this.#absent = true;
  }

  async #serve(proxies: readonly Proxy[]): Promise<void> {
    this.#absent = false;
    await this.#findOld();
    const config = configOf(proxies, await this.#configOptions());
    const running = this.#running;
    if (running && !(isAlive(running.pid) && livesIn(running.pid, this.#options.netns))) {
      running.watching.stop();
      await stopHaproxy(running.pid, this.#options.clock);
      this.#running = undefined;
    }
    if (this.#running && this.#structure === config.structure && (await this.#changeServers(proxies))) {
      await this.#write(config);
      return;
    }
    await this.#check(config);
    await (this.#running ? this.#reload() : this.#start());
    this.#structure = config.structure;
  }

  /** Whether HAProxy now has just these servers. */
  async #changeServers(proxies: readonly Proxy[]): Promise<boolean> {
    try {
      const matching = await this.#atSocket(sockets.admin, async (path) => {
        const states = parseServerStates(await ask(path, 'show servers state'));
        const commands = serverCommands(proxies, states);
        if (commands.length > 0) await tell(path, commands);
        return serversMatch(proxies, commands.length > 0 ? parseServerStates(await ask(path, 'show servers state')) : states);
      });
      if (matching) return true;
      this.#options.logger.debug('HAProxy is reloaded, as it did not take all servers', { netns: this.#options.netns });
    } catch (error) {
      this.#options.logger.warn('HAProxy is reloaded, as its socket failed', { error: String(error) });
    }
    return false;
  }

  /** A configuration is in its place only when HAProxy finds no fault with it. */
  async #check(config: Config): Promise<void> {
    const { dir, exec } = this.#options;
    await writeFile(this.#candidate, config.text, { mode: 0o600 });
    const checked = await exec('haproxy', ['-c', '-q', '-f', this.#candidate], { cwd: dir, timeoutMs: limits.commandTimeoutMs });
    if (checked.code !== 0) throw new Error(`HAProxy refuses its configuration: ${alerts(checked.stderr)}`);
    await rename(this.#candidate, this.#configFile);
    this.#written = config.text;
  }

  /** Writes the configuration for the next start. It need not survive a power failure, as HAProxy does not either. */
  async #write({ text }: Config): Promise<void> {
    if (this.#written === text) return;
    await writeFile(this.#candidate, text, { mode: 0o600 });
    await rename(this.#candidate, this.#configFile);
    this.#written = text;
  }

  async #start(): Promise<void> {
    const { netns, dir, clock } = this.#options;
    await rm(this.#logFile, { force: true });
    const running = await startHaproxy({
      netns,
      dir,
      configFile: this.#configFile,
      logFile: this.#logFile,
      masterSocket: sockets.master,
    });
    const deadline = clock.monotonic() + limits.reloadTimeoutMs;
    while (((await this.#processes())?.workers.size ?? 0) === 0) {
      const late = clock.monotonic() > deadline;
      if (late) await stopHaproxy(running.pid, clock);
      if (late || !isAlive(running.pid)) throw await this.#failure('HAProxy does not start', 0);
      await clock.sleep(limits.reloadPollMs);
    }
    this.#take(running);
  }

  #take(running: Running): void {
    const { clock, onEnded } = this.#options;
    const since = clock.monotonic();
    const ended = (): void => {
      const early = clock.monotonic() - since < limits.earlyEndMs;
      clock.setTimer(early ? limits.retryMs : 0, onEnded);
    };
    this.#running = { ...running, watching: running.watch(ended) };
  }

  async #reload(): Promise<void> {
    const { clock } = this.#options;
    const before = await this.#processes();
    const from = await this.#logSize();
    await this.#atSocket(sockets.master, (path) => ask(path, 'reload')).catch(() => '');
    const deadline = clock.monotonic() + limits.reloadTimeoutMs;
    for (;;) {
      const now = await this.#processes();
      if (now && [...now.workers].some((pid) => !before?.workers.has(pid))) return;
      const failed = now !== undefined && now.failed > 0 && (now.failed !== before?.failed || now.reloads !== before.reloads);
      if (failed || clock.monotonic() > deadline) throw await this.#failure('HAProxy does not take its new configuration', from);
      if (this.#running && !isAlive(this.#running.pid)) throw await this.#failure('HAProxy ended at a reload', from);
      await clock.sleep(limits.reloadPollMs);
    }
  }

  async #failure(what: string, from: number): Promise<Error> {
    this.#structure = undefined;
    const log = (await readFileIfExists(this.#logFile))?.subarray(from).toString('utf8') ?? '';
    const reasons = refusedProxies(log);
    const message = `${what}: ${alerts(log) || `see ${this.#logFile}`}`;
    return reasons.size > 0 ? new Refused(reasons, message) : new Error(message);
  }

  /** The size of the log, which is emptied when it has become long. */
  async #logSize(): Promise<number> {
    try {
      const { size } = await stat(this.#logFile);
      if (size < logBytesMax) return size;
      await truncate(this.#logFile);
    } catch {
      // An HAProxy that was taken over writes into the log of its own start.
    }
    return 0;
  }

  async #processes(): Promise<Processes | undefined> {
    const answer = await this.#atSocket(sockets.master, (path) => ask(path, 'show proc')).catch(() => '');
    return parseProcesses(answer);
  }

  /** Talks over a socket in the folder, by a path that is short enough for any folder. The folder is not kept open: who ends without `stop` leaves HAProxy to others. */
  async #atSocket<T>(name: string, talk: (path: string) => Promise<T>): Promise<T> {
    const folder = await open(this.#options.dir, 'r');
    try {
      return await talk(`/proc/self/fd/${folder.fd}/${name}`);
    } finally {
      await folder.close();
    }
  }

  async #configOptions() {
    const emptyDir = join(this.#options.dir, 'empty');
    await mkdir(emptyDir, { recursive: true, mode: 0o700 });
    const accounts = await readFile('/etc/passwd', 'utf8');
    return {
      emptyDir,
      ownAccount: /^haproxy:/m.test(accounts),
      threads: Math.min(4, availableParallelism()),
    };
  }

  /** Once: what an earlier process left. Its state is not known, so the first change is a reload. */
  async #findOld(): Promise<void> {
    if (this.#searched) return;
    const { clock, netns } = this.#options;
    const [pid, ...others] = findHaproxy(this.#configFile).keys();
    for (const other of others) await stopHaproxy(other, clock);
    if (pid !== undefined) {
      if (livesIn(pid, netns)) this.#take(watched(pid, clock));
      else await stopHaproxy(pid, clock);
    }
    this.#searched = true;
  }
}

/** What HAProxy complains about, in one line. */
function alerts(log: string): string {
  const lines = [...log.matchAll(/\[ALERT\]\s+\(\d+\) : (.+)$/gm)].map(([, text = '']) => text.trim());
  return lines.slice(0, 3).join('; ').slice(0, 500);
}
