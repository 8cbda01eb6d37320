// Cloud Firewalls and what they are attached to.
import type { Routes, VendorRequest } from 'sagong/cloud-provider/test-server';
import type { Firewall, FirewallRule, FirewallRules } from '../api/types.ts';
import { type Account, bodyOf, idIn, type StoredDevice } from './account.ts';
import { listAnswer } from './lists.ts';
import { checkLabel, checkTags } from './labels.ts';
import { invalid, notFound } from './refusals.ts';

const rulesMax = 25;
const addressesMax = 255;
const portsMax = 15;

export const devicesOf = (account: Account, look: 'of' | 'seenOf' = 'of'): StoredDevice[] => account[look]('device');

/** Throws where the NodeBalancer has a firewall already. */
export function attach(account: Account, firewall: number, balancer: number): StoredDevice {
  if (devicesOf(account).some((device) => device.balancer === balancer))
    throw invalid('id', 'NodeBalancer is already assigned to an active firewall');
  return account.put('device', { id: account.id(), firewall, balancer });
}

function checkRule({ action, label, protocol, ports, addresses }: FirewallRule, field: string): void {
  if (!['ACCEPT', 'DROP'].includes(action)) throw invalid(`${field}.action`, 'Must be one of ACCEPT, DROP');
  if (!['TCP', 'UDP', 'ICMP', 'IPENCAP'].includes(protocol))
    throw invalid(`${field}.protocol`, 'Must be one of TCP, UDP, ICMP, IPENCAP');
  if (!/^[a-zA-Z][a-zA-Z0-9._-]{2,31}$/.test(label ?? '')) throw invalid(`${field}.label`, 'Must be between 3 and 32 characters');
  const pieces = (ports ?? '').split(',');
  if (pieces.length > portsMax || !pieces.every((piece) => /^\s*\d{1,5}(-\d{1,5})?\s*$/.test(piece)))
    throw invalid(`${field}.ports`, `Must be at most ${portsMax} ports or ranges`);
  const all = [...(addresses?.ipv4 ?? []), ...(addresses?.ipv6 ?? [])];
  if (all.length === 0) throw invalid(`${field}.addresses`, 'Must contain at least one address');
  if (all.length > addressesMax) throw invalid(`${field}.addresses`, `Must contain no more than ${addressesMax} addresses`);
  for (const address of all)
    if (!/^[\da-f.:]+\/\d{1,3}$/i.test(address)) throw invalid(`${field}.addresses`, 'Must be addresses in CIDR notation');
}

function checkedRules(value: unknown): FirewallRules {
  const {
    inbound = [],
    inbound_policy: inboundPolicy,
    outbound = [],
    outbound_policy: outboundPolicy,
  } = (value ?? {}) as FirewallRules;
  for (const [field, policy] of [
    ['inbound_policy', inboundPolicy],
    ['outbound_policy', outboundPolicy],
  ] as const)
    if (!['ACCEPT', 'DROP'].includes(policy)) throw invalid(`rules.${field}`, 'Must be one of ACCEPT, DROP');
  if (inbound.length + outbound.length > rulesMax) throw invalid('rules', `Must contain no more than ${rulesMax} rules`);
  for (const [index, rule] of inbound.entries()) checkRule(rule, `rules.inbound[${index}]`);
  for (const [index, rule] of outbound.entries()) checkRule(rule, `rules.outbound[${index}]`);
  return { inbound, inbound_policy: inboundPolicy, outbound, outbound_policy: outboundPolicy };
}

const entityOf = (account: Account, { balancer }: StoredDevice): object => ({
  id: balancer,
  type: 'nodebalancer',
  label: account.get('balancer', balancer)?.label ?? '',
  url: `/v4/nodebalancers/${balancer}`,
});
const deviceShown = (account: Account, device: StoredDevice): object => ({
  id: device.id,
  entity: entityOf(account, device),
  created: account.timestamp(),
  updated: account.timestamp(),
});
export const firewallShown = (account: Account, firewall: Firewall): object => ({
  ...firewall,
  entities: devicesOf(account, 'seenOf')
    .filter((device) => device.firewall === firewall.id)
    .map((device) => entityOf(account, device)),
  created: account.timestamp(),
  updated: account.timestamp(),
});

export function firewallRoutes(account: Account): Routes {
  const base = '/v4/networking/firewalls';
  const deviceOf = (request: VendorRequest): StoredDevice => {
    const found = account.must('device', idIn(request, 'device'));
    if (found.firewall !== idIn(request)) throw notFound();
    return found;
  };
  return {
    [`GET ${base}`]: (request) =>
      listAnswer(
        account.seenOf('firewall').map((one) => firewallShown(account, one)),
        request,
        ['id', 'label', 'tags', 'status'],
      ),
    [`POST ${base}`]: (request) => {
      const { label, tags, rules, devices } = bodyOf(request) as {
        label?: string;
        tags?: unknown;
        rules?: unknown;
        devices?: { nodebalancers?: number[] };
      };
      checkLabel(label ?? '', account.of('firewall'));
      const made = { id: account.id(), label: label ?? '', tags: checkTags(tags), rules: checkedRules(rules), status: 'enabled' };
      for (const balancer of devices?.nodebalancers ?? []) account.must('balancer', balancer);
      account.put('firewall', made);
      for (const balancer of devices?.nodebalancers ?? []) attach(account, made.id, balancer);
      return { body: firewallShown(account, made) };
    },
    [`GET ${base}/{id}`]: (request) => ({ body: firewallShown(account, account.seen('firewall', idIn(request))) }),
    [`DELETE ${base}/{id}`]: (request) => {
      const { id } = account.must('firewall', idIn(request));
      for (const device of devicesOf(account)) if (device.firewall === id) account.delete('device', device.id);
      account.delete('firewall', id);
      return { body: {} };
    },
    [`GET ${base}/{id}/rules`]: (request) => ({ body: account.seen('firewall', idIn(request)).rules }),
    [`PUT ${base}/{id}/rules`]: (request) => {
      const there = account.must('firewall', idIn(request));
      return { body: account.put('firewall', { ...there, rules: checkedRules(bodyOf(request)) }).rules };
    },
    [`GET ${base}/{id}/devices`]: (request) => {
      account.seen('firewall', idIn(request));
      const attached = devicesOf(account, 'seenOf').filter((device) => device.firewall === idIn(request));
      return listAnswer(
        attached.map((device) => deviceShown(account, device)),
        request,
      );
    },
    [`POST ${base}/{id}/devices`]: (request) => {
      const { id, type } = bodyOf(request) as { id?: number; type?: string };
      const firewall = account.must('firewall', idIn(request));
      if (type !== 'nodebalancer') throw invalid('type', 'Must be one of linode, nodebalancer');
      if (!account.get('balancer', Number(id))) throw invalid('id', 'NodeBalancer not found');
      return { body: deviceShown(account, attach(account, firewall.id, Number(id))) };
    },
    [`DELETE ${base}/{id}/devices/{device}`]: (request) => {
      account.delete('device', deviceOf(request).id);
      return { body: {} };
    },
  };
}
