// What the tests of load balancers have in common: a provider over the test server, and what it wrote.
import type { LoadBalancer, Node, Service } from 'sagong/cloud-provider';
import type { Eip } from '../src/api/types.ts';
import type { StoredBalancer } from '../src/emulator/account.ts';
import { type OpenOptions, openWorld, type TestWorld } from './world.ts';

export interface BalancerWorld extends TestWorld {
  ensure(service: Service, nodes?: readonly Node[]): ReturnType<LoadBalancer['ensureLoadBalancer']>;
  update(service: Service, nodes: readonly Node[]): Promise<void>;
  remove(service: Service): Promise<void>;
  get(service: Service): ReturnType<LoadBalancer['getLoadBalancer']>;
  /** What the work changed, as `PUT blb/#/backendserver?update`. */
  writes(work: () => Promise<unknown>): Promise<string[]>;
  balancers(): StoredBalancer[];
  eips(): Eip[];
}

const idPattern = /(lb|rr|g)-[0-9a-z]{8}|\d+\.\d+\.\d+\.\d+/g;

export async function openBalancers(options: OpenOptions = {}): Promise<BalancerWorld> {
  const world = await openWorld();
  const { loadBalancer } = await world.open(options);
  if (!loadBalancer) throw new Error('the provider has load balancers');
  const { server } = world;
  return {
    ...world,
    ensure: (service, nodes = []) => loadBalancer.ensureLoadBalancer('kubernetes', service, nodes),
    update: (service, nodes) => loadBalancer.updateLoadBalancer('kubernetes', service, nodes),
    remove: (service) => loadBalancer.ensureLoadBalancerDeleted('kubernetes', service),
    get: (service) => loadBalancer.getLoadBalancer('kubernetes', service),
    async writes(work) {
      server.requests.length = 0;
      await work();
      return server.requests
        .filter(({ method }) => method !== 'GET')
        .map(({ method, url }) => {
          const flags = [...url.searchParams].filter(([, value]) => value === '').map(([name]) => `?${name}`);
          return `${method} ${url.pathname.replace(/^\/v\d\//, '').replaceAll(idPattern, '#')}${flags.join('')}`;
        });
    },
    balancers: () => server.account.of('balancer'),
    eips: () => server.account.of('eip'),
  };
}
