// What the tests of load balancers have in common: a provider over the test server, fresh for each test, and what it wrote.
import type { LoadBalancer, Node, Service } from 'sagong/cloud-provider';
import { afterEach, beforeEach, expect } from 'vitest';
import { annotation } from '../src/annotations.ts';
import type { FlagValues } from '../src/config/flags.ts';
import type { GceConfig } from '../src/config/schema.ts';
import { openWorld, type TestWorld } from './world.ts';

export const internal = { [annotation.type]: 'Internal' };
export const local = { externalTrafficPolicy: 'Local', healthCheckNodePort: 32_000 };

/** What a promise is rejected with. */
export const rejection = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => expect.unreachable('it resolved'),
    (error: unknown) => error as Error,
  );

/** For the file of tests that calls it. `world` is that of the test under way. */
export function useBalancers() {
  let current: TestWorld;
  let balancers: LoadBalancer;
  const world: TestWorld = {
    get server() {
      return current.server;
    },
    get clock() {
      return current.clock;
    },
    get cluster() {
      return current.cluster;
    },
    open: (config, flags) => current.open(config, flags),
  };
  async function reopen(config: Partial<GceConfig> = {}, flags: Partial<FlagValues> = {}): Promise<void> {
    balancers = (await current.open(config, flags)).loadBalancer as LoadBalancer;
  }
  beforeEach(async () => {
    current = await openWorld();
    await reopen();
  });
  afterEach(() => current.server.close());
  const writes = (): string[] =>
    world.server.requests
      .filter(({ method, url }) => method !== 'GET' && !/wait$|listInstances$/.test(url.pathname))
      .map(({ method, url }) => `${method} ${url.pathname.split('/').slice(5).join('/')}`);
  return {
    world,
    /** Another provider takes the place of the one that each test begins with. */
    reopen,
    ensure: (service: Service, nodes: readonly Node[]) => balancers.ensureLoadBalancer('kubernetes', service, nodes),
    update: (service: Service, nodes: readonly Node[]) => balancers.updateLoadBalancer('kubernetes', service, nodes),
    remove: (service: Service) => balancers.ensureLoadBalancerDeleted('kubernetes', service),
    get: (service: Service) => balancers.getLoadBalancer('kubernetes', service),
    /** The only resource of a kind, or of a kind and a name. */
    one(kind: string, name?: string) {
      const found = world.server.projects.of(kind).filter((resource) => name === undefined || resource.name === name);
      expect(
        found.map((resource) => resource.name),
        kind,
      ).toHaveLength(1);
      return found[0] as Record<string, unknown>;
    },
    /** The changes that the API was asked for. */
    writes,
    /** The work's answer, and the changes that it asked the API for. */
    async quietly<T>(work: () => Promise<T>): Promise<{ answer: T; writes: string[] }> {
      world.server.requests.length = 0;
      const answer = await work();
      return { answer, writes: writes() };
    },
  };
}
