// Load balancers over HTTP against the local server: names and descriptions as upstream gives them, what changes in place, what is left of failures.
import type { CloudProvider, LoadBalancer, Node, Service } from 'sagong/cloud-provider';
import { isImplementedElsewhere } from 'sagong/cloud-provider';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { backendsOf, leftoversOf, listenersOf } from '../../test-server/conformance-world.ts';
import {
  addNodes,
  balancerName,
  clusterId,
  nodeIn,
  openWorld,
  project,
  region,
  serviceWith,
  type TestWorld,
  zones,
} from '../../test-server/world.ts';
import { annotation } from '../annotations.ts';
import type { FlagValues } from '../config/flags.ts';
import type { GceConfig } from '../config/schema.ts';

let world: TestWorld;
let cloud: CloudProvider;
let balancers: LoadBalancer;
beforeEach(async () => {
  world = await openWorld();
  await reopen();
});
afterEach(() => world.server.close());

async function reopen(config: Partial<GceConfig> = {}, flags: Partial<FlagValues> = {}): Promise<void> {
  cloud = await world.open(config, flags);
  balancers = cloud.loadBalancer as LoadBalancer;
}
const ensure = (service: Service, nodes: readonly Node[]) => balancers.ensureLoadBalancer('kubernetes', service, nodes);
const remove = (service: Service) => balancers.ensureLoadBalancerDeleted('kubernetes', service);
const one = (kind: string, name?: string) => {
  const found = world.server.projects.of(kind).filter((resource) => name === undefined || resource.name === name);
  expect(
    found.map((resource) => resource.name),
    kind,
  ).toHaveLength(1);
  return found[0] as Record<string, unknown>;
};
const writes = (): string[] =>
  world.server.requests
    .filter(({ method, url }) => method !== 'GET' && !/wait$|listInstances$/.test(url.pathname))
    .map(({ method, url }) => `${method} ${url.pathname.split('/').slice(5).join('/')}`);
const quietly = async <T>(work: () => Promise<T>): Promise<{ answer: T; writes: string[] }> => {
  world.server.requests.length = 0;
  const answer = await work();
  return { answer, writes: writes() };
};
const rejection = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => expect.unreachable('it resolved'),
    (error: unknown) => error as Error,
  );
const internal = { [annotation.type]: 'Internal' };
const local = { externalTrafficPolicy: 'Local', healthCheckNodePort: 32_000 };

describe('an external load balancer', () => {
  it('is made of the pieces that upstream makes, by the same names', async () => {
    const service = serviceWith(
      {},
      { ports: [80, 81, 443].map((port) => ({ name: `p${port}`, protocol: 'TCP', port, nodePort: port + 30_000 })) },
    );
    const status = await ensure(service, addNodes(world, 'node-a', 'node-b'));
    const description = '{"kubernetes.io/service-name":"shop/web"}';
    const rule = one('forwardingRule', balancerName);
    expect(rule).toMatchObject({
      description,
      IPProtocol: 'TCP',
      portRange: '80-443',
      loadBalancingScheme: 'EXTERNAL',
      networkTier: 'PREMIUM',
    });
    expect(status).toEqual({ ingress: [{ ip: rule['IPAddress'] }] });
    expect(one('targetPool', balancerName)).toMatchObject({
      description,
      sessionAffinity: 'NONE',
      healthChecks: [expect.stringMatching(new RegExp(`global/httpHealthChecks/k8s-${clusterId}-node$`))],
    });
    expect(one('httpHealthCheck', `k8s-${clusterId}-node`)).toMatchObject({
      description: `{"kubernetes.io/service-name":"k8s-${clusterId}-node"}`,
      port: 10_256,
      requestPath: '/healthz',
      checkIntervalSec: 8,
      timeoutSec: 1,
      healthyThreshold: 1,
      unhealthyThreshold: 3,
    });
    expect(one('firewall', `k8s-fw-${balancerName}`)).toMatchObject({
      description: `{"kubernetes.io/service-name":"shop/web", "kubernetes.io/service-ip":"${rule['IPAddress']}"}`,
      sourceRanges: ['0.0.0.0/0'],
      destinationRanges: [rule['IPAddress']],
      targetTags: ['nodes'],
      allowed: [{ IPProtocol: 'tcp', ports: ['80-81', '443'] }],
      priority: 1000,
    });
    const health = one('firewall', `k8s-${clusterId}-node-http-hc`);
    expect(health).toMatchObject({
      description: `{"kubernetes.io/cluster-id":"${clusterId}"}`,
      allowed: [{ IPProtocol: 'tcp', ports: ['10256'] }],
    });
    expect([health['destinationRanges'], (health['sourceRanges'] as string[]).toSorted()]).toEqual([
      undefined,
      ['130.211.0.0/22', '209.85.152.0/22', '209.85.204.0/22', '35.191.0.0/16'],
    ]);
    expect(world.server.projects.of('address')).toEqual([]);
    expect(world.cluster.patches[0]?.body).toEqual({ metadata: { finalizers: ['gke.networking.io/l4-netlb-v1'] } });
  });
  it('costs no write when nothing has changed', async () => {
    const nodes = addNodes(world, 'node-a', 'node-b');
    const service = serviceWith({}, {}, { finalizers: ['gke.networking.io/l4-netlb-v1'] });
    const first = await ensure(service, nodes);
    expect(await quietly(() => ensure(service, nodes))).toEqual({ answer: first, writes: [] });
  });
  it('asks for the endpoints of a Service with traffic policy Local, and changes that in place', async () => {
    const nodes = addNodes(world, 'node-a');
    const before = await ensure(serviceWith({}, local), nodes);
    expect(one('httpHealthCheck', balancerName)).toMatchObject({ port: 32_000, requestPath: '/healthz' });
    one('firewall', `k8s-${balancerName}-http-hc`);
    const { answer, writes: done } = await quietly(() => ensure(serviceWith(), nodes));
    expect(answer).toEqual(before);
    expect(done.join()).not.toContain('DELETE regions/europe-west1/forwardingRules');
    one('httpHealthCheck', `k8s-${clusterId}-node`);
    expect(
      leftoversOf(world.server)
        .filter(({ name }) => name.includes('http-hc'))
        .map(({ name }) => name),
    ).toEqual([`k8s-${clusterId}-node-http-hc`]);
  });
  it('keeps its address when ports and affinity change, also when that fails half-way', async () => {
    const nodes = addNodes(world, 'node-a');
    const before = await ensure(serviceWith(), nodes);
    const changed = serviceWith({}, { sessionAffinity: 'ClientIP', ports: [{ protocol: 'UDP', port: 53, nodePort: 30_053 }] });
    world.server.faults.add({ method: 'POST', path: /forwardingRules$/, status: 400, message: 'no' });
    await rejection(ensure(changed, nodes));
    expect(world.server.projects.of('forwardingRule')).toEqual([]);
    expect(await balancers.getLoadBalancer('kubernetes', changed)).toEqual({});
    expect(await ensure(changed, nodes)).toEqual(before);
    expect(one('targetPool')).toMatchObject({ sessionAffinity: 'CLIENT_IP' });
    expect(listenersOf(world.server, balancerName)).toEqual(['UDP 53']);
    expect(world.server.projects.of('address')).toEqual([]);
  });
  it('takes an address that its owner has reserved, and no other', async () => {
    const nodes = addNodes(world, 'node-a');
    const { projects } = world.server;
    projects.put(`projects/${project}/regions/${region}/addresses/mine`, 'address', {
      address: '198.51.9.9',
      addressType: 'EXTERNAL',
      networkTier: 'PREMIUM',
    });
    expect(await ensure(serviceWith({}, { loadBalancerIP: '198.51.9.9' }), nodes)).toEqual({ ingress: [{ ip: '198.51.9.9' }] });
    await remove(serviceWith());
    expect(one('address')).toMatchObject({ name: 'mine' });
    expect((await rejection(ensure(serviceWith({}, { loadBalancerIP: '198.51.7.7' }), nodes))).message).toContain(
      'requested ip "198.51.7.7" is neither static nor assigned to the LB',
    );
    const standard = serviceWith({ [annotation.tier]: 'Standard' }, { loadBalancerIP: '198.51.9.9' });
    expect((await rejection(ensure(standard, nodes))).message).toContain(
      'belongs to the PREMIUM network tier; expected STANDARD',
    );
  });
  it('changes its network tier, and with it its address, only when asked to', async () => {
    const nodes = addNodes(world, 'node-a');
    const standard = await ensure(serviceWith({ [annotation.tier]: 'Standard' }), nodes);
    expect(one('forwardingRule')).toMatchObject({ networkTier: 'STANDARD' });
    expect(await ensure(serviceWith(), nodes)).toEqual(standard);
    expect(one('forwardingRule')).toMatchObject({ networkTier: 'STANDARD' });
    expect(await ensure(serviceWith({ [annotation.tier]: 'Premium' }), nodes)).not.toEqual(standard);
    expect(one('forwardingRule')).toMatchObject({ networkTier: 'PREMIUM' });
    expect((await rejection(ensure(serviceWith({ [annotation.tier]: 'Fast' }), nodes))).message).toContain(
      'unsupported network tier: "Fast"',
    );
  });
  it('opens nothing without nodes, and names nodes by their own tags', async () => {
    await reopen({ 'node-tags': [] });
    await ensure(serviceWith(), []);
    expect(world.server.projects.of('firewall')).toEqual([]);
    world.server.projects.addInstance(project, zones[0], 'pool-1-a', { tags: ['pool', 'pool-1', 'web'] });
    await ensure(serviceWith(), [nodeIn(zones[0], 'pool-1-a')]);
    expect(one('firewall', `k8s-fw-${balancerName}`)).toMatchObject({ targetTags: ['pool-1'] });
    world.server.projects.addInstance(project, zones[0], 'lone', { tags: ['web'] });
    expect((await rejection(ensure(serviceWith(), [nodeIn(zones[0], 'lone')]))).message).toContain(
      'instance lone has no tag that is a prefix of its name',
    );
  });
  it('fills a target pool of hundreds in slices, and leaves out machines that are gone', async () => {
    const names = Array.from({ length: 450 }, (_, index) => `node-${index}`);
    const nodes = addNodes(world, ...names);
    world.server.projects.removeInstance('node-7');
    await ensure(serviceWith(), nodes);
    expect(backendsOf(world.server, balancerName)).toHaveLength(449);
    expect(
      (await rejection(balancers.updateLoadBalancer('kubernetes', serviceWith(), [nodeIn(zones[0], 'nobody')]))).message,
    ).toContain('none of the instances of nobody exists');
    expect(backendsOf(world.server, balancerName)).toHaveLength(449);
  });
  it('sees that a machine went between two calls, and does without it next time', async () => {
    const nodes = addNodes(world, 'node-a', 'node-b');
    world.server.faults.add({ method: 'POST', path: /targetPools$/, then: () => world.server.projects.removeInstance('node-b') });
    expect((await rejection(ensure(serviceWith(), nodes))).message).toContain('was not found');
    await ensure(serviceWith(), nodes);
    expect(backendsOf(world.server, balancerName)).toEqual(['node-a']);
  });
  it('denies the rest with a rule of its own, on request', async () => {
    const nodes = addNodes(world, 'node-a');
    await reopen({}, { denyFirewall: true, denyFirewallCleanup: true });
    await ensure(serviceWith(), nodes);
    expect(one('firewall', `k8s-fw-${balancerName}`)).toMatchObject({ priority: 999 });
    expect(one('firewall', `k8s-fw-${balancerName}-deny`)).toMatchObject({ priority: 1000, denied: [{ IPProtocol: 'all' }] });
    await reopen({}, { denyFirewallCleanup: true });
    await ensure(serviceWith(), nodes);
    expect(world.server.projects.of('firewall').some(({ name }) => name.endsWith('-deny'))).toBe(false);
    await expect(world.open({}, { denyFirewall: true })).rejects.toThrow('requires enable-l4-deny-firewall-rollback-cleanup');
  });
});

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
    await balancers.updateLoadBalancer('kubernetes', serviceWith(internal), nodes);
    expect(one('backendService')).toMatchObject({ connectionDraining: { drainingTimeoutSec: 60 }, backends: [{}, {}] });
  });
  it('leaves the new ones to other controllers with the alpha feature ILBSubsets', async () => {
    await reopen({ 'alpha-features': ['ILBSubsets'] });
    expect(isImplementedElsewhere(await rejection(ensure(serviceWith(internal), [])))).toBe(true);
    await ensure(serviceWith(internal, {}, { finalizers: ['gke.networking.io/l4-ilb-v1'] }), addNodes(world, 'node-a'));
    one('backendService');
  });
});

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
      if (leftoversOf(world.server).length > 0)
        expect(await balancers.getLoadBalancer('kubernetes', service), deletions[after]).toBeDefined();
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
    expect(isImplementedElsewhere(await rejection(balancers.updateLoadBalancer('kubernetes', service, [])))).toBe(true);
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
    expect(await balancers.getLoadBalancer('kubernetes', service)).toEqual({});
    await remove(service);
    expect(world.cluster.patches.map(({ body }) => body)).toEqual([
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['gke.networking.io/l4-netlb-v1'] } },
    ]);
  });
});
