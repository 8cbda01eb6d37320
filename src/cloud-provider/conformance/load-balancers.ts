// Contracts of load balancers: idempotence, names, backends, leftovers after failures, two managers at once.
import assert from 'node:assert/strict';
import { balancer, letsIn, listens, nodesOf, nothingLeft, otherClusterOf, sends } from './balancer-kit.ts';
import type { Checks } from './suite.ts';
import { nodeNamed, serviceNamed, withPorts, withRanges } from './target.ts';

export const loadBalancerChecks: Checks = {
  'load balancers: one that was never made is absent, and deleting it succeeds': async (world) => {
    const service = serviceNamed('web', 1);
    assert.equal(await balancer(world).getLoadBalancer(world.cluster, service), undefined);
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, service);
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, service);
    await nothingLeft(world);
  },
  'load balancers: made, found, deleted': async (world) => {
    const service = serviceNamed('web', 1);
    const nodes = await nodesOf(world, 'node-a', 'node-b');
    const status = await balancer(world).ensureLoadBalancer(world.cluster, service, nodes);
    assert.ok(status, 'a status');
    for (const { ip, hostname, ipMode } of status.ingress ?? []) {
      assert.ok(ip || hostname, 'an address or a host name');
      assert.ok(ipMode === undefined || ip, 'ipMode only together with ip');
    }
    assert.ok(await balancer(world).getLoadBalancer(world.cluster, service));
    await sends(world, service, ['node-a', 'node-b']);
    await listens(world, service, ['TCP 80 30001']);
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, service);
    assert.equal(await balancer(world).getLoadBalancer(world.cluster, service), undefined);
    await nothingLeft(world);
  },
  'load balancers: making it again changes nothing': async (world) => {
    const service = serviceNamed('web', 1);
    const nodes = await nodesOf(world, 'node-a');
    const first = await balancer(world).ensureLoadBalancer(world.cluster, service, nodes);
    const pieces = await world.leftovers?.();
    assert.deepEqual(await balancer(world).ensureLoadBalancer(world.cluster, service, nodes), first);
    assert.deepEqual(await world.leftovers?.(), pieces);
  },
  'load balancers: the address stays when ports and nodes change': async (world) => {
    const service = serviceNamed('web', 1);
    const [a, b] = await nodesOf(world, 'node-a', 'node-b');
    assert.ok(a && b);
    const before = await balancer(world).ensureLoadBalancer(world.cluster, service, [a]);
    const changed = withPorts(service, { protocol: 'TCP', port: 443, nodePort: 31_000 });
    const after = await balancer(world).ensureLoadBalancer(world.cluster, changed, [a, b]);
    const addresses = (ingress: typeof after.ingress = []): unknown => ingress.map(({ ip, hostname }) => ip ?? hostname);
    assert.deepEqual(addresses(after.ingress), addresses(before.ingress));
    await sends(world, service, ['node-a', 'node-b']);
    await listens(world, service, ['TCP 443 31000']);
  },
  'load balancers: made again for fewer nodes and ports, it loses the others': async (world) => {
    const one = { name: 'http', protocol: 'TCP', port: 80, nodePort: 30_001 };
    const both = withPorts(serviceNamed('web', 1), one, { name: 'https', protocol: 'TCP', port: 443, nodePort: 30_002 });
    const [a, b] = await nodesOf(world, 'node-a', 'node-b');
    assert.ok(a && b);
    await balancer(world).ensureLoadBalancer(world.cluster, both, [a, b]);
    await listens(world, both, ['TCP 80 30001', 'TCP 443 30002']);
    await balancer(world).ensureLoadBalancer(world.cluster, withPorts(both, one), [b]);
    await sends(world, both, ['node-b']);
    await listens(world, both, ['TCP 80 30001']);
  },
  'load balancers: a UDP port is served as UDP, or refused': async (world) => {
    const service = withPorts(serviceNamed('dns', 1), { name: 'dns', protocol: 'UDP', port: 53, nodePort: 30_053 });
    const made = await balancer(world)
      .ensureLoadBalancer(world.cluster, service, await nodesOf(world, 'node-a'))
      .then(
        () => true,
        () => false,
      );
    if (made) await listens(world, service, ['UDP 53 30053']);
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, service);
    await nothingLeft(world);
  },
  'load balancers: TCP and UDP of one port are served, each at its node port, or refused': async (world) => {
    const tcp = { name: 'dns-tcp', protocol: 'TCP', port: 53, nodePort: 30_053 };
    const service = withPorts(serviceNamed('dns', 1), tcp, { name: 'dns', protocol: 'UDP', port: 53, nodePort: 30_054 });
    const made = await balancer(world)
      .ensureLoadBalancer(world.cluster, service, await nodesOf(world, 'node-a'))
      .then(
        () => true,
        () => false,
      );
    if (made) await listens(world, service, ['TCP 53 30053', 'UDP 53 30054']);
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, service);
    await nothingLeft(world);
  },
  'load balancers: an update changes the backends': async (world) => {
    const service = serviceNamed('web', 1);
    const [a, b] = await nodesOf(world, 'node-a', 'node-b');
    assert.ok(a && b);
    await balancer(world).ensureLoadBalancer(world.cluster, service, [a]);
    await balancer(world).updateLoadBalancer(world.cluster, service, [a, b]);
    await sends(world, service, ['node-a', 'node-b']);
    await balancer(world).updateLoadBalancer(world.cluster, service, [b]);
    await sends(world, service, ['node-b']);
  },
  'load balancers: an update of one that is not there makes none': async (world) => {
    const service = serviceNamed('web', 1);
    const nodes = await nodesOf(world, 'node-a');
    await Promise.allSettled([balancer(world).updateLoadBalancer(world.cluster, service, nodes)]);
    assert.equal(await balancer(world).getLoadBalancer(world.cluster, service), undefined);
    await nothingLeft(world);
  },
  'load balancers: no nodes at all': async (world) => {
    const service = serviceNamed('web', 1);
    await balancer(world).ensureLoadBalancer(world.cluster, service, []);
    assert.ok(await balancer(world).getLoadBalancer(world.cluster, service));
    await sends(world, service, []);
  },
  'load balancers: made without nodes, it serves those that come later': async (world) => {
    const service = serviceNamed('web', 1);
    await balancer(world).ensureLoadBalancer(world.cluster, service, []);
    const nodes = await nodesOf(world, 'node-a', 'node-b');
    await balancer(world).updateLoadBalancer(world.cluster, service, nodes);
    await sends(world, service, ['node-a', 'node-b']);
    await listens(world, service, ['TCP 80 30001']);
    await letsIn(world, service, ['0.0.0.0/0']);
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, service);
    await nothingLeft(world);
  },
  'load balancers: a range that is taken off lets nobody in': async (world) => {
    const service = serviceNamed('web', 1);
    const nodes = await nodesOf(world, 'node-a');
    const [office, home] = ['198.51.100.0/24', '203.0.113.0/24'];
    await balancer(world).ensureLoadBalancer(world.cluster, service, nodes);
    await letsIn(world, service, ['0.0.0.0/0']);
    await balancer(world).ensureLoadBalancer(world.cluster, withRanges(service, office, home), nodes);
    await letsIn(world, service, [office, home]);
    await balancer(world).ensureLoadBalancer(world.cluster, withRanges(service, home), nodes);
    await letsIn(world, service, [home]);
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, withRanges(service, home));
    await nothingLeft(world);
  },
  'load balancers: a rule that somebody made by hand stays': async (world) => {
    const service = serviceNamed('web', 1);
    const nodes = await nodesOf(world, 'node-a');
    await balancer(world).ensureLoadBalancer(world.cluster, service, nodes);
    const byHand = await world.letInByHand?.(service, '192.0.2.0/24');
    if (!byHand) return;
    const stays = async (after: string): Promise<void> => assert.ok(await byHand.isThere(), `it is there after ${after}`);
    const fewer = withRanges(service, '203.0.113.0/24');
    await balancer(world).ensureLoadBalancer(world.cluster, fewer, nodes);
    await stays('a change of ranges');
    const moved = withPorts(fewer, { protocol: 'TCP', port: 443, nodePort: 31_000 });
    await balancer(world).ensureLoadBalancer(world.cluster, moved, nodes);
    await balancer(world).updateLoadBalancer(world.cluster, moved, []);
    await stays('a change of ports and nodes');
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, moved);
    await stays('the end of the Service');
  },
  'load balancers: of two Services with one port each is reached by its own, and stays when the other goes': async (world) => {
    const [wide, narrow] = [serviceNamed('web', 1), withRanges(serviceNamed('api', 2), '203.0.113.0/24')];
    const nodes = await nodesOf(world, 'node-a');
    await balancer(world).ensureLoadBalancer(world.cluster, wide, nodes);
    await balancer(world).ensureLoadBalancer(world.cluster, narrow, nodes);
    await listens(world, wide, ['TCP 80 30001']);
    await listens(world, narrow, ['TCP 80 30002']);
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, wide);
    await sends(world, narrow, ['node-a']);
    await listens(world, narrow, ['TCP 80 30002']);
    await letsIn(world, narrow, ['203.0.113.0/24']);
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, narrow);
    await nothingLeft(world);
  },
  'load balancers: two Services share nothing': async (world) => {
    const [first, second] = [serviceNamed('web', 1), serviceNamed('web', 2)];
    const nodes = await nodesOf(world, 'node-a');
    const names = [first, second].map((service) => balancer(world).getLoadBalancerName(world.cluster, service));
    assert.notEqual(names[0], names[1]);
    await balancer(world).ensureLoadBalancer(world.cluster, first, nodes);
    await balancer(world).ensureLoadBalancer(world.cluster, second, nodes);
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, first);
    assert.ok(await balancer(world).getLoadBalancer(world.cluster, second));
    await sends(world, second, ['node-a']);
  },
  'load balancers: of two clusters in one account neither touches what is the other’s': async (world) => {
    const other = await otherClusterOf(world);
    // The same port and the same clients: where load balancers share rules, one rule is for both.
    const [mine, theirs] = [1, 2].map((number) => withRanges(serviceNamed('web', number), '203.0.113.0/24'));
    assert.ok(mine && theirs);
    const [here, there] = [await nodesOf(world, 'node-a'), await nodesOf(other, 'node-b')];
    await balancer(world).ensureLoadBalancer(world.cluster, mine, here);
    const { ingress } = await balancer(other).ensureLoadBalancer(other.cluster, theirs, there);
    const made = { ...theirs, status: { loadBalancer: { ...(ingress && { ingress }) } } };
    const isWhole = async (): Promise<void> => {
      assert.ok(await balancer(other).getLoadBalancer(other.cluster, made), 'the other cluster finds its own');
      await sends(world, made, ['node-b']);
      await listens(world, made, ['TCP 80 30002']);
      await letsIn(world, made, ['203.0.113.0/24']);
    };
    await isWhole();
    await sends(world, mine, ['node-a']);
    const changed = withPorts(withRanges(mine, '198.51.100.0/24'), { protocol: 'TCP', port: 443, nodePort: 31_000 });
    await balancer(world).ensureLoadBalancer(world.cluster, changed, here);
    await balancer(world).updateLoadBalancer(world.cluster, changed, []);
    await isWhole();
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, changed);
    await isWhole();
    await balancer(other).ensureLoadBalancer(other.cluster, made, there);
    await balancer(other).ensureLoadBalancerDeleted(other.cluster, made);
    await nothingLeft(world);
  },
  'load balancers: the name depends on the Service alone': async (world) => {
    const service = serviceNamed('web', 1);
    const name = balancer(world).getLoadBalancerName(world.cluster, service);
    const changed = { ...service, spec: { ...service.spec, ports: [] }, metadata: { ...service.metadata, labels: { a: 'b' } } };
    assert.equal(balancer(world).getLoadBalancerName(world.cluster, changed), name);
  },
  'load balancers: after a failure in the middle the next call completes it': async (world) => {
    assert.ok(world.failInTheMiddle, 'the target can make a change fail in its middle');
    const service = serviceNamed('web', 1);
    const nodes = await nodesOf(world, 'node-a');
    world.failInTheMiddle();
    await assert.rejects(balancer(world).ensureLoadBalancer(world.cluster, service, nodes));
    await balancer(world).ensureLoadBalancer(world.cluster, service, nodes);
    await sends(world, service, ['node-a']);
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, service);
    await nothingLeft(world);
  },
  'load balancers: what is left of one half made exists, and is deleted': async (world) => {
    assert.ok(world.failInTheMiddle, 'the target can make a change fail in its middle');
    const service = serviceNamed('web', 1);
    const nodes = await nodesOf(world, 'node-a');
    world.failInTheMiddle();
    await assert.rejects(balancer(world).ensureLoadBalancer(world.cluster, service, nodes));
    const left = (await world.leftovers?.()) ?? [];
    if (left.length > 0)
      assert.ok(await balancer(world).getLoadBalancer(world.cluster, service), `it exists: ${left.join(', ')}`);
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, service);
    await nothingLeft(world);
  },
  'load balancers: two managers at once make one': async (world) => {
    assert.ok(world.secondProvider, 'the target can open a second provider');
    const service = serviceNamed('web', 1);
    const nodes = await nodesOf(world, 'node-a');
    const other = (await world.secondProvider()).loadBalancer;
    assert.ok(other);
    await Promise.allSettled([
      balancer(world).ensureLoadBalancer(world.cluster, service, nodes),
      other.ensureLoadBalancer(world.cluster, service, nodes),
    ]);
    const [mine, theirs] = [
      await balancer(world).ensureLoadBalancer(world.cluster, service, nodes),
      await other.ensureLoadBalancer(world.cluster, service, nodes),
    ];
    assert.deepEqual(theirs, mine);
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, service);
    await nothingLeft(world);
  },
  'load balancers: another provider finds what the first one made': async (world) => {
    assert.ok(world.secondProvider, 'the target can open a second provider');
    const service = serviceNamed('web', 1);
    await balancer(world).ensureLoadBalancer(world.cluster, service, await nodesOf(world, 'node-a'));
    const other = (await world.secondProvider()).loadBalancer;
    assert.ok(await other?.getLoadBalancer(world.cluster, service));
    await other?.ensureLoadBalancerDeleted(world.cluster, service);
    await nothingLeft(world);
  },
  'load balancers: made again after it was deleted': async (world) => {
    const service = serviceNamed('web', 1);
    const nodes = await nodesOf(world, 'node-a');
    for (let round = 0; round < 3; round++) {
      await balancer(world).ensureLoadBalancer(world.cluster, service, nodes);
      await sends(world, service, ['node-a']);
      await listens(world, service, ['TCP 80 30001']);
      await balancer(world).ensureLoadBalancerDeleted(world.cluster, service);
      await nothingLeft(world);
    }
  },
  'load balancers: a Service that is gone touches nothing of its namesake': async (world) => {
    const [gone, namesake] = [serviceNamed('web', 1), serviceNamed('web', 2)];
    const nodes = await nodesOf(world, 'node-a');
    const { ingress } = await balancer(world).ensureLoadBalancer(world.cluster, gone, nodes);
    const before = { ...gone, status: { loadBalancer: { ...(ingress && { ingress }) } } };
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, before);
    await balancer(world).ensureLoadBalancer(world.cluster, namesake, nodes);
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, before);
    assert.equal(await balancer(world).getLoadBalancer(world.cluster, gone), undefined);
    assert.ok(await balancer(world).getLoadBalancer(world.cluster, namesake));
    await sends(world, namesake, ['node-a']);
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, namesake);
    await nothingLeft(world);
  },
  'load balancers: a machine that is gone keeps no other out': async (world) => {
    const service = serviceNamed('web', 1);
    const nodes = await nodesOf(world, 'node-a', 'node-b');
    await world.terminateInstance('node-b');
    // The first call may fail for the machine, and the next one does without it.
    await Promise.allSettled([balancer(world).ensureLoadBalancer(world.cluster, service, nodes)]);
    await balancer(world).ensureLoadBalancer(world.cluster, service, nodes);
    if (world.backends) assert.ok((await world.backends(service)).includes('node-a'), 'the machine that is left serves');
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, service);
    await nothingLeft(world);
  },
  'load balancers: a Node of another cloud, or of none, keeps no other out': async (world) => {
    const service = serviceNamed('web', 1);
    const ours = await nodesOf(world, 'node-a');
    const bare = nodeNamed('cellar');
    const theirs = nodeNamed('elsewhere', { providerID: 'elsewhere://zone/i-0123' });
    const addresses = [{ type: 'InternalIP', address: '192.0.2.7' }];
    const strangers = [bare, theirs].map((node) => ({ ...node, status: { addresses } }));
    // The first call may fail for those Nodes, and the next one does without them.
    await Promise.allSettled([balancer(world).ensureLoadBalancer(world.cluster, service, [...strangers, ...ours])]);
    await balancer(world).ensureLoadBalancer(world.cluster, service, [...strangers, ...ours]);
    await sends(world, service, ['node-a']);
    await balancer(world).updateLoadBalancer(world.cluster, service, [...ours, ...strangers]);
    await sends(world, service, ['node-a']);
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, service);
    await nothingLeft(world);
  },
  'load balancers: of many Nodes all serve': async (world) => {
    const service = serviceNamed('web', 1);
    const names = Array.from({ length: 120 }, (_, at) => `node-${at}`);
    const nodes = await nodesOf(world, ...names);
    await balancer(world).ensureLoadBalancer(world.cluster, service, nodes.slice(0, 60));
    await balancer(world).updateLoadBalancer(world.cluster, service, nodes);
    await sends(world, service, names);
    await balancer(world).ensureLoadBalancer(world.cluster, service, nodes.slice(100));
    await sends(world, service, names.slice(100));
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, service);
    await nothingLeft(world);
  },
  'load balancers: one that is refused can be deleted, also when it was served before': async (world) => {
    const service = serviceNamed('web', 1);
    const nodes = await nodesOf(world, 'node-a');
    const sctp = withPorts(service, { protocol: 'SCTP', port: 80, nodePort: 30_001 });
    const nobody = withRanges(service, 'everybody');
    const families = { ...service, spec: { ...service.spec, ipFamilies: ['IPv6', 'IPv4'] } };
    for (const odd of [sctp, nobody, families])
      for (const before of [undefined, service]) {
        if (before) await balancer(world).ensureLoadBalancer(world.cluster, before, nodes);
        await Promise.allSettled([balancer(world).ensureLoadBalancer(world.cluster, odd, nodes)]);
        if (before) assert.ok(await balancer(world).getLoadBalancer(world.cluster, odd), 'what was served is there');
        await balancer(world).ensureLoadBalancerDeleted(world.cluster, odd);
        await nothingLeft(world);
      }
  },
  'load balancers: objects given are not changed': async (world) => {
    const nodes = await nodesOf(world, 'node-b', 'node-a');
    const service = deepFreeze(serviceNamed('web', 1));
    deepFreeze(nodes);
    await balancer(world).ensureLoadBalancer(world.cluster, service, nodes);
    await balancer(world).updateLoadBalancer(world.cluster, service, nodes);
    await balancer(world).ensureLoadBalancerDeleted(world.cluster, service);
  },
};

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
