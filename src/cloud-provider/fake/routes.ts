// Routes of the fake cloud: one per Node and CIDR.
import type { Routes } from '../types.ts';
import type { FakeCloud } from './cloud.ts';

export function fakeRoutes(cloud: FakeCloud, followAddresses: boolean): Routes {
  const { gate, routes } = cloud;
  return {
    async listRoutes(cluster, signal) {
      await gate.enter('listRoutes', cluster, signal);
      return [...routes.values()]
        .filter((route) => route.cluster === cluster && gate.visible(route.createdMs))
        .map(({ cluster: _cluster, createdMs: _createdMs, ...route }) => ({ ...route }));
    },
    async createRoute(cluster, nameHint, { targetNode, targetNodeAddresses, destinationCidr }, signal) {
      const call = await gate.enter('createRoute', targetNode, signal);
      const name = `${cluster}-${nameHint}-${destinationCidr}`;
      if (routes.get(name)?.blackhole === false) return;
      routes.set(name, {
        name,
        cluster,
        targetNode,
        targetNodeAddresses: [...targetNodeAddresses],
        destinationCidr,
        enableNodeAddresses: followAddresses,
        blackhole: false,
        createdMs: cloud.clock.now(),
      });
      call.done();
    },
    async deleteRoute(_cluster, { name, targetNode }, signal) {
      const call = await gate.enter('deleteRoute', targetNode, signal);
      routes.delete(name);
      call.done();
    },
  };
}
