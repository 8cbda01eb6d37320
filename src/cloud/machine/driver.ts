// The driver that makes instances and networks of the local cloud real on one Linux machine, as root.
//
//   const driver = createMachineDriver(context, { exec: execCommand, clock: systemClock(), logger });
//   await driver.realise(world);   // after every change; boots go on in the background and are reported by context.observe
//   driver.noUplink                // why the cloud has no way out, if the machine allows none
//   await driver.close();          // or `removeMachine(mark, { exec })` after a crash that is not followed by another start
//
// After a crash another driver with the same context goes on: instances that run are taken over, not started again.
//
// Other drivers live in the same namespaces. This one touches only what is its own there: links `r-*`, `v-*` and `edge`, addresses of the loopback
// device labelled `lo:vpc`, routes and rules of protocol `routingProtocol`, chains `VPC-*`. Rules of routing use preferences 100 to 300; a
// preference below 100 comes before the VPC's own addresses. The router holds the first address of each subnet and the VPC's name server's;
// the edge the first two public ones.
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { goArchitecture, pauseProgram } from '#host';
import type { Clock, Exec, Logger } from '#utils';
import { type Driver, type DriverContext, uplinkLink, type World } from '../model/index.ts';
import { cgroupLayout } from './cgroups.ts';
import { Instances } from './instances.ts';
import { removeMachine } from './leftovers.ts';
import { retryMs } from './limits.ts';
import { Network } from './network.ts';
import { plan } from './plan/index.ts';
import { ensureUplink, removeUplink } from './uplink.ts';

export interface MachineDriverDeps {
  exec: Exec;
  clock: Clock;
  logger: Logger;
  /** Whether the cloud is to have a way to the machine and, through it, out. Default: yes. */
  uplink?: boolean;
}

export interface MachineDriver extends Driver {
  /** Why there is no uplink, where there was to be one. */
  readonly noUplink: string | undefined;
}

class Machine implements MachineDriver {
  readonly name = 'machine';
  readonly #context: DriverContext;
  readonly #deps: MachineDriverDeps;
  readonly #network: Network;
  readonly #instances: Instances;
  readonly #pausePath: string;
  #noUplink: string | undefined;
  #world: World | undefined;
  #prepared = false;
  #connected = false;
  #closed = false;
  /** Passes come one after the other. */
  #last: Promise<void> = Promise.resolve();

  constructor(context: DriverContext, deps: MachineDriverDeps) {
    this.#context = context;
    this.#deps = deps;
    this.#pausePath = join(context.dir, 'pause');
    this.#network = new Network(context.mark, context.dir, deps.exec);
    this.#instances = new Instances({
      mark: context.mark,
      dir: context.dir,
      pausePath: this.#pausePath,
      layout: cgroupLayout(),
      clock: deps.clock,
      logger: deps.logger,
      observe: (observation) => context.observe(observation),
      again: () => this.#again(),
    });
  }
  get noUplink(): string | undefined {
    return this.#noUplink;
  }

  realise(world: World): Promise<void> {
    this.#world = world;
    return this.#pass();
  }
  async close(): Promise<void> {
    this.#closed = true;
    await this.#last.catch(() => {});
    await this.#instances.close();
    await removeMachine(this.#context.mark, { ...this.#deps, dir: this.#context.dir });
  }

  #pass(): Promise<void> {
    const done = this.#last.catch(() => {}).then(() => this.#bringInLine());
    this.#last = done;
    return done;
  }
  /** A pass that nobody waits for is tried until it succeeds. */
  #again(pauseMs = retryMs.first): void {
    this.#pass().catch((error: unknown) => {
      if (this.#closed) return;
      this.#deps.logger.error('the networks of the cloud are not in line', { error: String(error), pauseMs });
      this.#deps.clock.setTimer(pauseMs, () => this.#again(Math.min(pauseMs * 2, retryMs.max)));
    });
  }
  async #bringInLine(): Promise<void> {
    const world = this.#world;
    if (!world || this.#closed) return;
    const { mark, publicCidr } = this.#context;
    if (!this.#prepared) await this.#prepare(world);
    const stale = this.#instances.staleNetns();
    await this.#network.apply(plan(world, mark, publicCidr), stale);
    this.#instances.follow(world, stale);
    await this.#connect();
  }
  async #prepare(world: World): Promise<void> {
    await mkdir(this.#context.dir, { recursive: true, mode: 0o700 });
    await writeFile(this.#pausePath, pauseProgram(goArchitecture()), { mode: 0o755, flag: 'wx' }).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    });
    await this.#instances.adopt(world);
    this.#prepared = true;
  }
  /** A machine that allows no uplink has a cloud all the same: it only has no way out. */
  async #connect(): Promise<void> {
    const { exec, logger, uplink = true } = this.#deps;
    const { mark } = this.#context;
    if (!uplink || this.#noUplink !== undefined) return;
    if (this.#connected && existsSync(`/sys/class/net/${uplinkLink(mark)}`)) return;
    try {
      await ensureUplink({ exec, ...this.#context });
      this.#connected = true;
    } catch (error) {
      this.#noUplink = (error as Error).message;
      logger.warn('the cloud has no way out of this machine', { error: this.#noUplink });
      await removeUplink(exec, mark).catch(() => {});
    }
  }
}

export const createMachineDriver = (context: DriverContext, deps: MachineDriverDeps): MachineDriver => new Machine(context, deps);
