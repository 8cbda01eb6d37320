// A name service per VPC, at its second address in its router's namespace: started when the namespace is there, ended with the VPC.
import type { Clock, Logger, Timer } from '#utils';
import { addressText, rangeOf } from '../core/cidr.ts';
import { resolveName, type Settings } from '../core/index.ts';
import { routerNetns, type World } from '../model/index.ts';
import { limits } from './limits.ts';
import type { NameServiceStart } from './options.ts';

interface Deps {
  start: NameServiceStart;
  mark: string;
  settings: Settings;
  world(): World;
  clock: Clock;
  logger: Logger;
}

/** `10.77.0.2` of `10.77.0.0/16`. */
export const nameServerAddress = (vpcCidr: string): string => addressText(rangeOf(vpcCidr).first + 2);

export class NameServices {
  readonly #deps: Deps;
  readonly #services = new Map<string, OneNameService>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }
  /** Call it after each change of the world. */
  changed(): void {
    const { vpcs } = this.#deps.world();
    for (const [id, { cidr }] of vpcs)
      if (!this.#services.has(id)) this.#services.set(id, new OneNameService(this.#deps, id, cidr));
    for (const [id, service] of this.#services) {
      if (vpcs.has(id)) continue;
      this.#services.delete(id);
      service.close();
    }
  }
  close(): void {
    for (const service of this.#services.values()) service.close();
    this.#services.clear();
  }
}

class OneNameService {
  readonly #deps: Deps;
  readonly #vpcId: string;
  readonly #address: string;
  #running: { close(): void } | undefined;
  #retry: Timer | undefined;
  #failures = 0;
  #closed = false;

  constructor(deps: Deps, vpcId: string, cidr: string) {
    this.#deps = deps;
    this.#vpcId = vpcId;
    this.#address = nameServerAddress(cidr);
    // The namespace is made by a driver that has only now heard of the VPC.
    this.#retry = deps.clock.setTimer(limits.nameServiceDelayMs, () => void this.#start());
  }
  close(): void {
    this.#closed = true;
    this.#retry?.cancel();
    this.#running?.close();
  }
  async #start(): Promise<void> {
    const { start, mark, settings, world, clock, logger } = this.#deps;
    try {
      const running = await start({
        netns: routerNetns(mark, this.#vpcId),
        address: this.#address,
        resolve: (question) => resolveName(world(), settings, this.#vpcId, question),
      });
      if (this.#closed) return running.close();
      this.#running = running;
      logger.info('name service started', { vpcId: this.#vpcId, address: this.#address });
    } catch (error) {
      if (this.#closed) return;
      this.#failures += 1;
      if (this.#failures > 5) logger.warn('name service does not start', { vpcId: this.#vpcId, error });
      const pauseMs = Math.min(limits.driverRetryMinMs * 2 ** (this.#failures - 1), limits.driverRetryMaxMs);
      this.#retry = clock.setTimer(pauseMs, () => void this.#start());
    }
  }
}
