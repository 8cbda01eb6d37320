// What holds for load balancers of either kind: changes between kinds, refusals, what is left of failures.
import { isImplementedElsewhere, type Service } from 'sagong/cloud-provider';
import { rejection } from 'sagong/cloud-provider/test-server';
import { describe, expect, it } from 'vitest';
import { internal, local, useBalancers } from '../../test-server/balancer-tests.ts';
import { leftoversOf } from '../../test-server/conformance-world.ts';
import { addNodes, balancerName, region, serviceWith, zones } from '../../test-server/world.ts';
import { annotation } from '../annotations.ts';

const { ensure, get, update, quietly, remove, reopen, writes, world } = useBalancers();

describe('every load balancer', () => {
  it('that changes its kind leaves nothing of the other behind', async () => {
    const nodes = addNodes(world, 'node-a');
    await ensure(serviceWith(), nodes);
    world.server.faults.add({ method: 'DELETE', path: /targetPools/, status: 400, message: 'not now' });
    await rejection(ensure(serviceWith(internal), nodes));
    await ensure(serviceWith(internal), nodes);
    expect(leftoversOf(world.server).map(({ kind }) => kind)).not.toContain('compute#targetPool');
    expect(leftoversOf(world.server).map(({ kind }) => kind)).not.toContain('compute#httpHealthCheck');
    await ensure(serviceWith(), nodes);
    await remove(serviceWith());
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it.each([
    ['external', {}],
    ['internal', internal],
  ])('%s, is deleted in the end, wherever deleting fails', async (_kind, annotations) => {
    const nodes = addNodes(world, 'node-a');
    const service = serviceWith(annotations, local);
    await ensure(service, nodes);
    const deletions = (await quietly(() => remove(service))).writes.filter((write) => write.startsWith('DELETE'));
    for (let after = 0; after < deletions.length; after++) {
      await ensure(service, nodes);
      world.server.faults.add({ method: 'DELETE', after, status: 400, message: 'not now' });
      await rejection(remove(service));
      world.server.faults.clear();
      if (leftoversOf(world.server).length > 0) expect(await get(service), deletions[after]).toBeDefined();
      await remove(service);
      expect(
        leftoversOf(world.server).map(({ name }) => name),
        deletions[after],
      ).toEqual([]);
    }
  });
  it('waits for its operations, and fails with those that fail late', async () => {
    const nodes = addNodes(world, 'node-a');
    world.server.faults.rates = { ...world.server.faults.rates, operationMs: 20_000 };
    const startedMs = world.clock.now();
    await ensure(serviceWith(), nodes);
    expect(world.clock.now() - startedMs).toBeGreaterThan(60_000);
    world.server.faults.rates = { ...world.server.faults.rates, lateFailure: 1 };
    expect((await rejection(remove(serviceWith()))).message).toBe(
      `load balancer ${balancerName}: forwardingRules.delete: Internal error. Please try again.`,
    );
  });
  it('does a change once, however often its answer is lost', async () => {
    world.server.faults.add({ method: 'POST', path: /forwardingRules$/, status: 503, afterwards: true });
    await ensure(serviceWith(), addNodes(world, 'node-a'));
    expect(
      world.server.projects.operations
        .all()
        .filter(({ target, kind }) => kind === 'insert' && target.includes('forwardingRules')),
    ).toHaveLength(1);
  });
  it('with several protocols is refused once in words, and goes on where it was', async () => {
    const ports = [
      { name: 'a', protocol: 'TCP', port: 80, nodePort: 30_080 },
      { name: 'b', protocol: 'UDP', port: 80, nodePort: 30_081 },
    ];
    const mixed = serviceWith({}, { ports });
    expect((await rejection(ensure(mixed, []))).message).toContain('mixed protocol is not supported for LoadBalancer');
    expect(world.cluster.events).toMatchObject([{ type: 'Warning', reason: 'LoadBalancerMixedProtocolNotSupported' }]);
    expect(world.cluster.patches).toMatchObject([
      { subresource: 'status', body: { status: { conditions: [{ type: 'LoadBalancerPortsError', status: 'True' }] } } },
    ]);
    const told = {
      ...mixed,
      status: {
        conditions: [
          {
            type: 'LoadBalancerPortsError',
            status: 'True',
            reason: 'x',
            message: '',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      },
    };
    await rejection(ensure(told, []));
    expect(world.cluster.events).toHaveLength(1);
  });
  it.each<[string, Service]>([
    ['a class of its own', serviceWith({}, { loadBalancerClass: 'example.com/other' })],
    ['the regional class', serviceWith({}, { loadBalancerClass: 'networking.gke.io/l4-regional-external' })],
    ['the annotation', serviceWith({ 'cloud.google.com/l4-rbs': 'enabled' })],
    ['a finalizer of version 2', serviceWith({}, {}, { finalizers: ['gke.networking.io/l4-netlb-v2'] })],
    ['a finalizer of internal version 2', serviceWith(internal, {}, { finalizers: ['gke.networking.io/l4-ilb-v2'] })],
  ])('with %s is left to others', async (_what, service) => {
    expect(isImplementedElsewhere(await rejection(ensure(service, [])))).toBe(true);
    expect(isImplementedElsewhere(await rejection(update(service, [])))).toBe(true);
    expect(writes()).toEqual([]);
  });
  it.each<[string, Service, string]>([
    ['SCTP', serviceWith({}, { ports: [{ protocol: 'SCTP', port: 1, nodePort: 30_001 }] }), 'only TCP and UDP are supported'],
    ['no ports', serviceWith({}, { ports: [] }), 'no ports specified'],
    ['IPv6 only', serviceWith({}, { ipFamilies: ['IPv6'] }), 'IPv4 addresses only'],
    [
      'a list of addresses',
      serviceWith({ 'networking.gke.io/load-balancer-ip-addresses': 'a,b' }),
      'is not supported: several or named addresses',
    ],
    ['weights', serviceWith({ 'networking.gke.io/weighted-load-balancing': 'pods-per-node' }), 'is not supported'],
  ])('with %s is refused before anything is made', async (_what, service, words) => {
    expect((await rejection(ensure(service, addNodes(world, 'node-a')))).message).toContain(words);
    expect(writes()).toEqual([]);
  });
  it('tells the administrator of a shared network what firewall it needs', async () => {
    const { projects } = world.server;
    projects.addProject('host-project', { [region]: zones });
    projects.addNetwork('host-project', 'shared');
    await reopen({ 'network-project-id': 'host-project', 'network-name': 'shared' });
    world.server.faults.add({
      method: /POST|PATCH|DELETE/,
      path: /firewalls/,
      status: 403,
      code: 'forbidden',
      message: 'no right',
      times: 10,
    });
    await ensure(serviceWith(), addNodes(world, 'node-a'));
    expect(world.cluster.events[0]).toMatchObject({ type: 'Normal', reason: 'LoadBalancerManualChange' });
    expect(world.cluster.events[0]?.message).toMatch(
      /^Firewall change required by security admin: `gcloud compute firewall-rules create k8s-fw-\S+ --network shared --description ".+" --allow tcp:80 --source-ranges 0.0.0.0\/0 --destination-ranges \S+ --target-tags nodes --priority 1000 --project host-project`$/,
    );
  });
  it('is named in annotations on request', async () => {
    await reopen({}, { annotate: true });
    const nodes = addNodes(world, 'node-a');
    await ensure(serviceWith({}, {}, { finalizers: ['gke.networking.io/l4-netlb-v1'] }), nodes);
    expect(world.cluster.patches).toMatchObject([
      { body: { metadata: { annotations: { [annotation.targetPool]: balancerName } } } },
    ]);
  });
  it('gives back the finalizers that it has taken', async () => {
    const service = serviceWith(
      {},
      {},
      { finalizers: ['gke.networking.io/l4-netlb-v1', 'service.kubernetes.io/load-balancer-cleanup'] },
    );
    expect(await get(service)).toEqual({});
    await remove(service);
    expect(world.cluster.patches.map(({ body }) => body)).toEqual([
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['gke.networking.io/l4-netlb-v1'] } },
    ]);
  });
});
