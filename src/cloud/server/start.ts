// A running cloud: the world from disk, its drivers, its API.
import { join } from 'node:path';
import { serve, type WireServer } from '#wire';
import { ensureDir } from '#host';
import { quotas, type Settings, terminatedKeepMs } from '../core/index.ts';
import type { Observation } from '../model/index.ts';
import { createAnswerer } from './answer.ts';
import { type DriverLoop, driverLoop } from './driver-loop.ts';
import { holdExclusively } from './exclusive.ts';
import { limits } from './limits.ts';
import { NameServices } from './name-services.ts';
import { type CloudDeps, type CloudOptions, defaultInstanceTypes, type RunningCloud } from './options.ts';
import { CloudService } from './service.ts';
import { openWorldStore, type WorldStore } from './world-store.ts';

type SettingsOptions = Pick<
  CloudOptions,
  'region' | 'zones' | 'instanceTypes' | 'publicCidr' | 'realNetworks' | 'mark' | 'quotas' | 'terminatedKeepMs'
>;

/** The settings, with defaults for what is not given. */
export const settingsOf = (options: SettingsOptions): Settings => ({
  region: options.region,
  zones: options.zones.map((name) => ({ name, region: options.region })),
  instanceTypes: options.instanceTypes ?? defaultInstanceTypes,
  publicCidr: options.publicCidr,
  ...(options.realNetworks && { mark: options.mark }),
  quotas: { ...quotas, ...options.quotas },
  terminatedKeepMs: options.terminatedKeepMs ?? terminatedKeepMs,
});

/** Throws a sentence for options that no cloud can be made of. */
function checkOptions({ mark, zones, accounts, instanceTypes = defaultInstanceTypes }: CloudOptions): void {
  if (!/^[0-9a-f]{6}$/.test(mark)) throw new Error(`the mark of a cloud is six hex digits, not ${JSON.stringify(mark)}`);
  if (zones.length === 0) throw new Error('a cloud needs at least one zone');
  if (instanceTypes.length === 0) throw new Error('a cloud needs at least one instance type');
  if (accounts.some(({ token }) => token.length < 8)) throw new Error('a token has at least 8 characters');
  if (new Set(accounts.map(({ token }) => token)).size !== accounts.length) throw new Error('two accounts have the same token');
}

async function startDrivers(
  options: CloudOptions,
  observe: (observation: Observation) => void,
  store: WorldStore,
  deps: CloudDeps,
): Promise<DriverLoop[]> {
  const loops: DriverLoop[] = [];
  const { mark, publicCidr } = options;
  try {
    for (const [name, create] of Object.entries(options.drivers)) {
      const dir = await ensureDir(join(options.dataDir, name));
      const driver = await create({ mark, publicCidr, dir, observe });
      loops.push(driverLoop(driver, { ...deps, world: () => store.published }));
    }
  } catch (error) {
    for (const loop of loops) await loop.close();
    throw error;
  }
  return loops;
}

function repeat(deps: CloudDeps, periodMs: number, action: () => void): () => void {
  let timer = deps.clock.setTimer(periodMs, function again() {
    action();
    timer = deps.clock.setTimer(periodMs, again);
  });
  return () => timer.cancel();
}

/** Opens or makes the cloud kept in `dataDir`, makes it real and serves its API. Rejects, and leaves nothing running, when that cannot be. */
export async function startCloud(options: CloudOptions, deps: CloudDeps): Promise<RunningCloud> {
  checkOptions(options);
  const settings = settingsOf(options);
  const exclusive = await holdExclusively(await ensureDir(options.dataDir));
  const undo: (() => Promise<void> | void)[] = [() => exclusive.release()];
  let server: WireServer | undefined;
  const stop = async (): Promise<void> => {
    await server?.close({ graceMs: limits.closeGraceMs });
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const store = await openWorldStore(join(options.dataDir, 'world'), deps);
    undo.push(() => store.close());
    const service = new CloudService({ ...deps, store, settings });
    undo.push(() => service.close());
    const unhealthy = (): string | undefined => store.failure;
    // First, because it may fail (a port that is taken): nothing on the machine is touched by a cloud that cannot serve.
    server = await serveApi(options, deps, createAnswerer({ ...deps, service, accounts: options.accounts, unhealthy }));
    let ending = false;
    // What a driver takes down at the end is to be there again after the next start: the world does not hear of it.
    const observe = (observation: Observation): void => (ending ? undefined : service.observe(observation));
    const drivers = await startDrivers(options, observe, store, deps);
    // `undo` is run from its end: the drivers close after everything that uses them.
    for (const driver of drivers) undo.push(() => driver.close());
    undo.push(() => {
      ending = true;
    });
    const names =
      deps.nameService &&
      new NameServices({ ...deps, start: deps.nameService, mark: options.mark, settings, world: () => store.published });
    if (names) undo.push(() => names.close());
    const changed = (): void => {
      for (const driver of drivers) driver.changed();
      names?.changed();
    };
    undo.push(store.watch(changed));
    changed();
    undo.push(repeat(deps, limits.forgetPeriodMs, () => service.forgetTerminated()));
    return runningCloud(server, store, service, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

const serveApi = (
  { listen, tls }: CloudOptions,
  { logger }: CloudDeps,
  onRequest: Parameters<typeof serve>[0]['onRequest'],
): Promise<WireServer> => serve({ ...(listen && { listen }), ...(tls && { tls }), onRequest, logger });

const runningCloud = (server: WireServer, store: WorldStore, service: CloudService, stop: () => Promise<void>): RunningCloud => ({
  get addresses() {
    return server.addresses;
  },
  get port() {
    return server.port;
  },
  get world() {
    return store.published;
  },
  get faults() {
    return service.gate.faults;
  },
  service,
  setFaults: (faults) => service.setFaults(faults),
  listen: (target) => server.listen(target),
  close: stop,
});
