// A vendor's API over a cloud in memory, with the network of a cluster in it: what `sagong up --cloud-provider-emulator` puts together, without nodes.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listAll } from '#cloud/client';
import {
  type Emulator,
  type EmulatorDefinition,
  type EmulatorName,
  type EmulatorServer,
  loadEmulator,
  type ManagerSetup,
  serveEmulator,
} from '#cloud/emulators';
import { type MemoryCloud, memoryLoadBalancers, memoryMachines, startMemoryCloud } from '#cloud/memory';
import type { Driver, DriverContext, LoadBalancer } from '#cloud';
import { systemClock, systemRng } from '#host';
import { silentLogger } from '#utils';
import { makeNetwork } from './aws-world.ts';

export interface VendorWorld {
  memory: MemoryCloud;
  emulator: Emulator;
  server: EmulatorServer;
  setup: ManagerSetup;
  dir: string;
  subnetId: string;
  routeTableId: string;
  /** By name. */
  instances: Map<string, string>;
  addInstance(name: string): Promise<void>;
  stopInstance(name: string): Promise<void>;
  terminateInstance(name: string): Promise<void>;
  balancers(): Promise<LoadBalancer[]>;
  /** Names of the instances behind one. */
  namesOf(balancer: LoadBalancer | undefined): string[];
  /** The emulator of another life of the control plane, over the same cloud and folder. */
  again(): Promise<void>;
  close(): Promise<void>;
}

export const region = 'local-1';
export const cluster = 'kubernetes';

/** Of one world after the other, for a library that keeps where it was told first that its machine's identity is. */
export interface VendorPlace {
  port?: number;
  secret: string;
}

/** `own`: in the place of the vendor's. `loadBalancers`: in the place of those that serve at once. */
export async function vendorWorld(
  vendor: EmulatorName,
  place?: VendorPlace,
  own?: EmulatorDefinition,
  loadBalancers: (context: DriverContext) => Driver = memoryLoadBalancers(),
): Promise<VendorWorld> {
  const dir = await mkdtemp(join(tmpdir(), `sagong-emulated-${vendor}-`));
  const deps = { clock: systemClock(), rng: systemRng(), logger: silentLogger };
  const zones = ['local-1a', 'local-1b'];
  const drivers = [memoryMachines(deps), loadBalancers];
  const memory = await startMemoryCloud({ region, zones, publicCidr: '198.18.7.0/24', drivers }, deps);
  const cloud = memory.client();
  const definition = own ?? (await loadEmulator(vendor));
  const network = await makeNetwork(memory, {});
  const begin = async (port: number): Promise<{ emulator: Emulator; server: EmulatorServer; setup: ManagerSetup }> => {
    const emulator = await definition.open({ cloud, region, dir, ...deps });
    const server = await serveEmulator(emulator, port, silentLogger);
    return { emulator, server, setup: await emulator.setUpManager({ cluster, ...network }, server.url) };
  };
  if (place) await writeFile(join(dir, 'secret'), place.secret, { mode: 0o600 });
  let { emulator, server, setup } = await begin(place?.port ?? 0);
  if (place) place.port = server.port;
  const instances = new Map<string, string>();
  const idOf = (name: string): { instanceId: string } => ({ instanceId: instances.get(name) ?? '' });
  return {
    memory,
    get emulator() {
      return emulator;
    },
    get server() {
      return server;
    },
    get setup() {
      return setup;
    },
    dir,
    subnetId: network.subnetIds[0] ?? '',
    routeTableId: network.routeTableId,
    instances,
    async addInstance(name) {
      const subnetId = network.subnetIds[instances.size % 2] ?? '';
      const { id } = await cloud.runInstance({ name, subnetId, assignPublicAddress: definition.publicAddresses === true });
      instances.set(name, id);
    },
    stopInstance: async (name) => void (await cloud.stopInstance(idOf(name))),
    terminateInstance: async (name) => void (await cloud.terminateInstance(idOf(name))),
    balancers: () => listAll((page) => cloud.listLoadBalancers(page)),
    namesOf: (balancer) =>
      (balancer?.targets ?? []).map(({ instanceId }) => [...instances].find(([, id]) => id === instanceId)?.[0] ?? instanceId),
    async again() {
      const { port } = server;
      await server.close();
      ({ emulator, server, setup } = await begin(port));
    },
    async close() {
      await server.close();
      await memory.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
