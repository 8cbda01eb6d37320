// What the tests of NodeBalancers have in common: a provider over the test server, fresh for each test, and what it wrote.
import { useLoadBalancers } from 'sagong/cloud-provider/test-server';
import { afterEach, beforeEach, expect } from 'vitest';
import { openWorld } from './world.ts';

export const acl = (...ipv4: string[]) => ({ 'firewall-acl': JSON.stringify({ allowList: { ipv4 } }) });

/** Sets up load balancers for the file of tests that calls it. `world` is that of the test under way. */
export function useBalancers() {
  const balancers = useLoadBalancers(() => openWorld(), { beforeEach, afterEach });
  const { world } = balancers;
  return {
    ...balancers,
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
