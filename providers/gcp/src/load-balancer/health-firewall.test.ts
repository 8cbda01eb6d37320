// The firewall rule that lets in the health checks of one Service is there while the check is, whatever fails or comes late in between.
import { describe, expect, it } from 'vitest';
import { rejection } from 'sagong/cloud-provider/test-server';
import { internal, local, useBalancers } from '../../test-server/balancer-tests.ts';
import { addNodes, serviceWith } from '../../test-server/world.ts';

const { ensure, remove, update, world } = useBalancers();
const ofHealth = (): string[] =>
  world.server.projects
    .of('firewall')
    .map(({ name }) => name)
    .filter((name) => name.endsWith('-hc'));

describe.each([
  ['an internal', internal, 'gke.networking.io/l4-ilb-v1'],
  ['an external', {}, 'gke.networking.io/l4-netlb-v1'],
])('the firewall of the health check of %s load balancer', (_kind, annotations, finalizer) => {
  const held = { finalizers: [finalizer] };
  const own = () => ofHealth().filter((name) => /a[0-9a-f]{31}/.test(name));
  it('goes when its deletion failed once', async () => {
    const nodes = addNodes(world, 'node-a');
    await ensure(serviceWith(annotations, local, held), nodes);
    expect(own()).toHaveLength(1);
    world.server.faults.add({ method: 'DELETE', path: /firewalls\/.*hc$/, status: 400, message: 'not now' });
    expect((await rejection(ensure(serviceWith(annotations, {}, held), nodes))).message).toContain('not now');
    await ensure(serviceWith(annotations, {}, held), nodes);
    expect(own()).toEqual([]);
    await remove(serviceWith(annotations, {}, held));
    expect(world.server.projects.of('firewall')).toEqual([]);
  });
  it('of all nodes goes when its deletion failed once', async () => {
    const nodes = addNodes(world, 'node-a');
    await ensure(serviceWith(annotations, {}, held), nodes);
    world.server.faults.add({ method: 'DELETE', path: /firewalls\/.*hc$/, status: 400, message: 'not now' });
    expect((await rejection(ensure(serviceWith(annotations, local, held), nodes))).message).toContain('not now');
    await ensure(serviceWith(annotations, local, held), nodes);
    expect(ofHealth()).toEqual(own());
  });
  it('is not made by an update for a check that the load balancer does not have', async () => {
    const nodes = addNodes(world, 'node-a');
    await ensure(serviceWith(annotations, {}, held), nodes);
    await update(serviceWith(annotations, local, held), nodes);
    expect(own()).toEqual([]);
  });
});
