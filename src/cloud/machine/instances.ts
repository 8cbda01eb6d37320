// What becomes of each instance: compares where the world wants it with the power it has, one step at a time for each, all at the same time. Reports
// what it sees; never waits for the world to take note.
import { atMost } from '#host';
import type { Instance, Observation, World } from '../model/index.ts';
import { instanceCgroup, instanceNetns } from '../model/index.ts';
import { cgroupsOf, clearCgroups } from './cgroups.ts';
import { Computer, type ComputerDeps, within } from './computer.ts';
import { bootsMax, bootTimeoutMs } from './limits.ts';
import { networkNamespaces } from './network.ts';
import { nameServerOf } from './plan/index.ts';

export interface InstancesDeps extends ComputerDeps {
  observe(observation: Observation): void;
  /** Asks for another pass over the networks: a namespace is to be made afresh. */
  again(): void;
}

interface Entry {
  computer: Computer;
  on: boolean;
  /** Its first process ended by itself; to be cleared away and reported. */
  lost: boolean;
  /** A step is under way. */
  busy: Promise<void> | undefined;
  /** The number of the last boot, successful or not; 0: it was never booted. */
  boots: number;
  /** Something ran, or may have run, in its network namespace: it is made afresh before the next boot. */
  used: boolean;
  wanted: Instance | undefined;
}

type Direction = 'on' | 'off';
const directionOf = (instance: Instance | undefined): Direction =>
  instance?.state === 'pending' || instance?.state === 'running' ? 'on' : 'off';
const bootsOf = ({ boots = 1 }: Instance): number => boots;

/** Its name, where that can be one of a computer (RFC 1123). */
const hostnameOf = ({ name, privateDnsName, id }: Instance): string =>
  /^[a-zA-Z0-9]([a-zA-Z0-9.-]{0,62}[a-zA-Z0-9])?$/.test(name) ? name : privateDnsName.split('.')[0] || id;

export class Instances {
  readonly #deps: InstancesDeps;
  readonly #entries = new Map<string, Entry>();
  readonly #gate = atMost(bootsMax);
  #world: World | undefined;
  #closed = false;

  constructor(deps: InstancesDeps) {
    this.#deps = deps;
  }

  /** Takes over what an earlier process of the cloud left running, and ends what the world does not know. To be called first, and again when it failed. */
  async adopt(world: World): Promise<void> {
    const { mark, layout, clock, observe, logger } = this.#deps;
    const netnses = new Set(await networkNamespaces(mark));
    const kept = new Set<string>();
    for (const instance of world.instances.values()) {
      const entry = this.#entry(instance.id);
      const netns = instanceNetns(mark, instance.id);
      if (entry.on) kept.add(instanceCgroup(mark, instance.id));
      if (entry.on) continue;
      entry.used = netnses.has(netns);
      if (instance.state === 'stopped' || instance.state === 'terminated') continue;
      const found = await entry.computer.adopt({ netns, ...(instance.userData && { userData: instance.userData }) });
      if (!found) continue;
      kept.add(instanceCgroup(mark, instance.id));
      logger.info('an instance still runs', { instance: instance.id, initPid: found.initPid });
      this.#isOn(entry, instance.id, found.boots);
      if (directionOf(instance) === 'on')
        observe({ kind: 'instance-state', instanceId: instance.id, state: 'running', initPid: found.initPid });
    }
    for (const name of await cgroupsOf(layout, mark)) if (!kept.has(name)) await clearCgroups(layout, name, clock);
  }

  /** Network namespaces to be made afresh: of instances that have no power, and had. */
  staleNetns(): Set<string> {
    const found = new Set<string>();
    for (const [id, { on, busy, used }] of this.#entries) if (used && !on && !busy) found.add(instanceNetns(this.#deps.mark, id));
    return found;
  }

  /** Goes where the world wants. `fresh`: namespaces that were made afresh just now. The networks must be as the same world wants them. */
  follow(world: World, fresh: ReadonlySet<string>): void {
    this.#world = world;
    for (const instance of world.instances.values()) if (directionOf(instance) === 'on') this.#entry(instance.id);
    for (const [id, entry] of this.#entries) {
      if (fresh.has(instanceNetns(this.#deps.mark, id))) entry.used = false;
      entry.wanted = world.instances.get(id);
      this.#step(id, entry);
    }
    for (const instance of world.instances.values()) if (!this.#entries.has(instance.id)) this.#settled(instance);
  }

  /** Switches all instances off. The world still wants them on, so that the next start switches them on again. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(
      [...this.#entries.values()].map(async (entry) => {
        if (entry.busy) await within(entry.busy, bootTimeoutMs, this.#deps.clock);
        await entry.computer.powerOff();
      }),
    );
  }

  #entry(id: string): Entry {
    const known = this.#entries.get(id);
    if (known) return known;
    const entry: Entry = {
      computer: new Computer(id, this.#deps),
      on: false,
      lost: false,
      busy: undefined,
      boots: 0,
      used: false,
      wanted: undefined,
    };
    this.#entries.set(id, entry);
    return entry;
  }
  #step(id: string, entry: Entry): void {
    if (entry.busy || this.#closed) return;
    const work = this.#next(id, entry);
    if (!work) return;
    entry.busy = work
      .catch((error: unknown) => this.#deps.logger.error('an instance is in trouble', { instance: id, error: String(error) }))
      .finally(() => {
        entry.busy = undefined;
        this.#step(id, entry);
      });
  }
  /** The next thing to do for an instance; undefined: nothing. */
  #next(id: string, entry: Entry): Promise<void> | undefined {
    const { wanted, on } = entry;
    if (entry.lost) return this.#clearLost(id, entry);
    if (directionOf(wanted) === 'on' && wanted) {
      if (on) return entry.boots === bootsOf(wanted) ? undefined : this.#powerOff(entry);
      if (entry.boots === bootsOf(wanted)) return undefined;
      if (!entry.used) return this.#boot(id, entry, wanted);
      this.#deps.again();
      return undefined;
    }
    if (on) return this.#powerOff(entry);
    if (wanted) this.#settled(wanted);
    if (!wanted || wanted.state === 'terminated') {
      this.#entries.delete(id);
      entry.computer
        .discard()
        .catch((error: unknown) =>
          this.#deps.logger.warn('the files of an instance are left', { instance: id, error: String(error) }),
        );
    }
    return undefined;
  }
  /** Says that an instance without power is where it was to go. */
  #settled({ id, state }: Instance): void {
    const { observe } = this.#deps;
    if (state === 'stopping') observe({ kind: 'instance-state', instanceId: id, state: 'stopped' });
    if (state === 'shutting-down') observe({ kind: 'instance-state', instanceId: id, state: 'terminated' });
  }
  async #boot(id: string, entry: Entry, wanted: Instance): Promise<void> {
    const { mark, observe } = this.#deps;
    entry.used = true;
    entry.boots = bootsOf(wanted);
    const vpc = this.#world?.vpcs.get(wanted.vpcId);
    const booted = this.#gate(() =>
      entry.computer.boot({
        netns: instanceNetns(mark, id),
        hostname: hostnameOf(wanted),
        address: wanted.privateAddress,
        nameServer: vpc ? nameServerOf(vpc.cidr) : '127.0.0.1',
        boots: entry.boots,
        ...(wanted.userData && { userData: wanted.userData }),
      }),
    );
    const initPid = await booted.catch((error: unknown) => error as Error);
    if (initPid instanceof Error) {
      observe({ kind: 'instance-state', instanceId: id, state: 'stopped', reason: initPid.message });
      return;
    }
    this.#isOn(entry, id, entry.boots);
    observe({ kind: 'instance-state', instanceId: id, state: 'running', initPid });
  }
  #isOn(entry: Entry, id: string, boots: number): void {
    entry.on = true;
    entry.used = true;
    entry.boots = boots;
    void entry.computer.ended().then(() => {
      if (!entry.on || this.#closed) return;
      entry.on = false;
      entry.lost = true;
      this.#step(id, entry);
    });
  }
  async #powerOff(entry: Entry): Promise<void> {
    entry.on = false;
    await entry.computer.powerOff();
  }
  async #clearLost(id: string, entry: Entry): Promise<void> {
    entry.lost = false;
    await entry.computer.powerOff();
    const reason = 'its first process has ended: a power failure';
    this.#deps.observe({ kind: 'instance-state', instanceId: id, state: 'stopped', reason });
  }
}
