// Configs of NodeBalancers and their nodes: what a request must say, what is filled in.
import { X509Certificate } from 'node:crypto';
import { type Account, type StoredBalancer, type StoredConfig, type StoredNode } from './account.ts';
import { invalid } from './refusals.ts';
import { lies } from './ranges.ts';

type Body = Record<string, unknown>;

const protocols = ['tcp', 'udp', 'http', 'https'];
const algorithms = { udp: ['roundrobin', 'leastconn', 'ring_hash'], other: ['roundrobin', 'leastconn', 'source'] };
const stickinesses = { udp: ['none', 'session', 'source_ip'], other: ['none', 'table', 'http_cookie'] };
const checks = ['none', 'connection', 'http', 'http_body'];

const oneOf = (field: string, value: unknown, words: readonly string[]): string => {
  if (!words.includes(String(value))) throw invalid(field, `Must be one of ${words.join(', ')}`);
  return String(value);
};
const numberIn = (field: string, value: unknown, min: number, max: number): number => {
  if (!Number.isInteger(value) || (value as number) < min || (value as number) > max)
    throw invalid(field, `Must be between ${min} and ${max}`);
  return value as number;
};
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function certificateOf({ ssl_cert: cert, ssl_key: key }: Body, there: StoredConfig | undefined) {
  if (cert === undefined && there?.protocol === 'https')
    return { ssl_fingerprint: there.ssl_fingerprint ?? '', ssl_commonname: '' };
  if (!text(cert)) throw invalid('ssl_cert', 'ssl_cert is required');
  if (!text(key)) throw invalid('ssl_key', 'ssl_key is required');
  try {
    const { fingerprint, subject } = new X509Certificate(text(cert));
    return { ssl_fingerprint: fingerprint, ssl_commonname: /CN=(.*)/.exec(subject)?.[1] ?? '' };
  } catch {
    throw invalid('ssl_cert', 'ssl_cert is not a valid certificate');
  }
}

/** Throws for what the API refuses; fills in what it does. `there`: the config that is changed. */
function checked(body: Body, there?: StoredConfig): Omit<StoredConfig, 'id' | 'nodebalancer_id'> {
  const given: Body = { ...there, ...body };
  const protocol = oneOf('protocol', given['protocol'] ?? 'http', protocols) as StoredConfig['protocol'];
  const isUdp = protocol === 'udp';
  const kind = isUdp ? 'udp' : 'other';
  const check = oneOf('check', given['check'] ?? 'none', checks) as StoredConfig['check'];
  const asksHttp = check === 'http' || check === 'http_body';
  if (asksHttp && !text(given['check_path']).startsWith('/')) throw invalid('check_path', 'check_path is required');
  if (check === 'http_body' && !text(given['check_body'])) throw invalid('check_body', 'check_body is required');
  if (isUdp && given['check_passive'] === true) throw invalid('check_passive', 'Must be false for UDP');
  const usualStickiness = isUdp ? 'session' : 'none';
  const stickiness = body['protocol'] !== undefined && body['stickiness'] === undefined ? usualStickiness : given['stickiness'];
  return {
    port: numberIn('port', given['port'] ?? 80, 1, 65_535),
    protocol,
    proxy_protocol: oneOf('proxy_protocol', given['proxy_protocol'] ?? 'none', isUdp ? ['none'] : ['none', 'v1', 'v2']) as 'none',
    algorithm: oneOf('algorithm', given['algorithm'] ?? 'roundrobin', algorithms[kind]),
    stickiness: oneOf('stickiness', stickiness ?? usualStickiness, stickinesses[kind]),
    check,
    check_path: asksHttp ? text(given['check_path']) : '',
    check_body: check === 'http_body' ? text(given['check_body']) : '',
    check_interval: numberIn('check_interval', given['check_interval'] ?? 5, 2, 3_600),
    check_timeout: numberIn('check_timeout', given['check_timeout'] ?? 3, 1, 30),
    check_attempts: numberIn('check_attempts', given['check_attempts'] ?? 2, 1, 30),
    check_passive: isUdp ? false : given['check_passive'] !== false,
    cipher_suite: isUdp ? 'none' : text(given['cipher_suite']) || 'recommended',
    ...(isUdp && {
      udp_check_port: numberIn('udp_check_port', given['udp_check_port'] ?? 80, 1, 65_535),
      udp_session_timeout: 16,
    }),
    ...(protocol === 'https' && certificateOf(body, there)),
  };
}

const portSpace = ({ protocol }: Pick<StoredConfig, 'protocol'>): string => (protocol === 'udp' ? 'udp' : 'tcp');

/** Whether somebody in this region, or in this subnet, has the address. */
function addressExists(account: Account, balancer: StoredBalancer, ip: string, subnet: unknown): boolean {
  if (subnet !== undefined && subnet !== null)
    return account.of('interface').some((one) => one.subnet === subnet && one.address === ip);
  const linodes = account.of('linode').filter(({ region }) => region === balancer.region);
  if (ip.includes(':')) return linodes.some(({ ipv6 }) => ipv6?.split('/')[0] === ip);
  return lies(ip, '192.168.128.0/17') && linodes.some(({ ipv4 }) => ipv4.includes(ip));
}

function checkNode(account: Account, balancer: StoredBalancer, body: Body, protocol: string, field: string): void {
  const label = text(body['label']);
  if (!/^[a-zA-Z0-9._-]{3,32}$/.test(label)) throw invalid(`${field}label`, 'Must be between 3 and 32 characters');
  const [, ip6, ip4, port] = /^(?:\[([^\]]+)\]|([\d.]+)):(\d{1,5})$/.exec(text(body['address'])) ?? [];
  const ip = ip6 ?? ip4;
  const subnet = body['subnet_id'];
  if (ip === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw invalid(`${field}address`, 'Must be in the format of address:port');
  if (subnet !== undefined && !balancer.vpcs.some((vpc) => vpc.purpose === 'backend' && vpc.subnet_id === subnet))
    throw invalid(`${field}subnet_id`, 'The NodeBalancer is not in this subnet');
  if (!addressExists(account, balancer, ip, subnet))
    throw invalid(`${field}address`, 'Must be an address of a Linode in the same region');
  if (protocol === 'udp' && body['mode'] !== undefined && body['mode'] !== 'none')
    throw invalid(`${field}mode`, 'Cannot be set for UDP');
  if (protocol !== 'udp') oneOf(`${field}mode`, body['mode'] ?? 'accept', ['accept', 'reject', 'drain', 'backup']);
  numberIn(`${field}weight`, body['weight'] ?? 100, 1, 255);
}

export class Configs {
  readonly #account: Account;

  constructor(account: Account) {
    this.#account = account;
  }
  of(balancer: number, look: 'of' | 'seenOf' = 'of'): StoredConfig[] {
    return this.#account[look]('config').filter((config) => config.nodebalancer_id === balancer);
  }
  nodesOf(config: number, look: 'of' | 'seenOf' = 'of'): StoredNode[] {
    return this.#account[look]('node').filter((node) => node.config_id === config);
  }
  /** Throws before anything is kept. */
  check(balancer: StoredBalancer, bodies: readonly Body[], there?: StoredConfig): void {
    const taken = new Set(this.of(balancer.id).flatMap((one) => (one.id === there?.id ? [] : `${portSpace(one)} ${one.port}`)));
    for (const [index, body] of bodies.entries()) {
      const config = checked(body, there);
      const key = `${portSpace(config)} ${config.port}`;
      if (taken.has(key)) throw invalid(`configs[${index}].port`, 'Port must be unique');
      taken.add(key);
      const nodes = body['nodes'];
      if (nodes !== undefined && !Array.isArray(nodes)) throw invalid('nodes', 'Must be a list');
      for (const [number, node] of (nodes ?? []).entries())
        checkNode(this.#account, balancer, node as Body, config.protocol, `configs[${index}].nodes[${number}].`);
    }
  }
  put(balancer: StoredBalancer, body: Body, there?: StoredConfig): StoredConfig {
    const id = there?.id ?? this.#account.id();
    return this.#account.put('config', { id, nodebalancer_id: balancer.id, ...checked(body, there) });
  }
  addNode(config: StoredConfig, body: Body): StoredNode {
    const id = this.#account.id();
    return this.#account.put('node', {
      id,
      config_id: config.id,
      nodebalancer_id: config.nodebalancer_id,
      label: text(body['label']),
      address: text(body['address']),
      weight: (body['weight'] as number | undefined) ?? 100,
      mode: config.protocol === 'udp' ? 'none' : text(body['mode']) || 'accept',
      status: 'unknown',
    });
  }
  /** Replaces the nodes of a config: the ones that are given with their ID stay, all others go. */
  setNodes(config: StoredConfig, bodies: readonly Body[]): void {
    const kept = new Set(bodies.map(({ id }) => id));
    for (const { id } of this.nodesOf(config.id)) if (!kept.has(id)) this.#account.delete('node', id);
    for (const body of bodies) {
      const there = typeof body['id'] === 'number' ? this.#account.get('node', body['id']) : undefined;
      if (there) this.#account.put('node', { ...there, address: text(body['address']), label: text(body['label']) });
      else this.addNode(config, body);
    }
  }
  delete(config: number): void {
    for (const { id } of this.nodesOf(config)) this.#account.delete('node', id);
    this.#account.delete('config', config);
  }
  checkOneNode(balancer: StoredBalancer, config: StoredConfig, body: Body): void {
    checkNode(this.#account, balancer, body, config.protocol, '');
  }
  shown(config: StoredConfig): object {
    const nodes = this.nodesOf(config.id);
    const redacted = config.protocol === 'https' ? '<REDACTED>' : null;
    return { ...config, ssl_cert: redacted, ssl_key: redacted, nodes_status: { up: nodes.length, down: 0 } };
  }
}
