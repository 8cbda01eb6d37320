// The provider `fake`: a cloud in memory, for tests, simulations and trying things out without a cloud.
import { seededRng } from '#utils';
import { cloudProviderApiVersion, type CloudProviderDefinition, defineCloudProvider } from '../define.ts';
import type { CloudProvider } from '../types.ts';
import { fakeBalancers } from './balancers.ts';
import { FakeCloud } from './cloud.ts';
import { fakeInstances, fakeInstancesV2, fakeZones } from './instances.ts';
import { fakeRoutes } from './routes.ts';

export { type FakeBalancer, FakeCloud, type FakeCloudOptions, type FakeInstance, type FakeRoute } from './cloud.ts';
export { type FakeCall, type FakeFaults, noFaults } from './faults.ts';

export const fakeProviderName = 'fake';

export interface FakeProviderOptions {
  /** Which interface instances are offered through. Default `v2`. */
  instances?: 'v1' | 'v2' | 'both' | 'none';
  loadBalancer?: boolean;
  routes?: boolean;
  /** Routes follow the Nodes' addresses. */
  routesFollowAddresses?: boolean;
}

/** A provider that speaks to this cloud. Several may, as several replicas of the manager do. */
export function fakeProvider(cloud: FakeCloud, options: FakeProviderOptions = {}): CloudProvider {
  const { instances = 'v2', loadBalancer = true, routes = true, routesFollowAddresses = false } = options;
  const old = instances === 'v1' || instances === 'both';
  return {
    hasClusterId: () => true,
    ...(old && { instances: fakeInstances(cloud, fakeProviderName), zones: fakeZones(cloud, fakeProviderName) }),
    ...((instances === 'v2' || instances === 'both') && { instancesV2: fakeInstancesV2(cloud, fakeProviderName) }),
    ...(loadBalancer && { loadBalancer: fakeBalancers(cloud) }),
    ...(routes && { routes: fakeRoutes(cloud, routesFollowAddresses) }),
  };
}

interface FakeConfig {
  region: string;
  seed: number;
  errorRate: number;
  latencyMs: number;
  instances: { name: string; type?: string; zone?: string; addresses?: string[] }[];
}

/** The built-in definition: instances come from `--cloud-config`. */
export const fakeCloudProvider: CloudProviderDefinition<FakeConfig> = defineCloudProvider<FakeConfig>({
  name: fakeProviderName,
  apiVersion: cloudProviderApiVersion,
  configSchema: {
    type: 'object',
    properties: {
      region: { type: 'string', minLength: 1, default: 'fake-1' },
      seed: { type: 'integer', default: 1 },
      errorRate: { type: 'number', minimum: 0, maximum: 1, default: 0 },
      latencyMs: { type: 'integer', minimum: 0, default: 0 },
      instances: {
        type: 'array',
        default: [],
        items: {
          type: 'object',
          required: ['name'],
          properties: {
            name: { type: 'string', minLength: 1 },
            type: { type: 'string' },
            zone: { type: 'string' },
            addresses: { type: 'array', items: { type: 'string', minLength: 1 } },
          },
        },
      },
    },
  },
  create({ config, clock }) {
    const { region, seed, errorRate, latencyMs, instances } = config;
    const cloud = new FakeCloud({ clock, rng: seededRng(seed), region });
    cloud.gate.faults = { ...cloud.gate.faults, errorRate, latencyMs };
    for (const { name, addresses, ...more } of instances)
      cloud.addInstance(name, {
        ...more,
        ...(addresses && { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) }),
      });
    return fakeProvider(cloud);
  },
});
