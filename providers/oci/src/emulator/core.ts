// Core Services: instances, VNICs, subnets, security lists, network security groups, public IPs
// (https://docs.oracle.com/iaas/api/#/en/iaas/20160918/).
import type { Routes, VendorRequest } from 'sagong/cloud-provider/test-server';
import type { EgressRule, GroupRule, IngressRule } from '../api/types.ts';
import type { Account, StoredGroup, StoredList } from './account.ts';
import { bodyOf, listAnswer, matching, needed } from './lists.ts';
import { incorrectState, invalid, noEtagMatch, notFound } from './refusals.ts';

const v = '/20160918';
const rulesMax = 200;
const groupRulesMax = 25;

const shownList = ({ etag: _etag, ...list }: StoredList): object => ({
  displayName: 'list',
  lifecycleState: 'AVAILABLE',
  ...list,
});
const shownGroup = ({ etag: _etag, ...group }: StoredGroup): object => group;

function checkEtag({ headers }: VendorRequest, etag = ''): void {
  if (headers['if-match'] !== undefined && headers['if-match'] !== etag) throw noEtagMatch();
}
const nextEtag = (etag = '0'): string => String(Number(etag) + 1);

function checkRules(rules: unknown, side: 'source' | 'destination'): void {
  if (!Array.isArray(rules)) throw invalid(`${side === 'source' ? 'ingress' : 'egress'}SecurityRules must be a list`);
  if (rules.length > rulesMax) throw invalid(`a security list has at most ${rulesMax} rules`);
  for (const rule of rules as (IngressRule & EgressRule)[]) {
    if (!/^([\d.]+\/\d{1,2}|[\da-f:]+\/\d{1,3})$/i.test(rule[side] ?? '')) throw invalid(`${side} is not a CIDR: ${rule[side]}`);
    if (!/^(all|\d{1,3})$/.test(rule.protocol)) throw invalid('protocol is not a number');
    const range = rule.tcpOptions?.destinationPortRange;
    if (range && !(range.min >= 1 && range.min <= range.max && range.max <= 65_535)) throw invalid('the port range is wrong');
  }
}

function instanceRoutes(account: Account): Routes {
  return {
    [`GET ${v}/instances`]: (request) => {
      const compartmentId = needed(request, 'compartmentId');
      const all = account.seenOf('instance').filter((one) => one.compartmentId === compartmentId);
      return listAnswer(matching(all, request, ['displayName', 'lifecycleState', 'availabilityDomain']), request);
    },
    [`GET ${v}/instances/{id}`]: ({ params }) => ({ body: account.seen('instance', params['id'] ?? '') }),
    [`GET ${v}/vnicAttachments`]: (request) => {
      const compartmentId = needed(request, 'compartmentId');
      const inside = (id: string) => account.get('instance', id)?.compartmentId === compartmentId;
      const all = account.seenOf('attachment').filter(({ instanceId }) => inside(instanceId));
      return listAnswer(matching(all, request, ['instanceId', 'vnicId']), request);
    },
    [`GET ${v}/vnics/{id}`]: ({ params }) => ({ body: account.seen('vnic', params['id'] ?? '') }),
    [`GET ${v}/subnets/{id}`]: ({ params }) => ({ body: account.seen('subnet', params['id'] ?? '') }),
    [`POST ${v}/publicIps/actions/getByIpAddress`]: (request) => {
      const wanted = bodyOf(request)['ipAddress'];
      const found = account.seenOf('publicIp').find(({ ipAddress }) => ipAddress === wanted);
      if (!found) throw notFound(`public IP ${String(wanted)}`);
      return { body: found };
    },
  };
}

function listRoutes(account: Account): Routes {
  return {
    [`GET ${v}/securityLists`]: (request) => {
      const compartmentId = needed(request, 'compartmentId');
      const all = account.seenOf('list').filter((one) => one.compartmentId === compartmentId);
      return listAnswer(matching(all, request, ['vcnId', 'displayName']).map(shownList), request);
    },
    [`GET ${v}/securityLists/{id}`]: ({ params }) => {
      const list = account.seen('list', params['id'] ?? '');
      return { body: shownList(list), headers: { etag: list.etag ?? '' } };
    },
    [`PUT ${v}/securityLists/{id}`]: (request) => {
      const list = account.must('list', request.params['id'] ?? '');
      checkEtag(request, list.etag);
      const { ingressSecurityRules = list.ingressSecurityRules, egressSecurityRules = list.egressSecurityRules } =
        bodyOf(request);
      checkRules(ingressSecurityRules, 'source');
      checkRules(egressSecurityRules, 'destination');
      const changed = {
        ...list,
        ingressSecurityRules: ingressSecurityRules as IngressRule[],
        egressSecurityRules: egressSecurityRules as EgressRule[],
        etag: nextEtag(list.etag),
      };
      account.put('list', changed);
      return { body: shownList(changed), headers: { etag: changed.etag } };
    },
  };
}

function groupRoutes(account: Account): Routes {
  const groupOf = ({ params }: VendorRequest): StoredGroup => account.must('group', params['id'] ?? '');
  const isAttached = (id: string): boolean =>
    account.of('balancer').some((one) => one.lifecycleState !== 'DELETED' && one.networkSecurityGroupIds.includes(id));
  return {
    [`GET ${v}/networkSecurityGroups`]: (request) => {
      const all = matching(account.seenOf('group'), request, ['compartmentId', 'vcnId', 'displayName']);
      return listAnswer(all.map(shownGroup), request);
    },
    [`POST ${v}/networkSecurityGroups`]: (request) => {
      const { compartmentId, vcnId, displayName, freeformTags = {} } = bodyOf(request);
      if (typeof compartmentId !== 'string' || typeof vcnId !== 'string') throw invalid('compartmentId and vcnId must be given');
      const exists = (id: string): boolean => account.get('group', id) !== undefined;
      const { id } = account.once(request.headers['opc-retry-token'], exists, () => {
        const made = account.put('group', {
          id: account.id('networksecuritygroup'),
          compartmentId,
          vcnId,
          displayName: String(displayName ?? ''),
          freeformTags: freeformTags as Record<string, string>,
          lifecycleState: 'AVAILABLE',
          etag: '1',
        });
        return { id: made.id, answer: '' };
      });
      return { body: shownGroup(account.must('group', id)), headers: { etag: '1' } };
    },
    [`GET ${v}/networkSecurityGroups/{id}`]: ({ params }) => {
      const group = account.seen('group', params['id'] ?? '');
      return { body: shownGroup(group), headers: { etag: group.etag ?? '' } };
    },
    [`PUT ${v}/networkSecurityGroups/{id}`]: (request) => {
      const group = groupOf(request);
      checkEtag(request, group.etag);
      const { freeformTags = group.freeformTags } = bodyOf(request);
      const changed = account.put('group', {
        ...group,
        freeformTags: freeformTags as Record<string, string>,
        etag: nextEtag(group.etag),
      });
      return { body: shownGroup(changed), headers: { etag: changed.etag ?? '' } };
    },
    [`DELETE ${v}/networkSecurityGroups/{id}`]: (request) => {
      const { id } = groupOf(request);
      if (isAttached(id)) throw incorrectState(`network security group ${id} has VNICs in it`);
      for (const rule of account.of('groupRule')) if (rule.group === id) account.delete('groupRule', rule.id);
      account.delete('group', id);
      return {};
    },
  };
}

function groupRuleRoutes(account: Account): Routes {
  const groupOf = ({ params }: VendorRequest): StoredGroup => account.must('group', params['id'] ?? '');
  return {
    [`GET ${v}/networkSecurityGroups/{id}/securityRules`]: (request) => {
      const { id } = account.seen('group', request.params['id'] ?? '');
      const rules = matching(
        account.seenOf('groupRule').filter(({ group }) => group === id),
        request,
        ['direction'],
      );
      return listAnswer(
        rules.map(({ group: _group, ...rule }) => rule),
        request,
      );
    },
    [`POST ${v}/networkSecurityGroups/{id}/actions/addSecurityRules`]: (request) => {
      const { id: group } = groupOf(request);
      const rules = (bodyOf(request)['securityRules'] ?? []) as GroupRule[];
      if (rules.length > groupRulesMax) throw invalid(`at most ${groupRulesMax} rules in one request`);
      for (const { source, destination, direction } of rules)
        if ((direction === 'EGRESS' ? destination : source) === undefined) throw invalid('the other side must be given');
      const made = rules.map((rule) => account.put('groupRule', { ...rule, id: account.id('rule').slice(-8), group }));
      return { body: { securityRules: made.map(({ group: _group, ...rule }) => rule) } };
    },
    [`POST ${v}/networkSecurityGroups/{id}/actions/removeSecurityRules`]: (request) => {
      const { id: group } = groupOf(request);
      const ids = (bodyOf(request)['securityRuleIds'] ?? []) as string[];
      if (ids.length > groupRulesMax) throw invalid(`at most ${groupRulesMax} rules in one request`);
      for (const id of ids) if (account.get('groupRule', id)?.group !== group) throw invalid(`rule ${id} is not there`);
      for (const id of ids) account.delete('groupRule', id);
      return {};
    },
  };
}

export const coreRoutes = (account: Account): Routes => ({
  ...instanceRoutes(account),
  ...listRoutes(account),
  ...groupRoutes(account),
  ...groupRuleRoutes(account),
});
