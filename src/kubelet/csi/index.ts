// The CSI drivers of a node: registered by their sockets, known to the API by its CSINode, found here by name.
import { join } from 'node:path';
import type { KubeClient } from '#client';
import { ensureDir } from '#host';
import type { Clock, Logger } from '#utils';
import { CsiNodes } from './csi-node.ts';
import { CsiDriver } from './driver.ts';
import { type PluginInfo, Registrations } from './registrations.ts';

export interface CsiDriversDeps {
  client: KubeClient;
  clock: Clock;
  logger: Logger;
  nodeName: string;
  rootDir: string;
}

const pluginType = 'CSIPlugin';

export class CsiDrivers {
  readonly #drivers = new Map<string, CsiDriver>();
  readonly #nodes: CsiNodes;
  readonly #registrations: Registrations;
  readonly #logger: Logger;
  readonly #pluginsDir: string;
  readonly #clock: Clock;

  constructor(deps: CsiDriversDeps) {
    this.#logger = deps.logger;
    this.#clock = deps.clock;
    this.#pluginsDir = join(deps.rootDir, 'plugins');
    this.#nodes = new CsiNodes(deps);
    this.#registrations = new Registrations({
      ...deps,
      directory: join(deps.rootDir, 'plugins_registry'),
      register: (info, socket) => this.#register(info, socket),
      deregister: (info) => this.#deregister(info),
    });
  }
  /** To be called once the Node exists. */
  async start(): Promise<void> {
    await this.#nodes
      .ensure()
      .catch((error: unknown) => this.#logger.warn('the CSINode of this node cannot be made', { error: String(error) }));
    // Manifests of drivers ask for it as a directory that is there.
    await ensureDir(this.#pluginsDir, 0o750);
    await this.#registrations.start();
  }
  close(): void {
    this.#registrations.close();
  }
  /** Throws when it has not registered, as pods that use it before it has started find out. */
  get(name: string): CsiDriver {
    const driver = this.#drivers.get(name);
    if (driver) return driver;
    throw new Error(`driver name ${name} not found in the list of registered CSI drivers`);
  }

  async #register({ type, name, supportedVersions }: PluginInfo, socket: string): Promise<void> {
    if (type !== pluginType) throw new Error(`no handler registered for plugin type: ${type} at socket ${socket}`);
    if (!supportedVersions.some((version) => /^v?1\./.test(version)))
      throw new Error(`none of the versions ${supportedVersions.join(', ')} of CSI driver ${name} is supported`);
    const driver = new CsiDriver(name, { socket, clock: this.#clock });
    await this.#nodes.add(name, await driver.info());
    this.#drivers.set(name, driver);
  }
  async #deregister({ name }: PluginInfo): Promise<void> {
    this.#drivers.delete(name);
    await this.#nodes.remove(name);
  }
}

export { PluginError } from './calls.ts';
export type { AccessMode, Capabilities, CsiDriver, Texts, VolumeCapability } from './driver.ts';
