// VPC: the route table (https://cloud.baidu.com/doc/VPC/s/8jwvyu9j2) and subnets; BCC: instances (https://cloud.baidu.com/doc/BCC/s/Fjwvyo8mb).
import type { Routes, VendorRequest } from 'sagong/cloud-provider/test-server';
import type { RouteRequest } from '../api/types.ts';
import { type Account, bodyOf } from './account.ts';
import { listAnswer } from './lists.ts';
import { exists, invalid, noSuch, quota } from './refusals.ts';

/** The most rules that one table may have, by the vendor's quota. */
export const rulesMax = 100;
export const tableOf = (vpcId: string): string => vpcId.replace('vpc-', 'rt-');

export function networkRoutes(account: Account): Routes {
  const make = (request: VendorRequest): unknown => {
    const {
      routeTableId,
      sourceAddress,
      destinationAddress,
      nexthopId,
      nexthopType,
      description = '',
    } = bodyOf<RouteRequest>(request);
    const isRange = (text: unknown): boolean => /^[\da-f.:]+\/\d{1,3}$/.test(String(text));
    if (!isRange(sourceAddress) || !isRange(destinationAddress)) throw invalid('address');
    if (nexthopType === 'custom' && !account.get('instance', nexthopId)) throw noSuch('instance', nexthopId);
    const ofTable = account.of('rule').filter((one) => one.routeTableId === routeTableId);
    if (ofTable.some((one) => one.sourceAddress === sourceAddress && one.destinationAddress === destinationAddress))
      throw exists(`route rule ${destinationAddress}`);
    if (ofTable.length >= rulesMax) throw quota('route rule');
    const routeRuleId = account.id('rr');
    account.put('rule', {
      routeRuleId,
      routeTableId,
      sourceAddress,
      destinationAddress,
      nexthopId,
      nexthopType,
      description,
    });
    return { routeRuleId };
  };
  return {
    'GET /v1/route': ({ url: { searchParams: query } }) => {
      const vpcId = query.get('vpcId');
      const routeTableId = query.get('routeTableId') ?? tableOf(vpcId ?? '');
      if (!routeTableId) throw invalid('vpcId');
      const routeRules = account.seenOf('rule').filter((one) => one.routeTableId === routeTableId);
      return { body: { name: 'main', routeTableId, vpcId: routeTableId.replace('rt-', 'vpc-'), routeRules } };
    },
    'POST /v1/route/rule': (request) => ({ body: account.once(request, () => make(request)) }),
    'DELETE /v1/route/rule/{id}': ({ params: { id = '' } }) => {
      account.must('rule', id);
      account.delete('rule', id);
      return { status: 200 };
    },
    'GET /v1/subnet': (request) => {
      const vpcId = request.url.searchParams.get('vpcId');
      const all = account.seenOf('subnet').filter((one) => !vpcId || one.vpcId === vpcId);
      return listAnswer('subnets', all, ({ subnetId }) => subnetId, request);
    },
    'GET /v1/subnet/{id}': ({ params: { id = '' } }) => ({ body: { subnet: account.seen('subnet', id) } }),
    'GET /v2/instance': (request) => {
      const query = request.url.searchParams;
      const asked = (name: string, value: string): boolean =>
        !query.get(name) || query.get(name)?.split(',').includes(value) === true;
      const found = account
        .seenOf('instance')
        .filter(
          ({ vpcId, id, internalIp }) => asked('vpcId', vpcId) && asked('instanceIds', id) && asked('internalIp', internalIp),
        );
      return listAnswer('instances', found, ({ id }) => id, request);
    },
    'GET /v2/instance/{id}': ({ params: { id = '' } }) => ({ body: { instance: account.seen('instance', id) } }),
  };
}
