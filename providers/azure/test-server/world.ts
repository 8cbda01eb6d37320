// Providers over the test server.
import type { Clock, CloudProvider, Logger, Node, ProviderMetrics, Rng } from 'sagong/cloud-provider';
import { openProviderWorld, type ProviderWorld, silentLogger, type WorldParts } from 'sagong/cloud-provider/test-server';
import { formatProviderId, parseProviderId } from '../src/instances/provider-id.ts';
import { createProvider } from '../src/provider.ts';
import type { Resource } from '../src/emulator/resource.ts';
import { group, location, startTestServer, subscriptionId, type TestServer } from './index.ts';
import type { MachineOptions } from '../src/emulator/subscription.ts';

export const cluster = 'kubernetes';

/** What most tests need of cloud.conf. */
export const defaultConfig = {
  cloud: 'AzurePublicCloud',
  tenantId: 'tenant',
  subscriptionId,
  resourceGroup: group,
  location,
  vnetName: 'vnet',
  subnetName: 'nodes',
  securityGroupName: 'nodes-nsg',
  routeTableName: 'nodes-routes',
  vmType: 'standard',
};

export interface OpenOptions {
  config?: Record<string, unknown>;
  metrics?: ProviderMetrics;
  logger?: Logger;
  /** Another address of the server. */
  url?: string;
}
export type TestWorld = ProviderWorld<TestServer, OpenOptions>;

export const openWorld = (parts: Partial<WorldParts> = {}): Promise<TestWorld> =>
  openProviderWorld(startTestServer, openProvider, parts);

export function openProvider(
  server: TestServer,
  { clock, rng }: { clock: Clock; rng: Rng },
  { config = {}, metrics, logger = silentLogger, url = server.url }: OpenOptions = {},
): Promise<CloudProvider> {
  const context = {
    config: { ...defaultConfig, resourceManagerEndpoint: url, ...config },
    configDir: '/',
    clock,
    rng,
    logger,
    ...(metrics && { metrics }),
  };
  const credential = { getToken: () => Promise.resolve({ token: server.token, expiresOnTimestamp: Number.MAX_SAFE_INTEGER }) };
  return createProvider(context, { credential });
}

/** The Node of a machine, as the manager keeps it. */
export function nodeOf(machine: Resource, addresses: readonly string[] = []): Node {
  const { computerName = '' } = machine.properties['osProfile'] as { computerName?: string };
  const providerID = formatProviderId(parseProviderId(`azure://${machine.id}`));
  return {
    metadata: { name: computerName },
    spec: { providerID },
    status: { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) },
  };
}

/** Makes machines and gives their Nodes, with their addresses. */
export function addNodes(
  { server: { subscription } }: TestWorld,
  names: readonly string[],
  options: MachineOptions = {},
): Node[] {
  return names.map((name) => {
    const machine = subscription.addMachine(name, location, options);
    return nodeOf(machine, addressesOf(subscription, machine));
  });
}
export function addMembers(
  { server: { subscription } }: TestWorld,
  scaleSet: string,
  names: readonly string[],
  options: MachineOptions = {},
): Node[] {
  return names.map((name) => {
    const machine = subscription.addMember(scaleSet, name, location, options);
    return nodeOf(machine, addressesOf(subscription, machine));
  });
}
function addressesOf(subscription: TestServer['subscription'], machine: Resource): string[] {
  const [card] = (machine.properties['networkProfile'] as { networkInterfaces: { id: string }[] }).networkInterfaces;
  const configs = (subscription.get(card?.id ?? '')?.properties['ipConfigurations'] ?? []) as {
    properties: { privateIPAddress: string };
  }[];
  return configs.map(({ properties }) => properties.privateIPAddress);
}
