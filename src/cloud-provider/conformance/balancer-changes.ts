// Contracts of load balancers whose Services change while they are served, and of storms in which every change is refused or fails late.
import assert from 'node:assert/strict';
import type { Service } from '#api/core/v1';
import { balancer, letsIn, listens, nodesOf, nothingLeft, sends } from './balancer-kit.ts';
import type { Checks } from './suite.ts';
import { type ConformanceWorld, type Storm, serviceNamed, withPorts } from './target.ts';

const changed = (service: Service, spec: Partial<Service['spec']>): Service => ({
  ...service,
  spec: { ...service.spec, ...spec },
});
type Ensured = Awaited<ReturnType<typeof nodesOf>>;

/** Whether the Service is served so, or refused in words. */
const isServed = (world: ConformanceWorld, service: Service, nodes: Ensured): Promise<boolean> =>
  balancer(world)
    .ensureLoadBalancer(world.cluster, service, nodes)
    .then(
      () => true,
      () => false,
    );

/**
 * From a plain Service to a changed one and back, and then deleted, from either: plain serves as before, and nothing is left. `shares`: what the
 * change has made may stay until the last Service goes, as a pool of backends that several Services use. */
async function thereAndBack(world: ConformanceWorld, spec: Partial<Service['spec']>, { shares = false } = {}): Promise<void> {
  const plain = serviceNamed('web', 1);
  const other = changed(plain, spec);
  const nodes = await nodesOf(world, 'node-a', 'node-b');
  for (const last of [plain, other]) {
    await balancer(world).ensureLoadBalancer(world.cluster, plain, nodes);
    const before = await world.leftovers?.();
    if (await isServed(world, other, nodes)) await sends(world, other, ['node-a', 'node-b']);
    await balancer(world).ensureLoadBalancer(world.cluster, plain, nodes);
    await sends(world, plain, ['node-a', 'node-b']);
    await listens(world, plain, ['TCP 80 30001']);
    await letsIn(world, plain, ['0.0.0.0/0']);
    if (!shares) assert.deepEqual(await world.leftovers?.(), before);
    if (last === other) await isServed(world, other, nodes);
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, last);
    await nothingLeft(world);
  }
}

async function throughStorm(world: ConformanceWorld, kind: Storm): Promise<void> {
  if (!world.storm) return;
  const service = serviceNamed('web', 1);
  const nodes = await nodesOf(world, 'node-a', 'node-b');
  const moved = withPorts(service, { name: 'https', protocol: 'TCP', port: 443, nodePort: 31_000 });
  const ensure = (one: Service) => balancer(world).ensureLoadBalancer(world.cluster, one, nodes);
  const remove = () => balancer(world).ensureLoadBalancerDeleted(world.cluster, moved);
  const storm = async (work: () => Promise<unknown>): Promise<void> => {
    world.storm?.(kind);
    const [{ status }] = await Promise.allSettled([work()]);
    world.storm?.();
    // Not every vendor has operations that can fail late.
    if (kind === 'conflict') assert.equal(status, 'rejected');
  };
  await storm(() => ensure(service));
  await ensure(service);
  await sends(world, service, ['node-a', 'node-b']);
  await storm(() => ensure(moved));
  await ensure(moved);
  await listens(world, moved, ['TCP 443 31000']);
  await letsIn(world, moved, ['0.0.0.0/0']);
  await storm(remove);
  await remove();
  assert.equal(await balancer(world).getLoadBalancer(world.cluster, moved), undefined);
  await nothingLeft(world);
}

export const balancerChangeChecks: Checks = {
  'load balancers: the traffic policy may change there and back': (world) =>
    thereAndBack(world, { externalTrafficPolicy: 'Local', healthCheckNodePort: 32_000 }),
  'load balancers: session affinity may come and go': (world) =>
    thereAndBack(world, { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } } }),
  'load balancers: a second address family may come and go': (world) =>
    thereAndBack(
      world,
      { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'PreferDualStack', clusterIPs: ['10.96.0.10', 'fd00::10'] },
      { shares: true },
    ),
  'load balancers: two ports swap their node ports': async (world) => {
    const ports = (http: number, https: number) =>
      withPorts(
        serviceNamed('web', 1),
        { name: 'http', protocol: 'TCP', port: 80, nodePort: http },
        { name: 'https', protocol: 'TCP', port: 443, nodePort: https },
      );
    const nodes = await nodesOf(world, 'node-a');
    const [before, after] = [ports(30_001, 30_002), ports(30_002, 30_001)];
    await balancer(world).ensureLoadBalancer(world.cluster, before, nodes);
    await balancer(world).ensureLoadBalancer(world.cluster, after, nodes);
    await listens(world, after, ['TCP 80 30002', 'TCP 443 30001']);
    await sends(world, after, ['node-a']);
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, after);
    await nothingLeft(world);
  },
  'load balancers: two ports swap their names': async (world) => {
    const ports = (first: string, second: string) =>
      withPorts(
        serviceNamed('web', 1),
        { name: first, protocol: 'TCP', port: 80, nodePort: 30_001 },
        { name: second, protocol: 'TCP', port: 443, nodePort: 30_002 },
      );
    const nodes = await nodesOf(world, 'node-a');
    const [before, after] = [ports('one', 'other'), ports('other', 'one')];
    await balancer(world).ensureLoadBalancer(world.cluster, before, nodes);
    await balancer(world).ensureLoadBalancer(world.cluster, after, nodes);
    await listens(world, after, ['TCP 80 30001', 'TCP 443 30002']);
    await sends(world, after, ['node-a']);
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, after);
    await nothingLeft(world);
  },
  'load balancers: a port changes its protocol': async (world) => {
    const port = (protocol: string) => withPorts(serviceNamed('dns', 1), { name: 'dns', protocol, port: 53, nodePort: 30_053 });
    const nodes = await nodesOf(world, 'node-a');
    await balancer(world).ensureLoadBalancer(world.cluster, port('TCP'), nodes);
    const isUdp = await isServed(world, port('UDP'), nodes);
    if (isUdp) await listens(world, port('UDP'), ['UDP 53 30053']);
    await balancer(world).ensureLoadBalancer(world.cluster, port('TCP'), nodes);
    await listens(world, port('TCP'), ['TCP 53 30053']);
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, port('UDP'));
    await nothingLeft(world);
  },
  'load balancers: a port without a node port is refused, or served where nodes are reached at the port itself': async (
    world,
  ) => {
    const service = changed(withPorts(serviceNamed('web', 1), { name: 'http', protocol: 'TCP', port: 80 }), {
      allocateLoadBalancerNodePorts: false,
    });
    const nodes = await nodesOf(world, 'node-a');
    if (await isServed(world, service, nodes)) await listens(world, service, ['TCP 80']);
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, service);
    await nothingLeft(world);
  },
  'load balancers: every change is refused for a conflict, and the next calls complete it': (world) =>
    throughStorm(world, 'conflict'),
  'load balancers: every operation fails late, and the next calls complete it': (world) => throughStorm(world, 'lateFailure'),
};
