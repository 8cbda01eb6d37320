// EIP: public addresses (https://cloud.baidu.com/doc/EIP/s/Wjwvz30fv), made and bound in the cloud's own time; a binding may fail late.
import type { Routes, VendorRequest } from 'sagong/cloud-provider/test-server';
import type { Eip, EipRequest, EipStatus } from '../api/types.ts';
import { type Account, bodyOf } from './account.ts';
import { listAnswer } from './lists.ts';
import { inUse, invalid, noSuch, quota } from './refusals.ts';

const eipsMax = 2_000;

function checkBandwidth(
  bandwidth: unknown,
  { paymentTiming, billingMethod }: { paymentTiming?: string; billingMethod?: string | null },
) {
  const max = paymentTiming === 'Postpaid' && billingMethod === 'ByTraffic' ? 1_000 : 200;
  if (!Number.isInteger(bandwidth) || Number(bandwidth) < 1 || Number(bandwidth) > max) throw invalid('bandwidthInMbps');
}

/** Takes the state in between at once, and the last one when its time has come. */
const becoming =
  (account: Account) =>
  (eip: Eip, meanwhile: EipStatus, after: () => Partial<Eip>): void => {
    account.put('eip', { ...eip, status: meanwhile });
    const work = (): void => {
      const there = account.get('eip', eip.eip);
      if (there) account.put('eip', { ...there, ...after() });
    };
    account.operations.begin({ kind: meanwhile, target: `eip ${eip.eip}`, work });
  };

function make(account: Account, request: VendorRequest): unknown {
  const { name = '', bandwidthInMbps, billing, tags = [] } = bodyOf<EipRequest>(request);
  const { paymentTiming, billingMethod = null, reservation } = billing;
  if (paymentTiming !== 'Prepaid' && paymentTiming !== 'Postpaid') throw invalid('paymentTiming');
  if (paymentTiming === 'Prepaid' && !reservation?.reservationLength) throw invalid('reservation');
  if (paymentTiming === 'Postpaid' && !['ByTraffic', 'ByBandwidth'].includes(billingMethod ?? '')) throw invalid('billingMethod');
  if (name.length > 65) throw invalid('name');
  checkBandwidth(bandwidthInMbps, { paymentTiming, billingMethod });
  if (account.of('eip').length >= eipsMax) throw quota('EIP');
  const made = account.addEip(name, { bandwidthInMbps, paymentTiming, billingMethod, tags, status: 'creating' });
  becoming(account)(made, 'creating', () => ({ status: 'available' }));
  return { eip: made.eip };
}

/** As it is before a change. Throws while it has another one under way. */
function changing(account: Account, { params: { eip = '' } }: VendorRequest): Eip {
  const there = account.must('eip', eip);
  account.free('eip', eip);
  return there;
}

function bind(account: Account, request: VendorRequest): void {
  const there = changing(account, request);
  const { instanceType, instanceId } = bodyOf(request) as { instanceType: string; instanceId: string };
  if (there.status !== 'available') throw inUse('eip', there.eip);
  if (instanceType !== 'BLB' || !account.get('balancer', instanceId)) throw noSuch(instanceType, instanceId);
  if (account.eipOf(instanceId)) throw inUse('balancer', instanceId);
  account.free('balancer', instanceId);
  const faults = account.faults();
  becoming(account)({ ...there, instanceType, instanceId }, 'binding', () =>
    faults.happens('lateFailure', faults.rates.lateFailure) || !account.get('balancer', instanceId)
      ? { status: 'available', instanceType: null, instanceId: null }
      : { status: 'binded' },
  );
}

export function eipRoutes(account: Account): Routes {
  const become = becoming(account);
  return {
    'GET /v1/eip': (request) => {
      const query = request.url.searchParams;
      const asked = (name: string, value: unknown): boolean => !query.get(name) || query.get(name) === value;
      const names = ['eip', 'instanceType', 'instanceId', 'name', 'status'] as const;
      const found = account.seenOf('eip').filter((one) => names.every((name) => asked(name, one[name])));
      return listAnswer('eipList', found, ({ eip }) => eip, request);
    },
    'POST /v1/eip': (request) => ({ body: account.once(request, () => make(account, request)) }),
    'PUT /v1/eip/{eip}?bind=': (request) => {
      bind(account, request);
      return { status: 200 };
    },
    'PUT /v1/eip/{eip}?unbind=': (request) => {
      const there = changing(account, request);
      if (there.status !== 'binded') throw inUse('eip', there.eip);
      become(there, 'unbinding', () => ({ status: 'available', instanceType: null, instanceId: null }));
      return { status: 200 };
    },
    'PUT /v1/eip/{eip}?resize=': (request) => {
      const there = changing(account, request);
      const { newBandwidthInMbps } = bodyOf(request) as { newBandwidthInMbps: number };
      checkBandwidth(newBandwidthInMbps, there);
      become(there, 'updating', () => ({ status: there.status, bandwidthInMbps: newBandwidthInMbps }));
      return { status: 200 };
    },
    'DELETE /v1/eip/{eip}': (request) => {
      const { eip, status, paymentTiming } = changing(account, request);
      if (status !== 'available') throw inUse('eip', eip);
      if (paymentTiming === 'Prepaid') throw invalid('a prepaid EIP cannot be released before it expires');
      account.delete('eip', eip);
      return { status: 200 };
    },
  };
}
