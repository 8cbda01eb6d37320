// BLB: ordinary load balancers (https://cloud.baidu.com/doc/BLB/s/njwvxnv79), their listeners and backend servers.
import type { Routes, VendorRequest } from 'sagong/cloud-provider/test-server';
import type { Tag } from '../api/types.ts';
import { type Account, bodyOf, type StoredBalancer } from './account.ts';
import { backendRoutes } from './backends.ts';
import { listAnswer } from './lists.ts';
import { listenerRoutes } from './listeners.ts';
import { inUse, invalid, noSuch, quota } from './refusals.ts';

const namePattern = /^[A-Za-z][\w/.-]{0,64}$/;
const descriptionBytesMax = 450;
const balancersMax = 2_000;

function checkNames({ name, desc }: Record<string, unknown>): void {
  if (name !== undefined && !namePattern.test(String(name))) throw invalid('name');
  if (desc !== undefined && Buffer.byteLength(String(desc)) > descriptionBytesMax) throw invalid('desc');
}

function make(account: Account, request: VendorRequest): unknown {
  const { name, desc = '', vpcId, subnetId, tags = [] } = bodyOf(request);
  checkNames({ name, desc });
  const subnet = account.get('subnet', String(subnetId));
  if (!subnet) throw noSuch('subnet', String(subnetId));
  if (subnet.vpcId !== vpcId) throw invalid('vpcId');
  if (account.of('balancer').length >= balancersMax) throw quota('BLB');
  const made = account.addBalancer(String(name ?? account.id('blb')), {
    desc: String(desc),
    vpcId: String(vpcId),
    subnetId: String(subnetId),
    tags: tags as Tag[],
    status: 'creating',
  });
  const { blbId, address } = made;
  const work = (): void => {
    const there = account.get('balancer', blbId);
    if (there) account.put('balancer', { ...there, status: 'available' });
  };
  account.operations.begin({ kind: 'create', target: `balancer ${blbId}`, work });
  return { blbId, name: made.name, desc: made.desc, address };
}

export function balancerRoutes(account: Account): Routes {
  const shown = (balancer: StoredBalancer): object => {
    const { groups: _groups, ...plain } = balancer;
    const bound = account.seenOf('eip').find(({ instanceId, status }) => instanceId === balancer.blbId && status === 'binded');
    return { ...plain, publicIp: bound?.eip ?? '' };
  };
  const fits =
    ({ url: { searchParams: query } }: VendorRequest) =>
    ({ blbId, name, address }: StoredBalancer): boolean => {
      const isExact = query.get('exactlyMatch') === 'true';
      const matches = (asked: string | null, value: string): boolean =>
        !asked || (isExact ? value === asked : value.includes(asked));
      return matches(query.get('blbId'), blbId) && matches(query.get('name'), name) && matches(query.get('address'), address);
    };
  return {
    'GET /v1/blb': (request) =>
      listAnswer(
        'blbList',
        account.seenOf('balancer').filter(fits(request)).map(shown) as StoredBalancer[],
        (one) => one.blbId,
        request,
      ),
    'POST /v1/blb': (request) => ({ body: account.once(request, () => make(account, request)) }),
    'GET /v1/blb/{id}': ({ params: { id = '' } }) => {
      const listener = account.seenOf('listener').filter(({ blbId }) => blbId === id);
      const ports = listener.map(({ listenerPort, kind }) => ({ port: String(listenerPort), type: kind }));
      return { body: { ...shown(account.seen('balancer', id)), listener: ports } };
    },
    'PUT /v1/blb/{id}': (request) => {
      const { id = '' } = request.params;
      const { name, desc } = bodyOf(request);
      checkNames({ name, desc });
      const there = account.must('balancer', id);
      account.free('balancer', id);
      account.put('balancer', {
        ...there,
        ...(name !== undefined && { name: String(name) }),
        ...(desc !== undefined && { desc: String(desc) }),
      });
      return { status: 200 };
    },
    'DELETE /v1/blb/{id}': ({ params: { id = '' } }) => {
      const { allowDelete } = account.must('balancer', id);
      account.free('balancer', id);
      if (!allowDelete) throw invalid('the BLB is protected from deletion');
      if (account.eipOf(id)) throw inUse('balancer', id);
      for (const kind of ['listener', 'backend'] as const)
        for (const one of account.of(kind)) if (one.blbId === id) account.delete(kind, one.id);
      account.delete('balancer', id);
      return { status: 200 };
    },
    ...listenerRoutes(account),
    ...backendRoutes(account),
  };
}
