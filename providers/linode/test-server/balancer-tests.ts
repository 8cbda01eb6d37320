// What the tests of NodeBalancers have in common: a provider over the test server, fresh for each test, and what it wrote.
import type { LoadBalancer, Node, Service } from 'sagong/cloud-provider';
import { afterEach, beforeEach, expect } from 'vitest';
import { type OpenOptions, openWorld, type TestWorld } from './world.ts';

export const acl = (...ipv4: string[]) => ({ 'firewall-acl': JSON.stringify({ allowList: { ipv4 } }) });

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
    open: (options) => current.open(options),
  };
  async function reopen(options: OpenOptions = {}): Promise<void> {
    balancers = (await current.open(options)).loadBalancer as LoadBalancer;
  }
  beforeEach(async () => {
    current = await openWorld();
    await reopen();
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
    /** The only NodeBalancer. */
    one() {
      const all = world.server.account.of('balancer');
      expect(all.map((balancer) => balancer.label)).toHaveLength(1);
      return all[0] as (typeof all)[number];
    },
    /** The labels of a NodeBalancer's firewalls. */
    firewallOf(balancer: number) {
      const { account } = world.server;
      return account
        .of('device')
        .filter((device) => device.balancer === balancer)
        .map(({ firewall }) => account.get('firewall', firewall)?.label);
    },
    /** The work's answer, and the changes that it asked the API for. */
    async writes<T>(work: () => Promise<T>): Promise<{ answer: T; done: string[] }> {
      world.server.requests.length = 0;
      const answer = await work();
      const changes = world.server.requests.filter(({ method }) => method !== 'GET');
      return {
        answer,
        done: changes.map(({ method, url }) => `${method} ${url.pathname.replace('/v4/', '').replaceAll(/\d+/g, '#')}`),
      };
    },
  };
}
