// A provider over the server of its vendor, as tests open it.
import { type Rng, seededRng } from '#utils';
import type { CloudProvider, LoadBalancer, Node, Service } from '../types.ts';
import { type HastyClock, hastyClock } from './clock.ts';
import { type TestCluster, testCluster } from './cluster.ts';

export interface ProviderWorld<Server, Options> {
  server: Server;
  clock: HastyClock;
  cluster: TestCluster;
  /** Another provider over the same account, as a replica of the manager has. */
  open(options?: Options): Promise<CloudProvider>;
}

/** What the parts of a world have in common. */
export interface WorldParts {
  clock: HastyClock;
  rng: Rng;
  cluster: TestCluster;
}

/** `start` gives the server, `open` makes a provider that asks it. A provider is initialized before it is handed out. */
export async function openProviderWorld<Server, Options extends object>(
  start: (parts: WorldParts) => Promise<Server>,
  open: (server: Server, parts: WorldParts, options: Options | undefined) => CloudProvider | Promise<CloudProvider>,
  { clock = hastyClock(), rng = seededRng(1), cluster = testCluster() }: Partial<WorldParts> = {},
): Promise<ProviderWorld<Server, Options>> {
  const parts = { clock, rng, cluster };
  const server = await start(parts);
  return {
    server,
    clock,
    cluster,
    async open(options) {
      const cloud = await open(server, parts, options);
      await cloud.initialize?.({ client: cluster.client, signal: new AbortController().signal });
      return cloud;
    },
  };
}

/** The hooks of vitest, or of any other runner. */
export interface TestHooks {
  beforeEach(work: () => Promise<void>): void;
  afterEach(work: () => Promise<void>): void;
}

/** A world for each test of the file that calls it, and the load balancers of a provider in it. `world` is that of the test under way. */
export function useLoadBalancers<
  World extends { server: { close(): Promise<void> }; open(...options: never): Promise<CloudProvider> },
>(openWorld: () => Promise<World>, { beforeEach, afterEach }: TestHooks) {
  let current: World;
  let balancers: LoadBalancer;
  const world = new Proxy({} as World, { get: (_, name) => Reflect.get(current, name) as unknown });
  async function reopen(...options: Parameters<World['open']>): Promise<void> {
    const { loadBalancer } = await current.open(...(options as never));
    if (!loadBalancer) throw new Error('the provider has no load balancers');
    balancers = loadBalancer;
  }
  beforeEach(async () => {
    current = await openWorld();
    await reopen(...([] as never));
  });
  afterEach(() => current.server.close());
  return {
    world,
    /** Another provider takes the place of the one that each test begins with. */
    reopen,
    ensure: (service: Service, nodes: readonly Node[]) => balancers.ensureLoadBalancer('kubernetes', service, nodes),
    update: (service: Service, nodes: readonly Node[]) => balancers.updateLoadBalancer('kubernetes', service, nodes),
    remove: (service: Service) => balancers.ensureLoadBalancerDeleted('kubernetes', service),
    get: (service: Service) => balancers.getLoadBalancer('kubernetes', service),
    nameOf: (service: Service) => balancers.getLoadBalancerName('kubernetes', service),
  };
}

/** What a promise is rejected with. */
export const rejection = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => {
      throw new Error('it was to be rejected, and resolved');
    },
    (error: unknown) => error as Error,
  );
