// What every vendor's emulator is held to: the vendor's provider, found and configured as `sagong up` does it, passes the suite of all providers over HTTP; keys
// are for their owner; what was made is known in another life.
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type CloudInformers, type CloudProvider, retryAfterOf, type Node, type Service } from '#cloud-provider';
import type { ConformanceWorld } from '#cloud-provider/conformance';
import { testCluster } from '#cloud-provider/test-server';
import { systemClock, systemRng } from '#host';
import { type Clock, silentLogger } from '#utils';
import type { EmulatorName } from '#cloud/emulators';
import { loadVendorProvider } from '../../../src/cluster/cloud/emulation.ts';
import { cluster, type VendorPlace, vendorWorld, type VendorWorld } from './vendor-world.ts';

/** Of all emulated Azures, for its library keeps where the machine's identity is. */
export const azurePlace: VendorPlace = { secret: 'f'.repeat(64) };

/** Waits of seconds take milliseconds, and have passed then. */
const hastyClock = (): Clock => {
  const clock = systemClock();
  let aheadMs = 0;
  return {
    ...clock,
    now: () => clock.now() + aheadMs,
    monotonic: () => clock.monotonic() + aheadMs,
    async sleep(delayMs, signal) {
      await clock.sleep(Math.min(delayMs, 5), signal);
      aheadMs += delayMs;
    },
  };
};

const none: CloudInformers = {
  informer: () => ({ lister: { get: () => undefined, list: () => [] }, addHandler: () => () => {} }),
};

/** `failed`: the next failure is told, also one that asks for another try. */
interface Patience {
  failed?: (() => void) | undefined;
}

/** As the service controller asks: again, for as long as it is told to. */
function settling(cloud: CloudProvider, clock: Clock, patience: Patience): CloudProvider {
  const { loadBalancer: inner } = cloud;
  if (!inner) return cloud;
  const again = async <T>(work: () => Promise<T>, left = 20): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      const { failed } = patience;
      patience.failed = undefined;
      failed?.();
      if (left === 0 || failed || retryAfterOf(error) === undefined) throw error;
      await clock.sleep(retryAfterOf(error) ?? 0);
      return again(work, left - 1);
    }
  };
  return {
    ...cloud,
    loadBalancer: {
      getLoadBalancer: (...given) => inner.getLoadBalancer(...given),
      getLoadBalancerName: (...given) => inner.getLoadBalancerName(...given),
      ensureLoadBalancer: (...given) => again(() => inner.ensureLoadBalancer(...given)),
      updateLoadBalancer: (...given) => again(() => inner.updateLoadBalancer(...given)),
      ensureLoadBalancerDeleted: (...given) => again(() => inner.ensureLoadBalancerDeleted(...given)),
    },
  };
}

export interface VendorProviderOptions {
  /** Objects of the cluster, by `<resource> <name>`. */
  objects?: Parameters<typeof testCluster>[0];
  /** Without them a provider takes the names of Nodes for those of its machines. */
  informers?: boolean;
  place?: VendorPlace;
}

/** The vendor's provider with what the emulator wrote for it. */
export async function providerOf(
  { setup, server: { url }, dir }: VendorWorld,
  { objects, informers = false }: VendorProviderOptions = {},
  patience: Patience = {},
): Promise<CloudProvider> {
  const emulation = { setup, url, dir, close: () => Promise.resolve() };
  const clock = hastyClock();
  const { cloud } = await loadVendorProvider(emulation, { clock, rng: systemRng(), logger: silentLogger });
  if (informers) cloud.setInformers?.(none);
  await cloud.initialize?.({ client: testCluster(objects).client, signal: new AbortController().signal });
  return settling(cloud, clock, patience);
}

/** A world of the suite. */
export async function openVendor(vendor: EmulatorName, options: VendorProviderOptions = {}): Promise<ConformanceWorld> {
  const world = await vendorWorld(vendor, options.place);
  const patience: Patience = {};
  const cloud = await providerOf(world, options, patience);
  // That of another cluster is known by its status alone.
  const own = async (service: Service) => {
    const { ingress = [] } = service.status?.loadBalancer ?? {};
    const shown = ingress.length > 0 ? ingress : (await cloud.loadBalancer?.getLoadBalancer(cluster, service))?.ingress;
    const ips = (shown ?? []).map(({ ip }) => ip);
    return (await world.balancers()).find(({ address }) => ips.includes(address));
  };
  return {
    cloud,
    cluster,
    addInstance: world.addInstance,
    stopInstance: world.stopInstance,
    terminateInstance: world.terminateInstance,
    backends: async (service) => world.namesOf(await own(service)),
    listeners: async (service) =>
      (await own(service))?.listeners.map(({ protocol, port, targetPort }) =>
        [protocol.toUpperCase(), port, ...(targetPort === undefined ? [] : [targetPort])].join(' '),
      ) ?? [],
    sources: async (service) => (await own(service))?.sourceRanges ?? [],
    leftovers: async () => (await world.balancers()).map(({ name }) => name),
    failInTheMiddle() {
      // For as long as the provider itself tries again.
      patience.failed = () => world.memory.setFaults({});
      world.memory.setFaults({ errorRate: 1, operations: ['createLoadBalancer', 'modifyLoadBalancer'] });
    },
    secondProvider: () => providerOf(world, options),
    close: world.close,
  };
}

/** The Node of an instance as the manager keeps it. */
export async function nodeOf(cloud: CloudProvider, name: string): Promise<Node> {
  const bare = { metadata: { name, uid: `uid-of-${name}`, labels: { 'kubernetes.io/hostname': name } }, spec: {}, status: {} };
  const known = await cloud.instancesV2?.instanceMetadata(bare);
  return {
    ...bare,
    metadata: {
      ...bare.metadata,
      labels: {
        ...bare.metadata.labels,
        ...(known?.zone && { 'topology.kubernetes.io/zone': known.zone }),
        ...(known?.region && { 'topology.kubernetes.io/region': known.region }),
      },
    },
    spec: known?.providerId === undefined ? {} : { providerID: known.providerId },
    status: { addresses: known?.nodeAddresses ?? [] },
  };
}

export const webService = (spec: Partial<Service['spec']> = {}, annotations: Record<string, string> = {}): Service => ({
  metadata: { name: 'web', namespace: 'default', uid: '5a0c5d2e-1111-4222-8333-944445555666', annotations },
  spec: {
    type: 'LoadBalancer',
    clusterIP: '10.96.0.10',
    externalTrafficPolicy: 'Cluster',
    ipFamilies: ['IPv4'],
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30_080 }],
    ...spec,
  },
  status: { loadBalancer: {} },
});

/** One Service is made, known in another life, and gone with all that was made for it. */
export async function anotherLife(vendor: EmulatorName, options: VendorProviderOptions = {}): Promise<void> {
  const world = await vendorWorld(vendor, options.place);
  try {
    await world.addInstance('node-a');
    const cloud = await providerOf(world, options);
    const nodes = [await nodeOf(cloud, 'node-a')];
    const service = webService();
    const status = await cloud.loadBalancer?.ensureLoadBalancer(cluster, service, nodes);
    const [made] = await world.balancers();
    expect(made).toMatchObject({ scheme: 'internet-facing', state: 'active', listeners: [{ protocol: 'tcp', port: 80 }] });
    expect(status?.ingress?.map(({ ip }) => ip)).toEqual([made?.address]);
    expect(world.namesOf(made)).toEqual(['node-a']);
    await world.again();
    const later = await providerOf(world, options);
    expect(await later.loadBalancer?.ensureLoadBalancer(cluster, service, nodes)).toEqual(status);
    expect((await world.balancers()).map(({ id, address }) => [id, address])).toEqual([[made?.id, made?.address]]);
    await later.loadBalancer?.ensureLoadBalancerDeleted(cluster, service);
    expect(await world.balancers()).toEqual([]);
    expect((await world.memory.client().listAddresses({})).items.length).toBeLessThanOrEqual(1);
  } finally {
    await world.close();
  }
}

/** Everything that the emulator keeps is for its owner alone, and so is each file that a manager is given. */
export async function ownerOnly(world: VendorWorld, files: readonly string[]): Promise<void> {
  for (const file of ['secret', 'env', ...files]) expect((await stat(join(world.dir, file))).mode & 0o077, file).toBe(0);
}

/** What an emulator asks of the local cloud and could not note before it ended is taken back by its next life. */
export async function forgotten(world: VendorWorld): Promise<void> {
  await rm(join(world.dir, 'account.json'));
  await world.addInstance('another');
  await world.again();
  expect(await world.balancers()).toEqual([]);
}
