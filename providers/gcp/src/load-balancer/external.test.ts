// External load balancers over HTTP against the local server: names and descriptions as upstream gives them, and what changes in place.
import { rejection } from 'sagong/cloud-provider/test-server';
import { describe, expect, it } from 'vitest';
import { local, useBalancers } from '../../test-server/balancer-tests.ts';
import { backendsOf, leftoversOf, listenersOf } from '../../test-server/conformance-world.ts';
import { addNodes, balancerName, clusterId, nodeIn, project, region, serviceWith, zones } from '../../test-server/world.ts';
import { annotation } from '../annotations.ts';

const { ensure, get, update, one, quietly, remove, reopen, world } = useBalancers();

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
    expect(await get(changed)).toEqual({});
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
  it('opens nothing without nodes, lets in source ranges alone, and names nodes by their own tags', async () => {
    await reopen({ 'node-tags': [] });
    await ensure(serviceWith(), []);
    expect(world.server.projects.of('firewall')).toEqual([]);
    world.server.projects.addInstance(project, zones[0], 'pool-1-a', { tags: ['pool', 'pool-1', 'web'] });
    await update(serviceWith(), [nodeIn(zones[0], 'pool-1-a')]);
    const names = world.server.projects.of('firewall').map(({ name }) => name);
    expect(names).toHaveLength(2);
    expect(one('firewall', `k8s-fw-${balancerName}`)).toMatchObject({ targetTags: ['pool-1'], sourceRanges: ['0.0.0.0/0'] });
    // While no node is there, a rule lets in nobody whom the Service allows no longer.
    await ensure(serviceWith({}, { loadBalancerSourceRanges: ['198.51.100.0/24'] }), []);
    const narrowed = { targetTags: ['pool-1'], sourceRanges: ['198.51.100.0/24'] };
    expect(one('firewall', `k8s-fw-${balancerName}`)).toMatchObject(narrowed);
    world.server.projects.addInstance(project, zones[0], 'pool-2-a', { tags: ['pool-2'] });
    await update(serviceWith({}, { loadBalancerSourceRanges: ['198.51.100.0/24'] }), [nodeIn(zones[0], 'pool-2-a')]);
    expect(one('firewall', `k8s-fw-${balancerName}`)).toMatchObject({ ...narrowed, targetTags: ['pool-2'] });
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
    expect((await rejection(update(serviceWith(), [nodeIn(zones[0], 'nobody')]))).message).toContain(
      'none of the instances of nobody exists',
    );
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
