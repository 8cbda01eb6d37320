import { describe, expect, it } from 'vitest';
import type { Service } from '#api/core/v1';
import { keyOf } from '#apimachinery/meta';
import type { Clock } from '#utils';
import { conformance, conformanceCases, type ConformanceTarget } from '../conformance/index.ts';
import type { CloudProvider, LoadBalancer, Node, Routes } from '../types.ts';
import { FakeCloud, fakeProvider } from './index.ts';

const clock: Clock = {
  now: () => 0,
  monotonic: () => 0,
  setTimer: () => ({ cancel() {} }),
  sleep: () => Promise.resolve(),
};

const target = (spoil: (cloud: FakeCloud) => void = () => {}): ConformanceTarget => ({
  open() {
    const cloud = new FakeCloud({ clock });
    spoil(cloud);
    return {
      cloud: fakeProvider(cloud),
      cluster: 'kubernetes',
      addInstance: (name) => void cloud.addInstance(name),
      stopInstance(name) {
        const instance = cloud.instanceOf(name);
        if (instance) instance.state = 'stopped';
      },
      terminateInstance: (name) => cloud.removeInstance(name),
      backends: ({ metadata }: Service) =>
        [...cloud.balancers.values()].find(
          ({ serviceUid, service }) => serviceUid === metadata.uid && service === keyOf(metadata),
        )?.backends ?? [],
      listeners: ({ metadata }: Service) =>
        [...cloud.balancers.values()]
          .filter(({ serviceUid }) => serviceUid === metadata.uid)
          .flatMap(({ listeners = [] }) => listeners.map((one) => one.replaceAll(':', ' '))),
      leftovers: () => [...cloud.balancers.keys()],
      failInTheMiddle: () => cloud.gate.failNext('ensureLoadBalancer:listeners', new Error('half way')),
      secondProvider: () => fakeProvider(cloud),
    };
  },
});

const everyNode = 'its load balancers take whatever Node they are given';
conformance(
  { ...target(), skips: { 'load balancers: a Node of another cloud, or of none, keeps no other out': everyNode } },
  { describe, it },
);

describe('the suite itself', () => {
  it('fails a provider that leaks', async () => {
    const cases = conformanceCases(target((cloud) => void (cloud.balancers.delete = () => false)));
    const failed: string[] = [];
    for (const { name, run } of cases) await run().catch(() => failed.push(name));
    expect(failed).toContain('load balancers: made, found, deleted');
  });
  /** A provider over this cloud, one part of which misbehaves. */
  const spoilt = (spoil: (provider: CloudProvider, cloud: FakeCloud) => Partial<CloudProvider>): ConformanceTarget => ({
    async open() {
      let fake: FakeCloud | undefined;
      const world = await target((cloud) => void (fake = cloud)).open();
      return { ...world, cloud: { ...world.cloud, ...(fake && spoil(world.cloud, fake)) } };
    },
    instancesMany: 2,
  });
  const balancerWith = (spoil: (inner: LoadBalancer, cloud: FakeCloud) => Partial<LoadBalancer>) =>
    spoilt(({ loadBalancer }, cloud) =>
      loadBalancer ? { loadBalancer: { ...loadBalancer, ...spoil(loadBalancer, cloud) } } : {},
    );
  const routesWith = (spoil: (inner: Routes, cloud: FakeCloud) => Partial<Routes>) =>
    spoilt(({ routes }, cloud) => (routes ? { routes: { ...routes, ...spoil(routes, cloud) } } : {}));
  const only = (cloud: FakeCloud) => [...cloud.balancers.values()][0];

  it.each<[string, ConformanceTarget, string]>([
    [
      'keeps old ports',
      balancerWith(({ ensureLoadBalancer }, cloud) => ({
        async ensureLoadBalancer(...args) {
          const before = only(cloud)?.listeners;
          const status = await ensureLoadBalancer(...args);
          const balancer = only(cloud);
          if (before && balancer) balancer.listeners = before;
          return status;
        },
      })),
      'load balancers: the address stays when ports and nodes change',
    ],
    [
      'keeps old backends',
      balancerWith(({ ensureLoadBalancer }, cloud) => ({
        async ensureLoadBalancer(...args) {
          const before = only(cloud)?.backends ?? [];
          const status = await ensureLoadBalancer(...args);
          const balancer = only(cloud);
          if (balancer) balancer.backends = [...new Set([...before, ...balancer.backends])];
          return status;
        },
      })),
      'load balancers: made again for fewer nodes and ports, it loses the others',
    ],
    [
      'takes UDP for TCP',
      balancerWith(({ ensureLoadBalancer }) => ({
        ensureLoadBalancer: (cluster, service, nodes) =>
          ensureLoadBalancer(
            cluster,
            { ...service, spec: { ...service.spec, ports: service.spec?.ports?.map((port) => ({ ...port, protocol: 'TCP' })) } },
            nodes,
          ),
      })),
      'load balancers: a UDP port is served as UDP, or refused',
    ],
    [
      'makes one when it is to change one',
      balancerWith(({ ensureLoadBalancer }) => ({
        updateLoadBalancer: async (...args) => void (await ensureLoadBalancer(...args)),
      })),
      'load balancers: an update of one that is not there makes none',
    ],
    [
      'sorts the nodes it is given',
      balancerWith(({ ensureLoadBalancer }) => ({
        ensureLoadBalancer: (cluster, service, nodes) => {
          (nodes as Node[]).sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
          return ensureLoadBalancer(cluster, service, nodes);
        },
      })),
      'load balancers: objects given are not changed',
    ],
    [
      'deletes all routes of a node',
      routesWith((_inner, cloud) => ({
        async deleteRoute(_cluster, { targetNode }) {
          for (const [name, route] of cloud.routes) if (route.targetNode === targetNode) cloud.routes.delete(name);
        },
      })),
      'routes: of two of one node, the one that is deleted goes',
    ],
    [
      'cannot delete a route to nowhere',
      routesWith(({ deleteRoute }, cloud) => ({
        async deleteRoute(cluster, route) {
          if (!cloud.instanceOf(route.targetNode)) throw new Error('no such machine');
          await deleteRoute(cluster, route);
        },
      })),
      'routes: that of a terminated machine can be removed',
    ],
  ])('fails a provider that %s', async (_what, given, expected) => {
    const failed: string[] = [];
    for (const { name, run } of conformanceCases(given)) await run().catch(() => failed.push(name));
    expect(failed).toContain(expected);
  });
  it('skips by name and by group', () => {
    const skips = { routes: 'none', 'instances: thousands are told apart': 'few' };
    const skipped = conformanceCases({ ...target(), skips }).filter((one) => one.skipped !== undefined);
    expect(skipped.every(({ name }) => name.startsWith('routes:') || name.endsWith('apart'))).toBe(true);
    expect(skipped.length).toBeGreaterThan(5);
  });
  it('refuses a skip of nothing', () => {
    expect(() => conformanceCases({ ...target(), skips: { nonsense: 'because' } })).toThrow('no conformance case');
  });
});
