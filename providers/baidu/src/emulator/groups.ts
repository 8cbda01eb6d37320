// Security groups of BCC (https://cloud.baidu.com/doc/BCC/s/Yjwvyo9xs), and those that are bound to load balancers.
import type { Routes, VendorRequest } from 'sagong/cloud-provider/test-server';
import type { GroupRule, SecurityGroup } from '../api/types.ts';
import { type Account, bodyOf } from './account.ts';
import { listAnswer } from './lists.ts';
import { exists, inUse, invalid, noSuch } from './refusals.ts';

const same = (a: GroupRule, b: GroupRule): boolean =>
  (['direction', 'ethertype', 'protocol', 'portRange', 'sourceIp'] as const).every((field) => a[field] === b[field]);

function make(account: Account, request: VendorRequest): unknown {
  const { name, desc = '', vpcId, rules, tags = [] } = bodyOf<Omit<SecurityGroup, 'id'>>(request);
  if (!name || !vpcId || !Array.isArray(rules)) throw invalid('name, vpcId and rules are required');
  const { id } = account.put('group', { id: account.id('g'), name, desc, vpcId, rules, tags });
  return { securityGroupId: id };
}

export function groupRoutes(account: Account): Routes {
  const ruleOf = (request: VendorRequest) => {
    const { rule } = bodyOf(request) as { rule?: GroupRule };
    if (!rule?.direction) throw invalid('rule');
    return { rule, group: account.must('group', request.params['id'] ?? '') };
  };
  const idsOf = (request: VendorRequest) => {
    const { securityGroupIds } = bodyOf(request) as { securityGroupIds?: string[] };
    if (!Array.isArray(securityGroupIds) || securityGroupIds.length === 0) throw invalid('securityGroupIds');
    const { id = '' } = request.params;
    account.free('balancer', id);
    return { ids: securityGroupIds, balancer: account.must('balancer', id) };
  };
  return {
    'GET /v2/securityGroup': (request) => {
      const vpcId = request.url.searchParams.get('vpcId');
      const all = account.seenOf('group').filter((one) => !vpcId || one.vpcId === vpcId);
      return listAnswer('securityGroups', all, ({ id }) => id, request);
    },
    'POST /v2/securityGroup': (request) => ({ body: account.once(request, () => make(account, request)) }),
    'PUT /v2/securityGroup/{id}?authorizeRule=': (request) => {
      const { rule, group } = ruleOf(request);
      if (group.rules.some((one) => same(one, rule))) throw exists('security group rule');
      account.put('group', { ...group, rules: [...group.rules, rule] });
      return { status: 200 };
    },
    'PUT /v2/securityGroup/{id}?revokeRule=': (request) => {
      const { rule, group } = ruleOf(request);
      if (!group.rules.some((one) => same(one, rule))) throw noSuch('rule', group.id);
      account.put('group', { ...group, rules: group.rules.filter((one) => !same(one, rule)) });
      return { status: 200 };
    },
    'DELETE /v2/securityGroup/{id}': ({ params: { id = '' } }) => {
      account.must('group', id);
      if (account.of('balancer').some(({ groups }) => groups.includes(id))) throw inUse('security group', id);
      account.delete('group', id);
      return { status: 200 };
    },
    'GET /v1/blb/{id}/securitygroup': ({ params: { id = '' } }) => {
      const { groups } = account.seen('balancer', id);
      return { body: { blbSecurityGroups: groups.map((securityGroupId) => ({ securityGroupId })) } };
    },
    'PUT /v1/blb/{id}/securitygroup?bind=': (request) => {
      const { ids, balancer } = idsOf(request);
      for (const id of ids) account.must('group', id);
      account.put('balancer', { ...balancer, groups: [...new Set([...balancer.groups, ...ids])] });
      return { status: 200 };
    },
    'PUT /v1/blb/{id}/securitygroup?unbind=': (request) => {
      const { ids, balancer } = idsOf(request);
      for (const id of ids) if (!balancer.groups.includes(id)) throw noSuch('security group', id);
      account.put('balancer', { ...balancer, groups: balancer.groups.filter((id) => !ids.includes(id)) });
      return { status: 200 };
    },
  };
}
