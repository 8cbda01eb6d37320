// A name service per VPC, at its second address in its router's namespace: started when the namespace is there, ended with the VPC. And one for the
// world outside, at the second public address: it knows public zones only, and asks nobody else.
import type { Clock, Logger, Timer } from '#utils';
import { addressText, rangeOf } from '../core/cidr.ts';
import { resolveName, type Settings } from '../core/index.ts';
import { edgeNetns, routerNetns, type World } from '../model/index.ts';
import { limits } from './limits.ts';
import type { NameServiceOptions, NameServiceStart } from './options.ts';

interface Deps {
  start: NameServiceStart;
  mark: string;
  settings: Settings;
  world(): World;
  clock: Clock;
  logger: Logger;
}

/** The address of the name server in a network: `10.77.0.2` in `10.77.0.0/16`. */
export const nameServerAddress = (cidr: string): string => addressText(rangeOf(cidr).first + 2);

/** Where a name service is, and whose view it has. */
interface Place {
  netns: string;
  address: string;
  /** Absent: that of the world outside. */
  vpcId?: string;
}
const outside = 'outside';

export class NameServices {
  readonly #deps: Deps;
  readonly #services = new Map<string, OneNameService>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }
  /** Call it after each change of the world. */
  changed(): void {
    const { world, mark, settings } = this.#deps;
    const { vpcs } = world();
    for (const [id, { cidr }] of vpcs)
      this.#serve(id, { netns: routerNetns(mark, id), address: nameServerAddress(cidr), vpcId: id });
    // The edge is made with the first VPC.
    if (vpcs.size > 0) this.#serve(outside, { netns: edgeNetns(mark), address: nameServerAddress(settings.publicCidr) });
    for (const [id, service] of this.#services) {
      if (vpcs.has(id) || id === outside) continue;
      this.#services.delete(id);
      service.close();
    }
  }
  close(): void {
    for (const service of this.#services.values()) service.close();
    this.#services.clear();
  }
  #serve(id: string, place: Place): void {
    if (!this.#services.has(id)) this.#services.set(id, new OneNameService(this.#deps, place));
  }
}

class OneNameService {
  readonly #deps: Deps;
  readonly #place: Place;
  #running: { close(): void } | undefined;
  #retry: Timer | undefined;
  #failures = 0;
  #closed = false;

  constructor(deps: Deps, place: Place) {
    this.#deps = deps;
    this.#place = place;
    // The namespace is made by a driver that has only now heard of the VPC.
    this.#retry = deps.clock.setTimer(limits.nameServiceDelayMs, () => void this.#start());
  }
  close(): void {
    this.#closed = true;
    this.#retry?.cancel();
    this.#running?.close();
  }
  async #start(): Promise<void> {
    const { start, settings, world, clock, logger } = this.#deps;
    const { netns, address, vpcId } = this.#place;
    try {
      const resolve: NameServiceOptions['resolve'] = (question) => resolveName(world(), settings, vpcId, question);
      const running = await start({ netns, address, resolve, forward: vpcId !== undefined });
      if (this.#closed) return running.close();
      this.#running = running;
      logger.info('name service started', { vpcId, address });
    } catch (error) {
      if (this.#closed) return;
      this.#failures += 1;
      if (this.#failures > 5) logger.warn('name service does not start', { vpcId, address, error });
      const pauseMs = Math.min(limits.driverRetryMinMs * 2 ** (this.#failures - 1), limits.driverRetryMaxMs);
      this.#retry = clock.setTimer(pauseMs, () => void this.#start());
    }
  }
}
