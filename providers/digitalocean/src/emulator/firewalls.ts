// /v2/firewalls.
import { randomUUID } from 'node:crypto';
import type { Account, Firewall } from './account.ts';
import { notFound, Refusal } from './refusal.ts';
import { type Body, listIn } from './validate-load-balancer.ts';

/** "0" is how the API names all ports in its answers. */
function ruleOf(value: unknown, target: 'sources' | 'destinations'): Record<string, unknown> {
  const rule = typeof value === 'object' && value !== null ? (value as Body) : {};
  const { protocol, ports } = rule;
  if (!['tcp', 'udp', 'icmp'].includes(String(protocol))) throw new Refusal(400, 'protocol must be one of tcp, udp, icmp');
  if (protocol !== 'icmp' && !/^(\d+(-\d+)?|all)$/.test(String(ports))) throw new Refusal(400, 'ports is invalid');
  if (typeof rule[target] !== 'object' || rule[target] === null) throw new Refusal(400, `${target} is required`);
  return { protocol, ports: protocol === 'icmp' || ports === 'all' ? '0' : ports, [target]: rule[target] };
}

function fieldsOf(account: Account, body: Body, id?: string): Omit<Firewall, 'id' | 'created_at'> {
  const { name } = body;
  if (typeof name !== 'string' || !/^[a-zA-Z0-9][a-zA-Z0-9.-]+$/.test(name)) throw new Refusal(400, 'name is invalid');
  for (const other of account.firewalls.values())
    if (other.name === name && other.id !== id) throw new Refusal(409, 'duplicate name');
  const inbound = listIn(body, 'inbound_rules').map((rule) => ruleOf(rule, 'sources'));
  const outbound = listIn(body, 'outbound_rules').map((rule) => ruleOf(rule, 'destinations'));
  if (inbound.length + outbound.length === 0) throw new Refusal(400, 'at least one inbound or outbound rule is required');
  return {
    name,
    status: 'succeeded',
    inbound_rules: inbound,
    outbound_rules: outbound,
    droplet_ids: listIn(body, 'droplet_ids').map(Number),
    tags: listIn(body, 'tags').map(String),
    pending_changes: [],
  };
}

export function firewallOf(account: Account, id: string): Firewall {
  const firewall = account.firewalls.get(id);
  if (!firewall) throw notFound();
  return firewall;
}

export function createFirewall(account: Account, body: Body): Firewall {
  const firewall: Firewall = { id: randomUUID(), created_at: account.timestamp(), ...fieldsOf(account, body) };
  account.firewalls.set(firewall.id, firewall);
  return firewall;
}

export const updateFirewall = (account: Account, id: string, body: Body): Firewall =>
  Object.assign(firewallOf(account, id), fieldsOf(account, body, id));

export function deleteFirewall(account: Account, id: string): void {
  if (!account.firewalls.delete(id)) throw notFound();
}
