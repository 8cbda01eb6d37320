// /v2/load_balancers: accepted as `new` without an address, `active` with one after a while; PUT sets what it does not name to its default,
// but never network, stack and type, which the reference says cannot be updated.
import { randomUUID } from 'node:crypto';
import type { Account, LoadBalancer } from './account.ts';
import { notFound } from './refusal.ts';
import { type Body, listIn, validateLoadBalancer } from './validate-load-balancer.ts';

const record = (value: unknown): Body => (typeof value === 'object' && value !== null ? (value as Body) : {});

/** Every field with its default (models of the reference). */
const withDefaults = (body: Body): Record<string, unknown> => ({
  algorithm: 'round_robin',
  size_unit: 1,
  redirect_http_to_https: false,
  enable_proxy_protocol: false,
  enable_backend_keepalive: false,
  disable_lets_encrypt_dns_records: false,
  http_idle_timeout_seconds: 60,
  project_id: '9cc10173-e9ea-4176-9dbc-a4cee4c4ff30',
  tag: '',
  tls_cipher_policy: 'DEFAULT',
  ...body,
  forwarding_rules: listIn(body, 'forwarding_rules').map((rule) => ({
    certificate_id: '',
    tls_passthrough: false,
    ...record(rule),
  })),
  health_check: {
    protocol: 'http',
    port: 80,
    path: '/',
    check_interval_seconds: 10,
    response_timeout_seconds: 5,
    unhealthy_threshold: 5,
    healthy_threshold: 3,
    ...record(body.health_check),
  },
  sticky_sessions: { type: 'none', ...record(body.sticky_sessions) },
  firewall: { deny: [], allow: [], ...record(body.firewall) },
});

function settled(account: Account, body: Body) {
  const region = account.region(body.region);
  if (!region) throw notFound();
  return {
    region,
    vpc_uuid: body.vpc_uuid ?? account.vpc,
    droplet_ids: listIn(body, 'droplet_ids').map(Number),
    tags: listIn(body, 'tags').map(String),
  };
}

function tagged(account: Account, balancer: LoadBalancer): LoadBalancer {
  for (const tag of balancer.tags) account.tag(tag, `load_balancer/${balancer.id}`);
  return balancer;
}

export function createLoadBalancer(account: Account, body: Body): LoadBalancer {
  validateLoadBalancer(account, body);
  const { validate_only: only, ip: own, ...fields } = body;
  const number = account.number();
  const balancer: LoadBalancer = {
    type: 'REGIONAL',
    network: 'EXTERNAL',
    network_stack: 'IPV4',
    ...withDefaults(fields),
    ...settled(account, body),
    name: String(body.name),
    id: randomUUID(),
    ip: '',
    ipv6: '',
    status: 'new',
    created_at: account.timestamp(),
  };
  if (only === true) return balancer;
  const range = balancer.network === 'INTERNAL' ? '10.130' : '203.0';
  addresses.set(balancer, typeof own === 'string' ? own : `${range}.${(number >> 8) & 255}.${number & 255}`);
  if (typeof own === 'string') account.ownAddresses.set(balancer.id, own);
  createdMs.set(balancer, account.now());
  account.loadBalancers.set(balancer.id, balancer);
  return structuredClone(tagged(account, balancer));
}

const addresses = new WeakMap<LoadBalancer, string>();
const createdMs = new WeakMap<LoadBalancer, number>();

/** A load balancer in its present state. Throws 404. */
export function loadBalancerOf(account: Account, id: string): LoadBalancer {
  const balancer = account.loadBalancers.get(id);
  if (!balancer) throw notFound();
  const sinceMs = account.now() - (createdMs.get(balancer) ?? 0);
  if (balancer.status === 'new' && sinceMs >= account.activationMs) {
    balancer.status = 'active';
    balancer.ip = addresses.get(balancer) ?? '';
    if (balancer.network_stack === 'DUALSTACK') balancer.ipv6 = `2604:a880:800:14::${balancer.ip.split('.').at(-1)}`;
  }
  return balancer;
}

export const loadBalancers = (account: Account): LoadBalancer[] =>
  [...account.loadBalancers.keys()].map((id) => loadBalancerOf(account, id));

export function updateLoadBalancer(account: Account, id: string, body: Body): LoadBalancer {
  const existing = loadBalancerOf(account, id);
  const { type, network, network_stack, ip, ipv6, status, created_at } = existing;
  validateLoadBalancer(account, { ...body, type }, id);
  const { validate_only: only, ip: _createOnly, ...fields } = body;
  const next = { ...withDefaults(fields), ...settled(account, body), id, name: String(body.name) };
  const updated = { ...next, type, network, network_stack, ip, ipv6, status, created_at };
  if (only === true) return updated;
  for (const field of Object.keys(existing)) delete existing[field];
  return tagged(account, Object.assign(existing, updated));
}

export function deleteLoadBalancer(account: Account, id: string): void {
  if (!account.loadBalancers.delete(id)) throw notFound();
  account.ownAddresses.delete(id);
  for (const resources of account.tags.values()) resources.delete(`load_balancer/${id}`);
}
