// What the tests of load balancers have in common: a provider over the test server, fresh for each test, and what it wrote.
import { useLoadBalancers } from 'sagong/cloud-provider/test-server';
import { afterEach, beforeEach, expect } from 'vitest';
import { annotation } from '../src/annotations.ts';
import { openWorld } from './world.ts';

export const internal = { [annotation.type]: 'Internal' };
export const local = { externalTrafficPolicy: 'Local', healthCheckNodePort: 32_000 };

/** Sets up load balancers for the file of tests that calls it. `world` is that of the test under way. */
export function useBalancers() {
  const balancers = useLoadBalancers(() => openWorld(), { beforeEach, afterEach });
  const { world } = balancers;
  const writes = (): string[] =>
    world.server.requests
      .filter(({ method, url }) => method !== 'GET' && !/wait$|listInstances$/.test(url.pathname))
      .map(({ method, url }) => `${method} ${url.pathname.split('/').slice(5).join('/')}`);
  return {
    ...balancers,
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
