// Internal load balancers over HTTP against the local server.
import { isImplementedElsewhere, type Service } from 'sagong/cloud-provider';
import { rejection } from 'sagong/cloud-provider/test-server';
import { describe, expect, it } from 'vitest';
import { internal, useBalancers } from '../../test-server/balancer-tests.ts';
import { leftoversOf } from '../../test-server/conformance-world.ts';
import { addNodes, balancerName, clusterId, nodeIn, project, region, serviceWith, zones } from '../../test-server/world.ts';
import { annotation } from '../annotations.ts';

const { ensure, update, one, quietly, remove, reopen, world } = useBalancers();

describe('an internal load balancer', () => {
  it('is made of the pieces that upstream makes, by the same names', async () => {
    const { ingress = [] } = await ensure(serviceWith(internal), addNodes(world, 'node-a', 'node-b', 'node-c', 'node-d'));
    const address = ingress[0]?.ip;
    expect(one('forwardingRule', balancerName)).toMatchObject({
      IPAddress: address,
      ports: ['80'],
      loadBalancingScheme: 'INTERNAL',
      subnetwork: expect.stringMatching(/subnetworks\/default$/),
    });
    const service = one('backendService', balancerName);
    expect(service).toMatchObject({
      protocol: 'TCP',
      sessionAffinity: 'NONE',
      loadBalancingScheme: 'INTERNAL',
      healthChecks: [expect.stringContaining(`healthChecks/k8s-${clusterId}-node`)],
    });
    expect(service['backends']).toHaveLength(3);
    expect(world.server.projects.of('instanceGroup').map(({ name, size }) => [name, size])).toEqual(
      [2, 1, 1].map((size) => [`k8s-ig--${clusterId}`, size]),
    );
    expect(one('healthCheck')).toMatchObject({
      name: `k8s-${clusterId}-node`,
      type: 'HTTP',
      httpHealthCheck: { port: 10_256, requestPath: '/healthz' },
    });
    one('firewall', `k8s-fw-${balancerName}`);
    one('firewall', `k8s-${clusterId}-node-hc`);
    expect(world.cluster.patches[0]?.body).toEqual({ metadata: { finalizers: ['gke.networking.io/l4-ilb-v1'] } });
    const same = serviceWith(internal, {}, { finalizers: ['gke.networking.io/l4-ilb-v1'] });
    const nodes = ['node-a', 'node-b', 'node-c', 'node-d'].map((name, index) => nodeIn(zones[index % 3] as string, name));
    expect((await quietly(() => ensure(same, nodes))).writes).toEqual([]);
  });
  it('lets in clients of other regions, switched in place', async () => {
    const nodes = addNodes(world, 'node-a');
    const first = await ensure(serviceWith(internal), nodes);
    const open = serviceWith(
      { ...internal, [annotation.globalAccess]: 'true' },
      {},
      { finalizers: ['gke.networking.io/l4-ilb-v1'] },
    );
    const { answer, writes: done } = await quietly(() => ensure(open, nodes));
    expect([answer, done]).toEqual([first, [`PATCH regions/${region}/forwardingRules/${balancerName}`]]);
    expect(one('forwardingRule')).toMatchObject({ allowGlobalAccess: true });
  });
  it('takes its address from the subnetwork of the annotation', async () => {
    const nodes = addNodes(world, 'node-a');
    const { projects } = world.server;
    projects.put(`projects/${project}/regions/${region}/subnetworks/front`, 'subnetwork', { ipCidrRange: '10.9.0.0/24' });
    await ensure(serviceWith(internal), nodes);
    await ensure(serviceWith({ ...internal, [annotation.subnet]: 'front' }), nodes);
    expect(one('forwardingRule')).toMatchObject({ subnetwork: expect.stringMatching(/subnetworks\/front$/) });
  });
  it('serves all ports when they are more than five, and changes its protocol', async () => {
    const nodes = addNodes(world, 'node-a');
    const ports = [1, 2, 3, 4, 5, 6].map((port) => ({ name: `p${port}`, protocol: 'TCP', port, nodePort: 30_000 + port }));
    await ensure(serviceWith(internal, { ports }), nodes);
    expect(one('forwardingRule')).toMatchObject({ allPorts: true });
    const udp = { ports: [{ protocol: 'UDP', port: 53, nodePort: 30_053 }] };
    await ensure(serviceWith(internal, udp), nodes);
    expect(one('backendService')).toMatchObject({ protocol: 'UDP' });
    expect(one('forwardingRule')).toMatchObject({ IPProtocol: 'UDP', ports: ['53'] });
  });
  it('shares a backend service on request, until the last one goes', async () => {
    const nodes = addNodes(world, 'node-a');
    const shared = { ...internal, [annotation.backendShare]: 'true' };
    const [a, b] = ['1', '2'].map((number) => serviceWith(shared, {}, { name: `web-${number}`, uid: `uid-${number}` }));
    await ensure(a as Service, nodes);
    await ensure(b as Service, nodes);
    expect(one('backendService')['name']).toMatch(new RegExp(`^k8s-${clusterId}-internal-tcp-nmv1-[0-9a-f]{16}$`));
    await remove(a as Service);
    one('backendService');
    await remove(b as Service);
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it.each([
    ['external', {}],
    ['internal with one of its own', internal],
  ])('leaves nothing of a shared backend service when it becomes %s', async (_what, annotations) => {
    const nodes = addNodes(world, 'node-a');
    const held = { finalizers: ['gke.networking.io/l4-ilb-v1', 'gke.networking.io/l4-netlb-v1'] };
    await ensure(serviceWith({ ...internal, [annotation.backendShare]: 'true' }, {}, held), nodes);
    await ensure(serviceWith(annotations, {}, held), nodes);
    expect(world.server.projects.of('backendService').filter(({ name }) => name !== balancerName)).toEqual([]);
    await remove(serviceWith(annotations, {}, held));
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('deletes a shared backend service whose annotation went before the Service', async () => {
    await ensure(serviceWith({ ...internal, [annotation.backendShare]: 'true' }), addNodes(world, 'node-a'));
    await remove(serviceWith(internal));
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('keeps what its owner set at the backend service, and meets the writes of others', async () => {
    const nodes = addNodes(world, 'node-a', 'node-b');
    await ensure(serviceWith(internal), nodes.slice(0, 1));
    const { projects } = world.server;
    const path = `projects/${project}/regions/${region}/backendServices/${balancerName}`;
    const set = (fingerprint: string) =>
      projects.resources.set(path, {
        ...(projects.get(path) as never as object),
        connectionDraining: { drainingTimeoutSec: 60 },
        fingerprint,
      } as never);
    world.server.faults.add({ method: 'PATCH', path: /backendServices/, then: () => set('of-another') });
    await update(serviceWith(internal), nodes);
    expect(one('backendService')).toMatchObject({ connectionDraining: { drainingTimeoutSec: 60 }, backends: [{}, {}] });
  });
  it('leaves the new ones to other controllers with the alpha feature ILBSubsets', async () => {
    await reopen({ 'alpha-features': ['ILBSubsets'] });
    expect(isImplementedElsewhere(await rejection(ensure(serviceWith(internal), [])))).toBe(true);
    await ensure(serviceWith(internal, {}, { finalizers: ['gke.networking.io/l4-ilb-v1'] }), addNodes(world, 'node-a'));
    one('backendService');
  });
});
