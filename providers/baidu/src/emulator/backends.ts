// Backend servers of load balancers (https://cloud.baidu.com/doc/BLB/s/Ujwvxnvxe): instances of the same VPC, by weight.
import type { Routes, VendorRequest } from 'sagong/cloud-provider/test-server';
import { type Account, bodyOf, type StoredBackend } from './account.ts';
import { listAnswer } from './lists.ts';
import { exists, invalid, noSuch, quota } from './refusals.ts';

const backendsMax = 50;

interface Given {
  instanceId: string;
  weight: number;
}

export function backendRoutes(account: Account): Routes {
  const of = (blbId: string): StoredBackend[] => account.of('backend').filter((one) => one.blbId === blbId);
  const changing = ({ params: { id = '' } }: VendorRequest) => {
    account.free('balancer', id);
    return account.must('balancer', id);
  };
  const given = (request: VendorRequest): Given[] => {
    const { backendServerList } = bodyOf(request);
    if (!Array.isArray(backendServerList) || backendServerList.length === 0) throw invalid('backendServerList');
    for (const { weight } of backendServerList as Given[])
      if (!Number.isInteger(weight) || weight < 0 || weight > 100) throw invalid('weight');
    return backendServerList as Given[];
  };
  const idOf = (blbId: string, instanceId: string): string => `${blbId} ${instanceId}`;
  return {
    'GET /v1/blb/{id}/backendserver': (request) => {
      const { id = '' } = request.params;
      account.seen('balancer', id);
      const all = account.seenOf('backend').filter(({ blbId }) => blbId === id);
      const shown = all.map(({ instanceId, weight }) => ({
        instanceId,
        weight,
        privateIp: account.get('instance', instanceId)?.internalIp ?? '',
      }));
      return listAnswer('backendServerList', shown, ({ instanceId }) => instanceId, request);
    },
    'POST /v1/blb/{id}/backendserver': (request) => {
      const { blbId, vpcId } = changing(request);
      const list = given(request);
      for (const { instanceId } of list) {
        const instance = account.get('instance', instanceId);
        if (instance?.vpcId !== vpcId) throw noSuch('instance', instanceId);
        if (account.get('backend', idOf(blbId, instanceId))) throw exists(`backend server ${instanceId}`);
      }
      if (of(blbId).length + list.length > backendsMax) throw quota('backend server');
      for (const { instanceId, weight } of list)
        account.put('backend', { id: idOf(blbId, instanceId), blbId, instanceId, weight });
      return { status: 200 };
    },
    'PUT /v1/blb/{id}/backendserver?update=': (request) => {
      const { blbId } = changing(request);
      const list = given(request);
      for (const { instanceId } of list) account.must('backend', idOf(blbId, instanceId));
      for (const { instanceId, weight } of list)
        account.put('backend', { ...account.must('backend', idOf(blbId, instanceId)), weight });
      return { status: 200 };
    },
    'PUT /v1/blb/{id}/backendserver': (request) => {
      const { blbId } = changing(request);
      const { backendServerList } = bodyOf(request);
      if (!Array.isArray(backendServerList)) throw invalid('backendServerList');
      for (const instanceId of backendServerList as string[]) account.must('backend', idOf(blbId, instanceId));
      for (const instanceId of backendServerList as string[]) account.delete('backend', idOf(blbId, instanceId));
      return { status: 200 };
    },
  };
}
