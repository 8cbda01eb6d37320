// What the tests of load balancers have in common: a provider over the test server, fresh for each test, Services, and what was made of them.
import type { LoadBalancer, Service } from 'sagong/cloud-provider';
import { testService } from 'sagong/cloud-provider/test-server';
import { onTestFinished } from 'vitest';
import { prefix } from '../src/load-balancer/annotations.ts';
import { servicePrefix } from '../src/names.ts';
import { balancersIn } from './conformance-world.ts';
import { type Part, partsOf, type Resource } from '../src/emulator/resource.ts';
import { cluster, type OpenOptions, openWorld, type TestWorld } from './world.ts';

/** The beginning of the names of what belongs to `web()`. */
export const own = servicePrefix(testService());

/** A Service with annotations of the provider, given without their prefix. */
export const web = (
  notes: Record<string, string> = {},
  spec: Partial<Service['spec']> = {},
  metadata: Partial<Service['metadata']> = {},
) => testService(Object.fromEntries(Object.entries(notes).map(([name, value]) => [prefix + name, value])), spec, metadata);
export const other = (notes: Record<string, string> = {}, spec: Partial<Service['spec']> = {}) =>
  web(notes, spec, { name: 'api', uid: '99999999-2222-4333-8444-555555555555' });
export const tcp = (port: number, nodePort = 30_000 + port) => ({ name: `p${port}`, protocol: 'TCP', port, nodePort });

interface Opened extends TestWorld {
  balancers: LoadBalancer;
}
/** A world for the test that calls it, with the load balancers of a provider in it. */
export async function opened(options: OpenOptions = {}): Promise<Opened> {
  const world = await openWorld();
  onTestFinished(() => world.server.close());
  const { loadBalancer } = await world.open(options);
  return { ...world, balancers: loadBalancer as LoadBalancer };
}

// What is in the cloud

export const balancer = ({ server }: TestWorld, name = cluster): Resource | undefined =>
  balancersIn(server).find((one) => one.name === name);
/** The properties of one part of a load balancer, such as one of its probes. */
export const part = (world: TestWorld, list: string, name: string, on = cluster): Part['properties'] =>
  partsOf(balancer(world, on), list).find((one) => one.name === name)?.properties;
/** The names of a load balancer's parts in one list. */
export const named = (world: TestWorld, list: string, on = cluster): (string | undefined)[] =>
  partsOf(balancer(world, on), list).map(({ name }) => name);
/** The rules of the cluster's network security group. */
export const security = ({ server }: TestWorld): Record<string, unknown>[] =>
  partsOf(server.subscription.of('Microsoft.Network/networkSecurityGroups')[0], 'securityRules').map(({ name, properties }) => ({
    name,
    ...properties,
  }));
export const publicIps = ({ server }: TestWorld): Resource[] => server.subscription.of('Microsoft.Network/publicIPAddresses');
export const writes = ({ server }: TestWorld): string[] =>
  server.requests.filter(({ method }) => method !== 'GET').map(({ method, url }) => `${method} ${url.pathname}`);
export const addressOf = (status: { ingress?: { ip?: string }[] }): string | undefined => status.ingress?.[0]?.ip;
