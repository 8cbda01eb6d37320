// A vendor's API before the local cloud, from the description that the vendor's package brings: before each request the account sees what exists, and
// what a request changes is done in the local cloud before it is answered, or is taken back. One request at a time.
import { join } from 'node:path';
import type {
  EmulatedBalancer,
  EmulatedMachine,
  EmulatedRoute,
  VendorEmulation,
  VendorEmulatorDefinition,
} from '#cloud-provider/emulator';
import { Refusal, refusalOfShape } from '#cloud-provider/test-server';
import { atomicWrite, readFileIfExists } from '#host';
import { CloudApiError, listAll } from '../../client/index.ts';
import type { Instance, InstanceType } from '../../model/index.ts';
import type {
  EmulatedAnswer,
  EmulatedHead,
  EmulatedNetwork,
  EmulatedRequest,
  Emulator,
  EmulatorContext,
  ManagerSetup,
} from '../emulator.ts';
import { AddressStock } from './addresses.ts';
import { retryAfterSeconds, servingPollMs, servingWithinMs } from './limits.ts';
import { madeOf, Projection } from './projection.ts';

const states: Readonly<Partial<Record<Instance['state'], EmulatedMachine['state']>>> = {
  pending: 'starting',
  running: 'running',
  stopping: 'running',
  stopped: 'stopped',
};

/** The machine of an instance; undefined for an instance that is gone. */
function machineOf(instance: Instance, types: ReadonlyMap<string, InstanceType>): EmulatedMachine | undefined {
  const { id, name, type, zone, privateAddress, publicAddress, createdAt } = instance;
  const state = states[instance.state];
  const { cpus = 1, memoryMiB = 0 } = types.get(type) ?? {};
  const own = { id, name, type, cpus, memoryMiB, zone, privateAddress, createdAt };
  return state && { ...own, state, ...(publicAddress !== undefined && { publicAddress }) };
}

/** A failure of the local cloud, for the vendor to put into words. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof CloudApiError)) return error;
  const wait = { 'retry-after': String(Math.ceil((error.retryAfterMs ?? retryAfterSeconds * 1000) / 1000)) };
  if (error.status === 429) return new Refusal(429, 'throttled', 'too many requests', wait);
  if (error.status === 0 || error.status >= 500) return new Refusal(503, 'unavailable', 'the local cloud does not answer', wait);
  return new Refusal(422, 'refused', `The local cloud does not do this: ${error.message}`);
}

const linesOf = (values: Readonly<Record<string, unknown>>, line: (name: string, value: string) => string): string =>
  Object.entries(values)
    .map(([name, value]) => `${line(name, String(value))}\n`)
    .join('');

/** Throws a refusal for what was taken in and has no meaning. */
function wantedOf(emulation: VendorEmulation): [EmulatedBalancer[], EmulatedRoute[] | undefined] {
  try {
    return [emulation.balancers(), emulation.routes?.()];
  } catch (error) {
    throw refusalOfShape(error);
  }
}

const notReady: EmulatedAnswer = { status: 503, headers: { 'content-type': 'text/plain' }, body: 'not ready yet' };

interface Running {
  network: EmulatedNetwork;
  emulation: VendorEmulation;
  projection: Projection;
}

export class Mirror implements Emulator {
  readonly #vendor: string;
  readonly #definition: VendorEmulatorDefinition;
  readonly #context: EmulatorContext;
  readonly #secret: string;
  readonly #addresses: AddressStock;
  #types: ReadonlyMap<string, InstanceType> = new Map();
  #subnetCidrs: readonly string[] = [];
  #zones: readonly string[] = [];
  #running: Running | undefined;
  #machines = '';
  #last: Promise<unknown> = Promise.resolve();

  constructor(vendor: string, definition: VendorEmulatorDefinition, context: EmulatorContext, secret: string) {
    this.#vendor = vendor;
    this.#definition = definition;
    this.#context = context;
    this.#secret = secret;
    this.#addresses = new AddressStock(context.cloud, vendor);
  }
  checkHead(head: EmulatedHead): EmulatedAnswer | undefined {
    return this.#running ? this.#running.emulation.checkAccess(head) : notReady;
  }
  answer(request: EmulatedRequest): Promise<EmulatedAnswer> {
    // What nobody with the secret has sent costs the local cloud nothing.
    const stop = this.checkHead(request);
    if (stop) return Promise.resolve(stop);
    return this.#inTurn((running) => this.#answer(running, request));
  }
  #inTurn<T>(work: (running: Running) => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => work(this.#running as Running));
    this.#last = turn.catch(() => {});
    return turn;
  }
  async #answer(running: Running, request: EmulatedRequest): Promise<EmulatedAnswer> {
    const { emulation } = running;
    try {
      await this.#refresh(running);
      if (request.method === 'GET' || request.method === 'HEAD') return await emulation.answer(request);
      return await this.#change(running, request);
    } catch (error) {
      const refusal = refusalOf(error);
      if (!(refusal instanceof Error && 'status' in refusal))
        this.#context.logger.warn('call failed', { method: request.method, path: request.path, error });
      return emulation.refused(refusal, request);
    }
  }
  async #change(running: Running, request: EmulatedRequest): Promise<EmulatedAnswer> {
    const { emulation } = running;
    const before = emulation.save();
    await this.#addresses.offer(emulation);
    try {
      const answer = await emulation.answer(request);
      const after = emulation.save();
      if (after === before) return answer;
      await this.#untilServing(running, await this.#project(running));
      await atomicWrite(this.#statePath, after, { mode: 0o600 });
      await this.#trimAddresses(emulation);
      return answer;
    } catch (error) {
      await this.#takeBack(running.network, before);
      throw error;
    }
  }
  /** Done again after the next change where it cannot be done now. */
  async #trimAddresses(emulation: VendorEmulation): Promise<void> {
    const { logger } = this.#context;
    await this.#addresses.trim(emulation).catch((error: unknown) => logger.warn('addresses that nobody has are kept', { error }));
  }
  /** The account as it was; the local cloud follows now, or with the next change. */
  async #takeBack(network: EmulatedNetwork, saved: string): Promise<void> {
    const running = this.#open(network, saved);
    try {
      await this.#refresh(running);
      await this.#project(running);
    } catch (error) {
      this.#context.logger.warn('the local cloud has not followed yet', { error });
    }
  }
  /** Shows the account what exists. Machines that have gone leave its load balancers, and so do their targets here. */
  async #refresh(running: Running): Promise<void> {
    const { emulation, network, projection } = running;
    const { cloud, logger } = this.#context;
    const [instances, made] = await Promise.all([
      listAll((page) => cloud.listInstances({ vpcId: network.vpcId, ...page })),
      projection.made(),
    ]);
    const machines = instances.flatMap((instance) => machineOf(instance, this.#types) ?? []);
    const ids = machines.map(({ id }) => id).join();
    emulation.setMachines(machines);
    emulation.setBalancers(madeOf(made));
    if (ids === this.#machines) return;
    await this.#project(running).then(
      () => (this.#machines = ids),
      (error: unknown) => logger.warn('targets that are gone are still there', { error }),
    );
  }
  /** The keys of the load balancers that this has made or changed. */
  async #project({ emulation, projection }: Running): Promise<string[]> {
    const changed = await projection.apply(...wantedOf(emulation));
    emulation.setBalancers(madeOf(await projection.made()));
    return changed;
  }
  /** Waits until these load balancers serve, because a client may use an address as soon as it learns it, and not every vendor's API has a state for «not yet». */
  async #untilServing({ emulation, projection }: Running, keys: readonly string[]): Promise<void> {
    const { clock } = this.#context;
    const untilMs = clock.monotonic() + servingWithinMs;
    for (;;) {
      const made = await projection.made();
      emulation.setBalancers(madeOf(made));
      if (keys.every((key) => made.get(key)?.state !== 'provisioning') || clock.monotonic() >= untilMs) return;
      await clock.sleep(servingPollMs);
    }
  }
  #open(network: EmulatedNetwork, saved: string | undefined): Running {
    const { region, clock, rng, cloud } = this.#context;
    const emulation = this.#definition.open({
      saved,
      secret: this.#secret,
      region,
      zones: this.#zones,
      networkId: network.vpcId,
      subnetCidrs: this.#subnetCidrs,
      instanceTypes: [...this.#types.keys()],
      now: () => clock.now(),
      rng,
    });
    this.#running = { network, emulation, projection: new Projection(cloud, this.#vendor, network) };
    return this.#running;
  }
  /** Reads the facts of the cloud that never change: types, zones and subnets. */
  async #learn({ subnetIds }: EmulatedNetwork): Promise<void> {
    const { cloud } = this.#context;
    const [types, zones, subnets] = await Promise.all([
      cloud.listInstanceTypes(),
      cloud.listZones(),
      Promise.all(subnetIds.map((subnetId) => cloud.getSubnet({ subnetId }))),
    ]);
    this.#types = new Map(types.items.map((type) => [type.name, type]));
    this.#zones = zones.items.map(({ name }) => name);
    this.#subnetCidrs = subnets.map(({ cidr }) => cidr);
  }
  get #statePath(): string {
    return join(this.#context.dir, 'account.json');
  }
  async setUpManager(network: EmulatedNetwork, url: string): Promise<ManagerSetup> {
    const { region, dir } = this.#context;
    await this.#learn(network);
    const running = this.#open(network, (await readFileIfExists(this.#statePath))?.toString('utf8'));
    await this.#inTurn(() => this.#refresh(running));
    const { cluster, vpcId: networkId } = network;
    const given = { url, secret: this.#secret, region, zones: this.#zones, networkId, cluster, dir };
    const { env, unset, config, files = {}, flags = {}, rights } = this.#definition.manager(given);
    const configFile = config === '' ? '' : join(dir, 'cloud-config');
    const texts = {
      ...files,
      ...(configFile !== '' && { 'cloud-config': config }),
      ...(Object.keys(flags).length > 0 && { flags: linesOf(flags, (name, value) => `--${name}=${value}`) }),
      env: linesOf(env, (name, value) => `${name}=${value}`),
    };
    for (const [name, text] of Object.entries(texts)) await atomicWrite(join(dir, name), text, { mode: 0o600 });
    const { provider } = this.#definition;
    const routes = running.emulation.routes ? {} : { routes: 'local' as const };
    return { provider, configFile, env, unset, rights, flags, ...routes };
  }
}
