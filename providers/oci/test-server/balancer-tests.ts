// What the tests of load balancers have in common: a provider over the test server with two nodes, fresh for each test, and what it wrote.
import type { Node, Service } from 'sagong/cloud-provider';
import { useLoadBalancers } from 'sagong/cloud-provider/test-server';
import { afterEach, beforeEach, expect } from 'vitest';
import { annotation } from '../src/annotations.ts';
import { balancersOf } from './conformance-world.ts';
import { addNodes, openWorld } from './world.ts';

export const nlb = { [annotation.type]: 'nlb' };
export const http = { name: 'http', protocol: 'TCP', port: 80, nodePort: 30_080 };
export const https = { name: 'https', protocol: 'TCP', port: 443, nodePort: 30_443 };

/** A Secret with a certificate, as the cluster has it. */
export const secret = (certificate: string) => ({
  metadata: { name: 'web-tls' },
  data: Object.fromEntries(
    Object.entries({ 'tls.crt': certificate, 'tls.key': 'key' }).map(([name, text]) => [
      name,
      Buffer.from(text).toString('base64'),
    ]),
  ),
});

/** Sets up load balancers for the file of tests that calls it. */
export function useBalancers() {
  const { world, ...balancers } = useLoadBalancers(openWorld, { beforeEach, afterEach });
  const nodes: Node[] = [];
  beforeEach(() => void nodes.splice(0, nodes.length, ...addNodes(world, ['node-a', 'node-b'])));
  return {
    world,
    /** Those that each test begins with. */
    nodes: nodes as readonly Node[],
    ...balancers,
    ensure: (service: Service, on: readonly Node[] = nodes) => balancers.ensure(service, on),
    /** The only load balancer of a Service. */
    only(service: Service) {
      const [found, ...others] = balancersOf(world.server, service);
      expect(others).toEqual([]);
      if (!found) throw new Error('there is none');
      return found;
    },
    /** How many changes the API was asked for. */
    writes: () =>
      world.server.requests.filter(({ method, url }) => method !== 'GET' && !url.pathname.endsWith('getByIpAddress')).length,
  };
}
