// The whole local cloud in memory: its decisions, its API and its failures, without a disk, a socket or a machine. For clusters in tests, and for
// virtual time.
import type { Clock, Logger, Rng } from '#utils';
import type { AuditEvent } from '../api/index.ts';
import { type CloudClient, cloudClientOver } from '../client/index.ts';
import type { Account } from '../core/index.ts';
import { emptyWorld, type Faults, faults as faultsSchema, type World } from '../model/index.ts';
import { type DriverLoop, driverLoop } from '../server/driver-loop.ts';
import type { CloudOptions, DriverFactory } from '../server/options.ts';
import { CloudService } from '../server/service.ts';
import { settingsOf } from '../server/start.ts';
import { memoryWorldStore } from '../server/world-store.ts';
import { directCalls } from './client.ts';
import { auditEventsListed, forgetPeriodMs } from './limits.ts';

export interface MemoryCloudOptions extends Pick<CloudOptions, 'region' | 'zones' | 'instanceTypes' | 'publicCidr' | 'quotas'> {
  /** What becomes of things; default: nothing does. See `memoryMachines` and `memoryLoadBalancers`. */
  drivers?: readonly DriverFactory[];
  /** Begin with this world. */
  world?: World;
}

export interface MemoryCloud {
  /** The newest. */
  readonly world: World;
  readonly faults: Faults;
  /** Makes calls fail from now on. Kinds of failure that are not given stop. Throws an Error for a rate that is not valid. */
  setFaults(faults: Partial<Faults>): void;
  /** The API as this account sees it; default: a customer. */
  client(account?: Account): CloudClient;
  /** The last calls, the newest first. */
  calls(): readonly AuditEvent[];
  close(): Promise<void>;
}

const customer: Account = { id: 'customer', role: 'customer' };
const mark = '000000';

export async function startMemoryCloud(
  options: MemoryCloudOptions,
  deps: { clock: Clock; rng: Rng; logger: Logger },
): Promise<MemoryCloud> {
  const { clock } = deps;
  const store = memoryWorldStore(options.world ?? emptyWorld);
  const service = new CloudService({ ...deps, store, settings: settingsOf({ ...options, mark }) });
  const loops: DriverLoop[] = [];
  let ending = false;
  const observe: Parameters<DriverFactory>[0]['observe'] = (seen) => (ending ? undefined : service.observe(seen));
  for (const create of options.drivers ?? []) {
    const driver = await create({ mark, publicCidr: options.publicCidr, dir: '', observe });
    loops.push(driverLoop(driver, { ...deps, world: () => store.published }));
  }
  const changed = (): void => {
    for (const loop of loops) loop.changed();
  };
  const unwatch = store.watch(changed);
  changed();
  let timer = clock.setTimer(forgetPeriodMs, function again() {
    service.forgetTerminated();
    timer = clock.setTimer(forgetPeriodMs, again);
  });
  return {
    get world() {
      return store.published;
    },
    get faults() {
      return service.gate.faults;
    },
    setFaults: (faults) => service.setFaults(faultsSchema().parse(faults)),
    client: (account = customer) => cloudClientOver(directCalls({ ...deps, service }, account), () => {}),
    calls: () => service.audit.list(undefined, { limit: auditEventsListed }),
    async close() {
      ending = true;
      timer.cancel();
      unwatch();
      for (const loop of loops.reverse()) await loop.close();
    },
  };
}
