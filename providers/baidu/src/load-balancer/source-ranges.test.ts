// Who may reach a load balancer: security groups.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { leftoversOf } from '../../test-server/conformance-world.ts';
import { addNodes, serviceWith } from '../../test-server/world.ts';
import { type BalancerWorld, openBalancers } from '../../test-server/balancer-world.ts';

let world: BalancerWorld;
beforeEach(async () => void (world = await openBalancers()));
afterEach(() => world.server.close());

const from = (...loadBalancerSourceRanges: string[]) => serviceWith({}, { loadBalancerSourceRanges });
const groups = () => world.server.account.of('group');

it('source ranges are rules of a security group, bound before the ports are open', async () => {
  const done = await world.writes(() => world.ensure(from('10.0.0.0/8', '2400:da00::/32'), addNodes(world, ['node-a'])));
  expect(done.slice(0, 4)).toEqual(['POST blb', 'POST securityGroup', 'PUT blb/#/securitygroup?bind', 'POST blb/#/TCPlistener']);
  const rule = { direction: 'ingress', protocol: 'tcp', portRange: '80' };
  expect(groups()).toMatchObject([
    {
      rules: [
        { ...rule, ethertype: 'IPv4', sourceIp: '10.0.0.0/8' },
        { ...rule, ethertype: 'IPv6', sourceIp: '2400:da00::/32' },
      ],
    },
  ]);
  expect(world.balancers()).toMatchObject([{ groups: [groups()[0]?.id] }]);
});
it('they change in place: who comes first, who goes last', async () => {
  await world.ensure(from('10.0.0.0/8', '10.1.0.0/16'));
  const done = await world.writes(() => world.ensure(from('10.1.0.0/16', '10.2.0.0/16')));
  expect(done).toEqual(['PUT securityGroup/#?authorizeRule', 'PUT securityGroup/#?revokeRule']);
  expect(groups()[0]?.rules.map(({ sourceIp }) => sourceIp)).toEqual(['10.1.0.0/16', '10.2.0.0/16']);
});
it('without them there is none, again and again', async () => {
  for (let round = 0; round < 3; round++) {
    await world.ensure(from('10.0.0.0/8'));
    expect(groups()).toHaveLength(1);
    await world.ensure(from('0.0.0.0/0'));
    expect([groups(), world.balancers()[0]?.groups]).toEqual([[], []]);
  }
});
it('groups that others bound stay', async () => {
  await world.ensure(from('10.0.0.0/8'));
  const theirs = world.server.account.put('group', { id: 'g-theirs', name: 'theirs', desc: '', vpcId: 'vpc-k8s', rules: [] });
  const [balancer] = world.balancers();
  if (balancer) world.server.account.put('balancer', { ...balancer, groups: [...balancer.groups, theirs.id] });
  await world.ensure(serviceWith());
  expect([groups(), world.balancers()[0]?.groups]).toEqual([[theirs], [theirs.id]]);
});
it('what is left of them exists, and goes with the Service', async () => {
  const service = from('10.0.0.0/8');
  await world.ensure(service);
  world.server.faults.add({ method: 'DELETE', path: /securityGroup/, status: 403, code: 'AccessDenied' });
  await expect(world.remove(service)).rejects.toThrow('DeleteSecurityGroup: [403 AccessDenied]');
  expect(await world.get(service)).toEqual({});
  await world.remove(service);
  expect([leftoversOf(world.server), await world.get(service)]).toEqual([[], undefined]);
});
it('of a load balancer that stays they are unbound', async () => {
  const { blbId } = world.server.account.addBalancer('mine');
  const service = serviceWith({ 'cce-load-balancer-exist-id': blbId }, { loadBalancerSourceRanges: ['10.0.0.0/8'] });
  await world.ensure(service);
  await world.remove(service);
  expect([groups(), world.balancers()]).toMatchObject([[], [{ blbId, groups: [] }]]);
});
