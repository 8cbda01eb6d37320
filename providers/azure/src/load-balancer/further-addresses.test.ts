// Addresses that Services name beside those of their load balancers: security rules have them together with others' addresses, and no load balancer tells
// whose they are.
import type { CloudInformers, CloudProvider, LoadBalancer, Node, Service } from 'sagong/cloud-provider';
import { describe, expect, it, onTestFinished } from 'vitest';
import { addressOf, opened, other, security, tcp, web } from '../../test-server/balancer-tests.ts';
import { addNodes, cluster, openWorld, type TestWorld } from '../../test-server/world.ts';
import { annotation } from './annotations.ts';

const further = '203.0.113.80';
const named = { [annotation.additionalIps]: further };

interface Watched extends TestWorld {
  balancers: LoadBalancer;
  /** Services of the cluster, as the manager sees them. */
  services: Service[];
  nodes: Node[];
}
const informersOf = (services: readonly Service[]): CloudInformers => ({
  informer: () => ({ lister: { get: () => undefined, list: () => [...services] as never[] }, addHandler: () => () => {} }),
});
async function watched(): Promise<Watched> {
  const world = await openWorld();
  onTestFinished(() => world.server.close());
  const cloud: CloudProvider = await world.open();
  const services: Service[] = [];
  cloud.setInformers?.(informersOf(services));
  return { ...world, balancers: cloud.loadBalancer as LoadBalancer, services, nodes: addNodes(world, ['node-a', 'node-b']) };
}
/** Makes the load balancer of a Service that is in the cluster now, in the place of what it was. */
function ensure({ balancers, services, nodes }: Watched, service: Service) {
  const at = services.findIndex(({ metadata }) => metadata.uid === service.metadata.uid);
  services.splice(at === -1 ? services.length : at, 1, service);
  return balancers.ensureLoadBalancer(cluster, service, nodes);
}
/** As `Allow 80,443`, those that let in, or keep out, at an address. */
const rulesAt = (world: TestWorld, address: string): string[] =>
  security(world)
    .filter((rule) =>
      [rule['destinationAddressPrefix'], rule['destinationAddressPrefixes']].flat().includes(address as unknown as never),
    )
    .map(
      ({ access, destinationPortRange, destinationPortRanges }) =>
        `${String(access)} ${[destinationPortRanges ?? [], destinationPortRange ?? []].flat().join()}`,
    )
    .sort();
const nodeAddress = ({ nodes }: Watched): string => nodes[0]?.status?.addresses?.[0]?.address ?? '';
const shown = (service: Service, ...ips: string[]): Service => ({
  ...service,
  status: { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } },
});

describe('who is let in', () => {
  it('at a further address stay when another Service has left it', async () => {
    const world = await opened();
    const nodes = addNodes(world, ['node-a']);
    const further = '203.0.113.80';
    await world.balancers.ensureLoadBalancer(cluster, web({ [annotation.additionalIps]: further }), nodes);
    const second = other({ [annotation.additionalIps]: further }, { ports: [tcp(443)] });
    await world.balancers.ensureLoadBalancer(cluster, second, nodes);
    await world.balancers.ensureLoadBalancerDeleted(cluster, second);
    const at = security(world).filter((rule) => JSON.stringify(rule).includes(further));
    expect(at).toMatchObject([{ destinationPortRanges: ['80'] }]);
    // Its status still shows the address that its annotation does not name any more.
    const shown = { ...web(), status: { loadBalancer: { ingress: [{ ip: further }] } } };
    await world.balancers.ensureLoadBalancer(cluster, shown, nodes);
    expect(JSON.stringify(security(world))).not.toContain(further);
  });
  it('at a port of a further address stay in when another Service with that port leaves it', async () => {
    const world = await watched();
    await ensure(world, web(named));
    const second = other(named);
    await ensure(world, second);
    await world.balancers.ensureLoadBalancerDeleted(cluster, second);
    expect(rulesAt(world, further)).toEqual(['Allow 80']);
    // Nobody but the first is there any more.
    world.services.splice(1);
    await ensure(world, shown(web(), further));
    expect(rulesAt(world, further)).toEqual([]);
  });
  it('at a further address of two Services that go together are let in no more', async () => {
    const world = await watched();
    const both = [web(named), other(named)];
    for (const one of both) await ensure(world, one);
    const going = both.map((one) => ({ ...one, metadata: { ...one.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }));
    world.services.splice(0, 2, ...going);
    for (const one of going) await world.balancers.ensureLoadBalancerDeleted(cluster, one);
    expect(security(world)).toEqual([]);
  });
  it('by another Service stay in at its further address, which the status of this one shows', async () => {
    const world = await watched();
    await ensure(world, web(named));
    await ensure(world, shown(other(), further));
    expect(rulesAt(world, further)).toEqual(['Allow 80']);
  });
  it('are nobody else at a further address for as long as one Service says so', async () => {
    const world = await watched();
    const closed = { ...named, [annotation.ipRanges]: '198.51.100.0/24', [annotation.denyOthers]: 'true' };
    await ensure(world, web(closed));
    const second = other(closed, { ports: [tcp(443)] });
    await ensure(world, second);
    await world.balancers.ensureLoadBalancerDeleted(cluster, second);
    expect(rulesAt(world, further)).toEqual(['Allow 80', 'Deny *']);
  });
  it.each([
    ['a port', web(named, { ports: [tcp(8080)] }), ['Allow 8080']],
    ['a node port', web({ ...named, [annotation.disableFloatingIp]: 'true' }, { ports: [tcp(80, 31_000)] }), ['Allow 31000']],
    ['its address', web({ [annotation.additionalIps]: '203.0.113.81' }), []],
  ])('at a further address follow a Service that changes %s', async (_what, changed, rules) => {
    const world = await watched();
    const direct: Record<string, string> =
      changed.spec?.ports?.[0]?.nodePort === 31_000 ? { [annotation.disableFloatingIp]: 'true' } : {};
    const { ingress = [] } = await ensure(world, web({ ...named, ...direct }));
    await ensure(world, shown(changed, ...ingress.flatMap(({ ip }) => ip ?? [])));
    expect(rulesAt(world, further)).toEqual(rules);
  });
});

describe('Services that reach nodes at their node ports', () => {
  const direct = { [annotation.disableFloatingIp]: 'true' };

  it('leave a further address to the Service that has it at the same port', async () => {
    const world = await watched();
    await ensure(world, web(named, { ports: [tcp(30_443)] }));
    const second = other(direct, { ports: [tcp(443)] });
    await ensure(world, second);
    expect(rulesAt(world, nodeAddress(world))).toEqual(['Allow 30443']);
    await world.balancers.ensureLoadBalancerDeleted(cluster, second);
    expect(rulesAt(world, further)).toEqual(['Allow 30443']);
    expect(rulesAt(world, nodeAddress(world))).toEqual([]);
  });
  it('lose no port that stays while another one goes', async () => {
    const world = await watched();
    await ensure(world, web(direct, { ports: [tcp(80), tcp(443)] }));
    const before = world.server.requests.length;
    await ensure(world, web(direct, { ports: [tcp(443)] }));
    const written = world.server.requests
      .slice(before)
      .filter(({ method, url }) => method === 'PUT' && /networkSecurityGroups/i.test(url.pathname));
    expect(written.length).toBeGreaterThan(0);
    for (const { body } of written) expect(JSON.stringify(body)).toContain('30443');
    expect(rulesAt(world, nodeAddress(world))).toEqual(['Allow 30443']);
    expect(addressOf(await ensure(world, web(direct, { ports: [tcp(443)] })))).toBeDefined();
  });
});
