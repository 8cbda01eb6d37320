// NodeBalancers that are found again, whatever is lost, and those of others.
import { rejection } from 'sagong/cloud-provider/test-server';
import { describe, expect, it } from 'vitest';
import { useBalancers } from '../../test-server/balancer-tests.ts';
import { leftoversOf } from '../../test-server/conformance-world.ts';
import { addNodes, serviceWith } from '../../test-server/world.ts';
import { serviceTag } from '../names.ts';

const { ensure, get, one, remove, reopen, world } = useBalancers();

describe('a NodeBalancer is found again', () => {
  it('by the UID of its Service, when the status is lost', async () => {
    const nodes = addNodes(world, ['node-a']);
    const before = await ensure(serviceWith(), nodes);
    expect(await get(serviceWith())).toEqual(before);
    await reopen();
    expect(await ensure(serviceWith(), nodes)).toEqual(before);
    one();
  });
  it('by its tag, when somebody gave it another label', async () => {
    const nodes = addNodes(world, ['node-a']);
    const before = await ensure(serviceWith(), nodes);
    world.server.account.put('balancer', { ...one(), label: 'renamed' });
    expect(await ensure(serviceWith(), nodes)).toEqual(before);
    await remove(serviceWith());
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('by address or name in the status, as linode-cloud-controller-manager left it', async () => {
    const nodes = addNodes(world, ['node-a']);
    const { ingress = [] } = await ensure(serviceWith(), nodes);
    const old = () => world.server.account.put('balancer', { ...one(), label: 'ccm-0123456789ab', tags: ['kubernetes'] });
    for (const status of [{ ip: ingress[0]?.ip as string }, { hostname: ingress[0]?.hostname as string }]) {
      old();
      const service = serviceWith({}, {}, { status: { loadBalancer: { ingress: [status] } } });
      expect(await ensure(service, nodes)).toEqual({ ingress });
      expect(one().tags).toContain(serviceTag(service));
    }
  });
  it('but not one of another Service, whose address the status still has', async () => {
    const nodes = addNodes(world, ['node-a']);
    const other = serviceWith({}, {}, { metadata: { name: 'other', namespace: 'shop', uid: 'another-uid-0001' } });
    const { ingress = [] } = await ensure(other, nodes);
    const stale = serviceWith({}, {}, { status: { loadBalancer: { ingress } } });
    await remove(stale);
    expect(await get(other)).toEqual({ ingress });
    expect((await ensure(stale, nodes)).ingress).not.toEqual(ingress);
  });
  it.each(['__proto__', 'true', 'a'.repeat(60_000)])(
    'and goes with its Service, whose annotated ID %.10s never named any',
    async (id) => {
      await ensure(serviceWith(), addNodes(world, ['node-a']));
      await remove(serviceWith({ 'nodebalancer-id': id }));
      expect(leftoversOf(world.server)).toEqual([]);
    },
  );
  it('by the ID that an annotation names; what served before goes', async () => {
    const nodes = addNodes(world, ['node-a']);
    await ensure(serviceWith(), nodes);
    const first = one();
    const { account } = world.server;
    const mine = account.put('balancer', {
      ...first,
      id: account.id(),
      label: 'mine',
      tags: [],
      ipv4: '172.234.9.9',
      hostname: 'mine.example',
    });
    const service = serviceWith({ 'nodebalancer-id': String(mine.id) });
    expect(await ensure(service, nodes)).toEqual({ ingress: [{ hostname: 'mine.example', ip: '172.234.9.9' }] });
    expect(one().label).toBe('mine');
    const taken = serviceWith(
      { 'nodebalancer-id': String(mine.id) },
      {},
      { metadata: { ...service.metadata, uid: 'another-uid-0002' } },
    );
    expect((await rejection(ensure(taken, nodes))).message).toContain(
      `NodeBalancer (${mine.id}) is the load balancer of another service`,
    );
    expect((await rejection(ensure(serviceWith({ 'nodebalancer-id': '9' }), nodes))).message).toContain(
      'LoadBalancer (9) not found for service (shop/web)',
    );
  });
  it('preserved when its Service goes, and taken over by another one', async () => {
    const nodes = addNodes(world, ['node-a']);
    await ensure(serviceWith({ preserve: 'true' }), nodes);
    await remove(serviceWith({ preserve: 'true' }));
    const { id, tags } = one();
    expect(tags).toEqual(['kubernetes']);
    const next = serviceWith(
      { 'nodebalancer-id': String(id) },
      {},
      { metadata: { name: 'next', namespace: 'shop', uid: 'another-uid-0003' } },
    );
    const annotated = {
      ...next,
      metadata: { ...next.metadata, annotations: serviceWith({ 'nodebalancer-id': String(id) }).metadata.annotations ?? {} },
    };
    await ensure(annotated, nodes);
    expect(one().id).toBe(id);
  });
});
