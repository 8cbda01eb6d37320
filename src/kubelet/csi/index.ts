// The CSI drivers of a node: registered by their sockets, known to the API by its CSINode, found here by name.
import { join } from 'node:path';
import type { KubeClient } from '#client';
import { ensureDir } from '#host';
import type { Clock, Logger } from '#utils';
import { CsiNodes } from './csi-node.ts';
import { CsiDriver } from './driver.ts';
import { type PluginInfo, Registrations } from './registrations.ts';
import { highestSupportedVersion, isLower, type Version } from './versions.ts';

export interface CsiDriversDeps {
  client: KubeClient;
  clock: Clock;
  logger: Logger;
  nodeName: string;
  rootDir: string;
}

interface Registered {
  driver: CsiDriver;
  version: Version;
  by: PluginInfo;
}

const pluginType = 'CSIPlugin';

export class CsiDrivers {
  /** What has registered by each name, of growing versions: the last one is asked, and those before it stand in when it goes. */
  readonly #drivers = new Map<string, Registered[]>();
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
  /** Starts to watch for plugins. Call it once the Node exists. */
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
    const current = this.#drivers.get(name)?.at(-1);
    if (current) return current.driver;
    throw new Error(`driver name ${name} not found in the list of registered CSI drivers`);
  }

  async #register(by: PluginInfo, socket: string): Promise<void> {
    const { type, name, supportedVersions } = by;
    if (type !== pluginType) throw new Error(`no handler registered for plugin type: ${type} at socket ${socket}`);
    const version = highestSupportedVersion(supportedVersions);
    if (!version) throw new Error(`none of the versions ${supportedVersions.join(', ')} of CSI driver ${name} is supported`);
    const before = this.#drivers.get(name) ?? [];
    const current = before.at(-1);
    if (current && !isLower(current.version, version))
      throw new Error(
        `RegisterPlugin for CSI driver "${name}" failed. Another driver with the same name is already registered with a higher supported version: "${current.version.join('.')}"`,
      );
    const driver = new CsiDriver(name, { socket, clock: this.#clock });
    await this.#nodes.add(name, await driver.info());
    this.#drivers.set(name, [...before, { driver, version, by }]);
  }
  /** The driver stays while another socket has registered it, and is described as that one says. */
  async #deregister(by: PluginInfo): Promise<void> {
    const { name } = by;
    const before = this.#drivers.get(name) ?? [];
    const left = before.filter((one) => one.by !== by);
    const current = left.at(-1);
    if (!current) {
      this.#drivers.delete(name);
      await this.#nodes.remove(name);
      return;
    }
    this.#drivers.set(name, left);
    if (current !== before.at(-1)) await this.#nodes.add(name, await current.driver.info());
  }
}

export { PluginError } from './calls.ts';
export type { AccessMode, Capabilities, CsiDriver, Texts, VolumeCapability } from './driver.ts';
