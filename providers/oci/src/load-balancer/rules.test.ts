import { noRates, testService, testServiceUid } from 'sagong/cloud-provider/test-server';
import { describe, expect, it } from 'vitest';
import { http, https, nlb, useBalancers } from '../../test-server/balancer-tests.ts';
import { leftoversOf } from '../../test-server/conformance-world.ts';
import { balancerList, compartment, nodeList, nodeSubnet, vcn } from '../../test-server/index.ts';
import { addNodes } from '../../test-server/world.ts';
import { annotation, nameFor } from '../annotations.ts';
import { listRuleMark } from '../names.ts';

const { ensure, nodes, only, remove, reopen, update, world } = useBalancers();
const rulesIn = (id: string, side: 'ingress' | 'egress'): string[] => {
  const list = world.server.account.must('list', id);
  const all = side === 'ingress' ? list.ingressSecurityRules : list.egressSecurityRules;
  return all
    .map(
      (rule) =>
        `${'source' in rule ? rule.source : (rule as { destination: string }).destination} ${rule.tcpOptions?.destinationPortRange?.min}`,
    )
    .toSorted();
};

describe('rules', () => {
  it('in security lists let clients in, and the load balancer to the nodes', async () => {
    const service = testService({}, { loadBalancerSourceRanges: ['198.51.100.0/24', '203.0.113.0/24'] });
    await ensure(service);
    expect(rulesIn(balancerList, 'ingress')).toEqual(['198.51.100.0/24 80', '203.0.113.0/24 80']);
    expect(rulesIn(balancerList, 'egress')).toEqual(['10.0.10.0/16 10256', '10.0.10.0/16 30080']);
    expect(rulesIn(nodeList, 'ingress')).toEqual(['10.1.20.0/24 10256', '10.1.20.0/24 30080']);

    await ensure(testService({}, { loadBalancerSourceRanges: ['203.0.113.0/24'], ports: [{ ...http, nodePort: 30_081 }] }));
    expect(rulesIn(balancerList, 'ingress')).toEqual(['203.0.113.0/24 80']);
    expect(rulesIn(nodeList, 'ingress')).toEqual(['10.1.20.0/24 10256', '10.1.20.0/24 30081']);
    await remove(service);
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('stay while another load balancer needs them, also one that no Service knows', async () => {
    const [first, second] = [testService(), testService({}, {}, { name: 'other', uid: 'other-uid' })];
    await ensure(first);
    await ensure(second);
    await remove(first);
    expect(rulesIn(balancerList, 'ingress')).toEqual(['0.0.0.0/0 80']);
    await reopen();
    await remove(second);
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('stay for a load balancer in a compartment that another Service names, also after a restart', async () => {
    const elsewhere = { [annotation.compartment]: 'ocid1.compartment.oc1..shop' };
    const [first, second] = [testService(), testService(elsewhere, {}, { name: 'other', uid: 'other-uid' })];
    await ensure(first);
    await ensure(second);
    world.cluster.objects.set('services other', second);
    await reopen();
    await remove(first);
    expect(rulesIn(nodeList, 'ingress')).toEqual(['10.1.20.0/24 10256', '10.1.20.0/24 30080']);
    await remove(second);
    world.cluster.objects.delete('services other');
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('go with the Service that asked for them, also while another has the port for fewer', async () => {
    const first = testService();
    const second = testService({}, { loadBalancerSourceRanges: ['10.0.0.0/8'] }, { name: 'other', uid: 'other-uid' });
    await ensure(first);
    await ensure(second);
    expect(rulesIn(balancerList, 'ingress')).toEqual(['0.0.0.0/0 80', '10.0.0.0/8 80']);
    await remove(first);
    expect(rulesIn(balancerList, 'ingress')).toEqual(['10.0.0.0/8 80']);
    expect(rulesIn(nodeList, 'ingress')).toEqual(['10.1.20.0/24 10256', '10.1.20.0/24 30080']);
  });
  it('of others stay as they are, whatever their ports', async () => {
    const { account } = world.server;
    const theirs = {
      protocol: '6',
      source: '192.0.2.0/24',
      tcpOptions: { destinationPortRange: { min: 80, max: 80 } },
      description: 'theirs',
    };
    account.put('list', { ...account.must('list', balancerList), ingressSecurityRules: [theirs] });
    await ensure(testService());
    await remove(testService());
    expect(account.must('list', balancerList).ingressSecurityRules).toEqual([theirs]);
  });
  it('are for the front only, or none, where that is asked for', async () => {
    await ensure(testService({ [nameFor('lb', 'listMode')]: 'Frontend' }));
    expect(rulesIn(balancerList, 'ingress')).toEqual(['0.0.0.0/0 80']);
    expect([...rulesIn(balancerList, 'egress'), ...rulesIn(nodeList, 'ingress')]).toEqual([]);
    const none = testService({ [annotation.ruleMode]: 'None' }, { ports: [https] }, { name: 'other', uid: 'other' });
    await ensure(none);
    expect(rulesIn(balancerList, 'ingress')).toEqual(['0.0.0.0/0 80']);
  });
  it('are written anew when somebody else writes in between', async () => {
    const { account, faults } = world.server;
    const theirs = { protocol: '17', source: '192.0.2.0/24', description: 'theirs' };
    faults.add({
      method: 'PUT',
      path: /securityLists/,
      then: () => {
        const list = account.must('list', balancerList);
        account.put('list', { ...list, ingressSecurityRules: [theirs], etag: '77' });
      },
    });
    await ensure(testService());
    expect(account.must('list', balancerList).ingressSecurityRules.map(({ description }) => description)).toEqual([
      'theirs',
      listRuleMark('kubernetes'),
    ]);
  });
  it('are in a network security group of the Service, and in those of nodes that it names', async () => {
    const { account } = world.server;
    const group = account.put('group', {
      id: 'ocid1.networksecuritygroup.oc1.phx.nodes',
      compartmentId: compartment,
      vcnId: vcn,
      lifecycleState: 'AVAILABLE',
      etag: '1',
    });
    const asks = { [annotation.ruleMode]: 'NSG', [annotation.backendGroups]: group.id };
    const service = testService(asks);
    await ensure(service);
    const own = account.of('group').find(({ displayName }) => displayName === `shop/web/${testServiceUid}/nsg`);
    expect(only(service).networkSecurityGroupIds).toEqual([own?.id]);
    const texts = () =>
      account
        .of('groupRule')
        .map(
          (rule) =>
            `${rule.group === group.id ? 'nodes' : 'own'} ${rule.direction} ${rule.tcpOptions?.destinationPortRange?.min}`,
        )
        .toSorted();
    expect(texts()).toEqual([
      'nodes INGRESS 10256',
      'nodes INGRESS 30080',
      'own EGRESS 10256',
      'own EGRESS 30080',
      'own INGRESS 80',
    ]);
    expect(account.must('group', group.id).freeformTags).toEqual({ ManagedBy: 'CCM' });
    expect(rulesIn(balancerList, 'ingress')).toEqual([]);

    await ensure(testService({ [annotation.ruleMode]: 'NSG' }));
    expect(texts()).toEqual(['own INGRESS 80']);
    await remove(testService(asks));
    expect(account.of('group')).toEqual([account.must('group', group.id)]);
    expect(account.of('groupRule')).toEqual([]);
  });
  it('go from security lists when they move to a group of its own, or to nobody', async () => {
    const frontend = { [nameFor('lb', 'listMode')]: 'Frontend' };
    for (const elsewhere of [{ [annotation.ruleMode]: 'NSG' }, { [annotation.ruleMode]: 'None' }, frontend]) {
      await ensure(testService());
      await ensure(testService(elsewhere));
      expect(rulesIn(nodeList, 'ingress')).toEqual([]);
      expect(rulesIn(balancerList, 'egress')).toEqual([]);
      expect(rulesIn(balancerList, 'ingress')).toEqual(elsewhere === frontend ? ['0.0.0.0/0 80'] : []);
      await remove(testService(elsewhere));
      expect(leftoversOf(world.server)).toEqual([]);
    }
  });
  it.each(['None', 'All', 'Frontend'])(
    'of a load balancer go when a network load balancer takes its place, with mode %s',
    async (mode) => {
      await ensure(testService());
      const local = { externalTrafficPolicy: 'Local', healthCheckNodePort: 32_000, ports: [https] };
      const changed = testService({ ...nlb, [nameFor('nlb', 'listMode')]: mode }, local);
      await ensure(changed);
      const ports = [nodeList, balancerList].flatMap((list) => [...rulesIn(list, 'ingress'), ...rulesIn(list, 'egress')]);
      expect(ports.filter((rule) => /(10256|30080| 80)$/.test(rule))).toEqual([]);
      await remove(changed);
      expect(leftoversOf(world.server)).toEqual([]);
    },
  );
  it.each(['taken back', 'deleted'])('go of a port whose change failed late, once it is %s', async (what) => {
    const { faults } = world.server;
    await ensure(testService({}, { ports: [http] }));
    faults.rates = { ...noRates, lateFailure: 1 };
    await expect(ensure(testService({}, { ports: [http, https] }))).rejects.toThrow('work request');
    expect(rulesIn(balancerList, 'ingress')).toContain('0.0.0.0/0 443');
    faults.clear();
    if (what === 'taken back') {
      await ensure(testService({}, { ports: [http] }));
      expect(rulesIn(balancerList, 'ingress')).toEqual(['0.0.0.0/0 80']);
      expect(rulesIn(nodeList, 'ingress')).toEqual(['10.1.20.0/24 10256', '10.1.20.0/24 30080']);
    }
    await remove(testService({}, { ports: [http] }));
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('move from a group of its own to security lists', async () => {
    await ensure(testService({ [annotation.ruleMode]: 'NSG' }));
    await ensure(testService());
    expect(world.server.account.of('group')).toEqual([]);
    expect(only(testService()).networkSecurityGroupIds).toEqual([]);
    expect(rulesIn(balancerList, 'ingress')).toEqual(['0.0.0.0/0 80']);
  });
});

it('nodes in another subnet open that subnet’s list as well', async () => {
  const { account } = world.server;
  const id = 'ocid1.subnet.oc1.phx.more';
  account.put('list', { ...account.must('list', nodeList), id: 'ocid1.securitylist.oc1.phx.more' });
  account.put('subnet', { ...account.must('subnet', nodeSubnet), id, securityListIds: ['ocid1.securitylist.oc1.phx.more'] });
  await ensure(testService());
  await update(testService(), [...nodes, ...addNodes(world, ['node-c'], { subnet: id })]);
  expect(rulesIn('ocid1.securitylist.oc1.phx.more', 'ingress')).toEqual(['10.1.20.0/24 10256', '10.1.20.0/24 30080']);
  await remove(testService());
  expect(leftoversOf(world.server)).toEqual([]);
});
