// A vendor's API in front of the cluster's cloud (`--cloud-provider-emulator`), and the vendor's provider in the place of the local cloud's own.
import { join } from 'node:path';
import type { CloudClient } from '#cloud/client';
import {
  type EmulatorName,
  type EmulatorServer,
  emulatorNameOf,
  loadEmulator,
  type ManagerSetup,
  providerOfEmulator,
  serveEmulator,
} from '#cloud/emulators';
import {
  type CloudProvider,
  CloudProviderLoadError,
  findCloudProvider,
  loadCloudProvider,
  type ProviderFlags,
  type ProviderFlagValues,
} from '#cloud-provider';
import { atomicWrite, ensureDir, isErrno, readFileIfExists } from '#host';
import type { Clock, Logger, Rng } from '#utils';
import { nodeNames, type ClusterSettings } from '../state/settings.ts';
import { type ClusterNetwork, nodePlace } from './network.ts';
import { region, zones } from './names.ts';
import { cloudDir } from '../state/paths.ts';

export interface EmulationDeps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
}

export interface Emulation {
  /** The URL of the vendor's API, as this machine reaches it. */
  url: string;
  /** Where its keys, its facts and the configuration for managers are. */
  dir: string;
  setup: ManagerSetup;
  close(): Promise<void>;
}

/** The vendor of this start. Throws a sentence where a cluster cannot have one, or not this one. */
export async function emulatorOf(
  wanted: string | undefined,
  before: ClusterSettings | undefined,
  { nodes, external }: { nodes: number; external: boolean },
): Promise<EmulatorName | undefined> {
  const name = wanted === undefined ? before?.cloudEmulator : emulatorNameOf(wanted);
  if (before && name !== before.cloudEmulator)
    throw new Error(
      `this cluster was made ${before.cloudEmulator ? `with the emulator of ${before.cloudEmulator}` : 'without an emulator'}, which is kept; take another --name or --data-dir`,
    );
  if (name === undefined) return undefined;
  if (nodes === 0) throw new Error('an emulator needs nodes that are instances of the local cloud: --nodes 1 or more');
  // Better said now than with half a cluster running.
  if (!external) await vendorProvider(name);
  await loadEmulator(name);
  return name;
}

async function vendorProvider(name: EmulatorName): Promise<void> {
  try {
    await findCloudProvider({ provider: providerOfEmulator(name), configFile: '', builtIn: {} });
  } catch (error) {
    if (!(error instanceof CloudProviderLoadError)) throw error;
    throw new Error(`${error.message}; or bring a manager of your own: --cloud-provider external`, { cause: error });
  }
}

/** What everything of the cluster is tagged with. */
export const vendorTags = async ({ cloudEmulator, name }: Pick<ClusterSettings, 'cloudEmulator' | 'name'>) =>
  cloudEmulator === undefined ? {} : (await loadEmulator(cloudEmulator)).tagsOf(name);

const privateDnsName = (index: number): string =>
  `ip-${nodePlace(index, zones.length).address.replaceAll('.', '-')}.${region}.compute.internal`;

/** Names of the first nodes, as the vendor's manager finds them. */
export async function vendorNodeNames(emulator: EmulatorName | undefined, cluster: string, count: number): Promise<string[]> {
  const byAddress = emulator !== undefined && (await loadEmulator(emulator)).nodeNames === 'private-dns-name';
  return byAddress ? Array.from({ length: count }, (_, index) => privateDnsName(index)) : nodeNames(cluster, count);
}

async function tagNetwork(
  cloud: CloudClient,
  { vpc, subnets, routeTable, group }: ClusterNetwork,
  tags: Readonly<Record<string, string>>,
): Promise<void> {
  for (const { id } of [vpc, ...subnets, routeTable, group]) await cloud.changeTags({ resourceId: id, set: { ...tags } });
}

/** Serves at the same port as before where that is free, so that configurations that people have copied keep working. */
async function serveAgain(emulator: Parameters<typeof serveEmulator>[0], dir: string, logger: Logger): Promise<EmulatorServer> {
  const path = join(dir, 'port');
  const before = Number((await readFileIfExists(path))?.toString('utf8') ?? 0);
  const server = await serveEmulator(emulator, before, logger).catch((error: unknown) => {
    if (before === 0 || !isErrno(error, 'EADDRINUSE')) throw error;
    return serveEmulator(emulator, 0, logger);
  });
  if (server.port !== before) await atomicWrite(path, `${server.port}\n`, { mode: 0o600 });
  return server;
}

/** Tags the cluster's network and serves the vendor's API on loopback. */
export async function startEmulation(
  name: EmulatorName,
  { cloud, network, settings }: { cloud: CloudClient; network: ClusterNetwork; settings: ClusterSettings },
  deps: EmulationDeps,
): Promise<Emulation> {
  const dir = await ensureDir(join(cloudDir(settings.dataDir), name));
  const logger = deps.logger.with({ component: `emulated-${name}` });
  const definition = await loadEmulator(name);
  await tagNetwork(cloud, network, definition.tagsOf(settings.name));
  const emulator = await definition.open({ cloud, region, dir, ...deps, logger });
  const server = await serveAgain(emulator, dir, logger);
  const setup = await emulator.setUpManager(
    {
      cluster: settings.name,
      vpcId: network.vpc.id,
      subnetIds: network.subnets.map(({ id }) => id),
      routeTableId: network.routeTable.id,
      securityGroupId: network.group.id,
    },
    server.url,
  );
  return { url: server.url, dir, setup, close: () => server.close() };
}

/** Whether nodes have public addresses because the vendor's machines always have. */
export const vendorPublicAddresses = async (emulator: EmulatorName): Promise<boolean> =>
  (await loadEmulator(emulator)).publicAddresses === true;

/** The values by key; they are given by name. */
const flagValues = (flags: ProviderFlags = {}, given: ManagerSetup['flags'] = {}): ProviderFlagValues =>
  Object.fromEntries(Object.entries(flags).map(([key, { name, default: usual }]) => [key, given[name] ?? usual]));

/** The vendor's provider, in this process. Vendors' SDKs look for keys in the environment, where real ones of the user may be: those are set aside. */
export async function loadVendorProvider(
  { setup }: Emulation,
  deps: EmulationDeps,
): Promise<{ name: string; cloud: CloudProvider }> {
  for (const variable of setup.unset) delete process.env[variable];
  Object.assign(process.env, setup.env);
  const options = { provider: setup.provider, configFile: setup.configFile, builtIn: {} };
  const definition = await findCloudProvider(options);
  const loaded = await loadCloudProvider(options, { ...deps, flags: flagValues(definition?.flags, setup.flags) });
  if (!loaded) throw new Error(`there is no provider ${setup.provider}`);
  return loaded;
}
