// What POST and PUT of a load balancer are refused for: the ranges, the enumerations and the rules between fields that the reference names,
// and the reserved ports and the unique name that the documentation of the product names.
import type { Account } from './account.ts';
import { unprocessable } from './refusal.ts';

export type Body = Readonly<Record<string, unknown>>;

const record = (value: unknown): Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Body) : {};
export const listIn = (body: Body, field: string): unknown[] => {
  const value = body[field];
  return Array.isArray(value) ? value : [];
};

function oneOf(body: Body, field: string, allowed: readonly string[]): void {
  const value = body[field];
  if (value !== undefined && !(allowed as readonly unknown[]).includes(value))
    throw unprocessable(`${field} must be one of ${allowed.join(', ')}`);
}
function within(body: Body, field: string, minimum: number, maximum: number): void {
  const value = body[field];
  if (value !== undefined && !(Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum))
    throw unprocessable(`${field} must be between ${minimum} and ${maximum}`);
}
function booleans(body: Body, fields: readonly string[]): void {
  for (const field of fields)
    if (body[field] !== undefined && typeof body[field] !== 'boolean') throw unprocessable(`${field} must be a boolean`);
}

const reservedPorts = [50_053, 50_054, 50_055];

function checkRule(account: Account, rule: Body, type: unknown): void {
  for (const field of ['entry_protocol', 'entry_port', 'target_protocol', 'target_port'])
    if (rule[field] === undefined) throw unprocessable(`forwarding rule is missing ${field}`);
  oneOf(rule, 'entry_protocol', ['http', 'https', 'http2', 'http3', 'tcp', 'udp']);
  oneOf(rule, 'target_protocol', ['http', 'https', 'http2', 'tcp', 'udp']);
  const {
    entry_protocol: entry,
    target_protocol: target,
    entry_port: port,
    certificate_id: certificate,
    tls_passthrough: through,
  } = rule;
  if (!Number.isInteger(port) || Number(port) < 1 || Number(port) > 65_535 || reservedPorts.includes(Number(port)))
    throw unprocessable('entry port is invalid');
  within(rule, 'target_port', 1, 65_535);
  if ((entry === 'udp') !== (target === 'udp')) throw unprocessable('entry and target protocol must both be udp');
  if (type === 'REGIONAL_NETWORK' && entry !== 'tcp' && entry !== 'udp')
    throw unprocessable('regional network load balancers forward tcp and udp only');
  const secure = entry === 'https' || entry === 'http2' || entry === 'http3';
  if (secure && !through && !certificate) throw unprocessable('a certificate or tls passthrough is required');
  if (certificate && !account.certificates.has(String(certificate))) throw unprocessable('certificate not found');
}

function checkHealth(check: Body): void {
  oneOf(check, 'protocol', ['http', 'https', 'tcp']);
  within(check, 'port', 1, 65_535);
  within(check, 'check_interval_seconds', 3, 300);
  within(check, 'response_timeout_seconds', 3, 300);
  within(check, 'unhealthy_threshold', 2, 10);
  within(check, 'healthy_threshold', 2, 10);
}

function checkAccess(body: Body): void {
  const access = record(body.firewall);
  for (const field of ['allow', 'deny'])
    if (access[field] !== undefined && !Array.isArray(access[field])) throw unprocessable(`firewall ${field} must be a list`);
  for (const rule of [...listIn(access, 'allow'), ...listIn(access, 'deny')])
    if (typeof rule !== 'string' || !/^(ip|cidr):\S+$/.test(rule))
      throw unprocessable('firewall rules must be in the form type:source');
}

function checkTargets(account: Account, body: Body): void {
  if (body.tag !== undefined && listIn(body, 'droplet_ids').length > 0)
    throw unprocessable('droplet_ids and tag are mutually exclusive');
  for (const id of listIn(body, 'droplet_ids'))
    if (!account.droplets.has(Number(id))) throw unprocessable(`droplet ${String(id)} not found`);
}

function checkRules(account: Account, body: Body): void {
  const rules = listIn(body, 'forwarding_rules').map(record);
  if (rules.length === 0) throw unprocessable('forwarding_rules must have at least one rule');
  for (const rule of rules) checkRule(account, rule, body.type);
  const seen = new Set<string>();
  for (const { entry_protocol: protocol, entry_port: port } of rules) {
    const layer = protocol === 'udp' || protocol === 'http3' ? 'udp' : 'tcp';
    const key = `${layer} ${String(port)}`;
    if (seen.has(key)) throw unprocessable(`entry port ${String(port)} is used twice`);
    seen.add(key);
  }
}

/** Throws what the API answers. `id`: the load balancer that is updated. */
export function validateLoadBalancer(account: Account, body: Body, id?: string): void {
  const { name } = body;
  if (typeof name !== 'string' || !/^[a-zA-Z0-9][a-zA-Z0-9.-]{0,254}$/.test(name) || name.endsWith('-'))
    throw unprocessable('name is invalid');
  for (const other of account.loadBalancers.values())
    if (other.name === name && other.id !== id) throw unprocessable('load balancer name is already in use');
  if (!account.region(body.region)) throw unprocessable('region is invalid');
  oneOf(body, 'type', ['REGIONAL', 'REGIONAL_NETWORK', 'GLOBAL']);
  oneOf(body, 'network', ['EXTERNAL', 'INTERNAL']);
  oneOf(body, 'network_stack', ['IPV4', 'DUALSTACK']);
  oneOf(body, 'size', ['lb-small', 'lb-medium', 'lb-large']);
  oneOf(body, 'algorithm', ['round_robin', 'least_connections']);
  within(body, 'size_unit', 1, 100);
  within(body, 'http_idle_timeout_seconds', 30, 600);
  booleans(body, [
    'redirect_http_to_https',
    'enable_proxy_protocol',
    'enable_backend_keepalive',
    'disable_lets_encrypt_dns_records',
  ]);
  if (body.size !== undefined && body.size_unit !== undefined) throw unprocessable('only one of size and size_unit can be given');
  if (body.network === 'INTERNAL' && body.network_stack === 'DUALSTACK')
    throw unprocessable('internal load balancers do not support dual stack');
  const sticky = record(body.sticky_sessions);
  oneOf(sticky, 'type', ['none', 'cookies']);
  if (sticky.type === 'cookies' && (!sticky.cookie_name || !sticky.cookie_ttl_seconds))
    throw unprocessable('sticky sessions of type cookies need cookie_name and cookie_ttl_seconds');
  checkRules(account, body);
  checkHealth(record(body.health_check));
  checkAccess(body);
  checkTargets(account, body);
}
