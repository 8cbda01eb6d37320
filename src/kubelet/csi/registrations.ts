// Plugins that register themselves. Each puts a socket into the kubelet's `plugins_registry`; the kubelet asks who it is and answers whether it was
// accepted (upstream pkg/kubelet/pluginmanager; k8s.io/kubelet/pkg/apis/pluginregistration). When a socket goes away, its plugin is forgotten.
import { type FSWatcher, watch } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { ensureDir } from '#host';
import type { Clock, Logger, Timer } from '#utils';
import { pluginPollMs } from '../limits.ts';
import { callPlugin } from './calls.ts';

export interface PluginInfo {
  type: string;
  name: string;
  /** The socket to be called; empty: the one that it registered with. */
  endpoint: string;
  supportedVersions: string[];
}

export interface RegistrationsDeps {
  directory: string;
  clock: Clock;
  logger: Logger;
  /** Takes a plugin up; rejects with why it is refused. */
  register(info: PluginInfo, socket: string): Promise<void>;
  /** Lets go of what `register` was given, by the same object. */
  deregister(info: PluginInfo): Promise<void>;
}

interface Known {
  /** Another file at the same path is another plugin. */
  identity: string;
  info: PluginInfo;
}

export class Registrations {
  readonly #deps: RegistrationsDeps;
  readonly #known = new Map<string, Known>();
  #watcher: FSWatcher | undefined;
  #timer: Timer | undefined;
  #turn: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(deps: RegistrationsDeps) {
    this.#deps = deps;
  }
  /** Looks now, whenever something changes in the directory, and now and then for plugins that were not ready. */
  async start(): Promise<void> {
    await ensureDir(this.#deps.directory, 0o750);
    this.#watcher = watch(this.#deps.directory, { persistent: false }, () => this.look());
    this.#watcher.on('error', () => this.#watcher?.close());
    this.look();
    this.#next();
  }
  close(): void {
    this.#closed = true;
    this.#watcher?.close();
    this.#timer?.cancel();
  }
  /** Looks at the directory, once the look before this one is over. */
  look(): void {
    this.#turn = this.#turn.then(() => this.#look()).catch(() => {});
  }

  #next(): void {
    if (this.#closed) return;
    this.#timer = this.#deps.clock.setTimer(pluginPollMs, () => {
      this.look();
      this.#next();
    });
  }
  async #look(): Promise<void> {
    if (this.#closed) return;
    const found = await this.#sockets();
    for (const [path, known] of this.#known) {
      if (found.get(path) === known.identity) continue;
      this.#known.delete(path);
      await this.#forget(known.info);
    }
    for (const [path, identity] of found) if (!this.#known.has(path)) await this.#greet(path, identity);
  }
  async #forget(info: PluginInfo): Promise<void> {
    const { logger, deregister } = this.#deps;
    await deregister(info).catch((error: unknown) =>
      logger.warn('a plugin cannot be deregistered', { plugin: info.name, error: String(error) }),
    );
  }
  async #sockets(): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (const name of await readdir(this.#deps.directory).catch(() => [])) {
      if (name.startsWith('.')) continue;
      const path = join(this.#deps.directory, name);
      const info = await lstat(path).catch(() => undefined);
      if (info?.isSocket()) found.set(path, `${info.dev}:${info.ino}:${info.ctimeMs}`);
    }
    return found;
  }
  async #greet(path: string, identity: string): Promise<void> {
    const { logger, register, clock } = this.#deps;
    const endpoint = { socket: path, clock };
    try {
      const info = await callPlugin<PluginInfo>(endpoint, 'Registration', 'GetInfo', {});
      const refusal = await register(info, isAbsolute(info.endpoint) ? info.endpoint : path).then(
        () => undefined,
        (error: unknown) => (error as Error).message,
      );
      // A plugin that could not be notified does not count as registered: its registrar tries again.
      await this.#notify(path, refusal).catch(async (error: unknown) => {
        if (refusal === undefined) await this.#forget(info);
        throw error;
      });
      if (refusal !== undefined) throw new Error(refusal);
      this.#known.set(path, { identity, info });
      logger.info('a plugin was registered', { plugin: info.name, type: info.type });
    } catch (error) {
      logger.warn('a plugin was not registered', { socket: path, error: String(error) });
    }
  }
  async #notify(socket: string, refusal: string | undefined): Promise<void> {
    await callPlugin({ socket, clock: this.#deps.clock }, 'Registration', 'NotifyRegistrationStatus', {
      pluginRegistered: refusal === undefined,
      error: refusal === undefined ? '' : `RegisterPlugin error -- plugin registration failed with err: ${refusal}`,
    });
  }
}
