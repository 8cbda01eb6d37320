// Public addresses: made, bound, resized, released; and those of users, which are only bound and unbound.
import { retryAfterOf } from 'sagong/cloud-provider';
import { noRates } from 'sagong/cloud-provider/test-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { leftoversOf } from '../../test-server/conformance-world.ts';
import { addNodes, clusterId, serviceWith } from '../../test-server/world.ts';
import { type BalancerWorld, openBalancers } from '../../test-server/balancer-world.ts';

let world: BalancerWorld;
beforeEach(async () => void (world = await openBalancers()));
afterEach(() => world.server.close());

const serviceAt = (loadBalancerIP: string) => serviceWith({}, { loadBalancerIP });

describe('an EIP', () => {
  it.each([
    [{}, { bandwidthInMbps: 1_000, paymentTiming: 'Postpaid', billingMethod: 'ByTraffic' }],
    [
      { 'cce-elastic-ip-billing-method': 'ByBandwidth', 'cce-elastic-ip-name': 'front' },
      { bandwidthInMbps: 200, billingMethod: 'ByBandwidth', name: 'front' },
    ],
    [{ 'cce-elastic-ip-bandwidth-in-mbps': '7' }, { bandwidthInMbps: 7 }],
    [
      { 'cce-elastic-ip-payment-timing': 'Prepaid', 'cce-elastic-ip-reservation-length': '12' },
      { bandwidthInMbps: 200, paymentTiming: 'Prepaid' },
    ],
  ])('asked for by %j is %j', async (annotations, expected) => {
    await world.ensure(serviceWith(annotations));
    expect(world.eips()).toMatchObject([expected]);
  });
  it('is resized in place', async () => {
    await world.ensure(serviceWith({ 'cce-elastic-ip-bandwidth-in-mbps': '7' }));
    const [before] = world.eips();
    const done = await world.writes(() => world.ensure(serviceWith({ 'cce-elastic-ip-bandwidth-in-mbps': '9' })));
    expect(done).toEqual(['PUT eip/#?resize']);
    expect(world.eips()).toMatchObject([{ eip: before?.eip, bandwidthInMbps: 9 }]);
  });
  it('does not change how it is paid for', async () => {
    await world.ensure(serviceWith());
    await expect(world.ensure(serviceWith({ 'cce-elastic-ip-billing-method': 'ByBandwidth' }))).rejects.toThrow(
      'not support change ElasticIP PaymentTiming or ElasticIP BillingMethod',
    );
  });
  it('that is prepaid is unbound, and stays, with an event', async () => {
    const service = serviceWith({ 'cce-elastic-ip-payment-timing': 'Prepaid', 'cce-elastic-ip-reservation-length': '1' });
    await world.ensure(service);
    await world.remove(service);
    expect(world.eips()).toMatchObject([{ status: 'available' }]);
    expect(world.cluster.events).toMatchObject([{ reason: 'PrepaidEIPKept' }]);
    expect(await world.get(service)).toBeUndefined();
  });
  it('is waited for while it is made and bound', async () => {
    world.server.faults.rates = { ...noRates, operationMs: 3_000 };
    const { ingress } = await world.ensure(serviceWith(), addNodes(world, ['node-a']));
    expect(world.eips()).toMatchObject([{ eip: ingress?.[0]?.ip, status: 'binded' }]);
    await world.remove(serviceWith());
    expect(leftoversOf(world.server)).toEqual([]);
  });
  it('whose binding fails late is bound by the next call', async () => {
    world.server.faults.rates = { ...noRates, operationMs: 500, lateFailure: 1 };
    const error = await world.ensure(serviceWith()).catch((one: unknown) => one);
    expect(retryAfterOf(error)).toBe(5_000);
    world.server.faults.clear();
    const { ingress } = await world.ensure(serviceWith());
    expect(world.eips()).toMatchObject([{ eip: ingress?.[0]?.ip, status: 'binded' }]);
  });
});

describe('an address of somebody else’s', () => {
  it('stays as it is, bound or not, whatever the notes of a Service say', async () => {
    const service = serviceWith({ 'cce-load-balancer-lb-name': 'prod-nat' });
    for (const bound of [true, false]) {
      const { eip } = world.server.account.addEip('prod-nat');
      const there = world.eips().find((one) => one.eip === eip);
      if (there && bound) Object.assign(there, { status: 'binded', instanceType: 'NAT', instanceId: 'nat-1' });
      const before = structuredClone(there);
      const noted = { ...service, metadata: { ...service.metadata, annotations: { ...service.metadata.annotations } } };
      noted.metadata.annotations['service.beta.kubernetes.io/cce-load-balancer-cce-add-eip'] = eip;
      await world.ensure(noted);
      await world.remove(noted);
      expect(world.eips().find((one) => one.eip === eip)).toEqual(before);
    }
  });
});

describe('an address of the user’s own', () => {
  it('is bound, and only unbound when the Service goes', async () => {
    const { eip } = world.server.account.addEip('mine');
    expect(await world.ensure(serviceAt(eip))).toEqual({ ingress: [{ ip: eip }] });
    await world.remove(serviceAt(eip));
    expect(world.eips()).toMatchObject([{ eip, status: 'available' }]);
    expect(leftoversOf(world.server)).toEqual([`EIP ${eip}`]);
  });
  it('takes the place of the one that was made, which is released', async () => {
    await world.ensure(serviceWith());
    const { eip } = world.server.account.addEip('mine');
    await world.ensure(serviceAt(eip));
    expect(world.eips()).toMatchObject([{ eip, status: 'binded' }]);
    const second = world.server.account.addEip('mine too');
    await world.ensure(serviceAt(second.eip));
    expect(world.eips()).toMatchObject([
      { eip, status: 'available' },
      { eip: second.eip, status: 'binded' },
    ]);
  });
  it('stays when the Service does not name it any more', async () => {
    const { eip } = world.server.account.addEip('mine');
    await world.ensure(serviceAt(eip));
    expect(await world.ensure(serviceWith({ 'cce-elastic-ip-bandwidth-in-mbps': '99' }))).toEqual({ ingress: [{ ip: eip }] });
    expect(world.eips()).toMatchObject([{ eip, bandwidthInMbps: 10 }]);
    await world.remove(serviceWith());
    expect(world.eips()).toMatchObject([{ eip, status: 'available' }]);
  });
  it('that is not there, or bound to something else, is refused in words', async () => {
    await expect(world.ensure(serviceAt('106.12.9.9'))).rejects.toThrow('EIP 106.12.9.9 not Exist');
    const { eip } = world.server.account.addEip('theirs', { status: 'binded', instanceType: 'BCC', instanceId: 'i-9' });
    await expect(world.ensure(serviceAt(eip))).rejects.toThrow(`EIP ${eip} is bound to i-9`);
    expect(world.eips()).toMatchObject([{ instanceId: 'i-9' }]);
  });
});

it('of others are never touched', async () => {
  const theirs = world.server.account.addEip('theirs');
  const upstreams = world.server.account.addEip(`CCE/SVC/${clusterId}/shop/other`);
  await world.ensure(serviceWith());
  await world.remove(serviceWith());
  expect(world.eips()).toEqual([theirs, upstreams]);
});
