// Objects of DigitalOcean's API v2 as its reference documents them (https://docs.digitalocean.com/reference/api/), as far as they are read
// or sent here.

export interface Network {
  ip_address: string;
  type: 'public' | 'private';
}

export interface Droplet {
  id: number;
  name: string;
  status: 'new' | 'active' | 'off' | 'archive';
  size_slug: string;
  region?: { slug: string };
  networks?: { v4?: Network[]; v6?: Network[] };
}

export interface ForwardingRule {
  entry_protocol: string;
  entry_port: number;
  target_protocol: string;
  target_port: number;
  certificate_id?: string;
  tls_passthrough?: boolean;
}

export interface HealthCheck {
  protocol: string;
  port: number;
  path?: string;
  check_interval_seconds: number;
  response_timeout_seconds: number;
  unhealthy_threshold: number;
  healthy_threshold: number;
  /** In no reference, but in the vendor's Go client: whether health checks speak the PROXY protocol too. */
  proxy_protocol?: boolean;
}

export interface StickySessions {
  type: 'none' | 'cookies';
  cookie_name?: string;
  cookie_ttl_seconds?: number;
}

export type LoadBalancerType = 'REGIONAL' | 'REGIONAL_NETWORK';
export type LoadBalancerNetwork = 'EXTERNAL' | 'INTERNAL';
export type NetworkStack = 'IPV4' | 'DUALSTACK';

/** What POST and PUT take. A field left out is set to its default, also by PUT. */
export interface LoadBalancerRequest {
  name: string;
  type: LoadBalancerType;
  network: LoadBalancerNetwork;
  network_stack: NetworkStack;
  region?: string;
  vpc_uuid?: string;
  subnet_uuid?: string;
  size?: string;
  size_unit?: number;
  algorithm: string;
  forwarding_rules: ForwardingRule[];
  health_check: HealthCheck;
  sticky_sessions: StickySessions;
  droplet_ids?: number[];
  tags?: string[];
  redirect_http_to_https: boolean;
  enable_proxy_protocol: boolean;
  enable_backend_keepalive: boolean;
  disable_lets_encrypt_dns_records: boolean;
  http_idle_timeout_seconds?: number;
  firewall: { allow: string[]; deny: string[] };
  /** An address of one's own. Only taken by POST. */
  ip?: string;
}

export interface LoadBalancer {
  id: string;
  name: string;
  ip?: string;
  ipv6?: string;
  status: 'new' | 'active' | 'errored';
  type: string;
  network?: string;
  network_stack?: string;
  forwarding_rules?: ForwardingRule[];
}

export interface Certificate {
  id: string;
  name: string;
  type: 'custom' | 'lets_encrypt';
}

export interface Region {
  name: string;
  slug: string;
}

export interface FirewallTarget {
  addresses?: string[];
  load_balancer_uids?: string[];
}
export interface InboundRule {
  protocol: string;
  ports?: string;
  sources: FirewallTarget;
}
export interface OutboundRule {
  protocol: string;
  ports?: string;
  destinations: FirewallTarget;
}
/** The body that POST and PUT of a firewall take. */
export interface FirewallRequest {
  name: string;
  inbound_rules: InboundRule[];
  outbound_rules: OutboundRule[];
  tags: string[];
}
export interface Firewall {
  id: string;
  name: string;
  inbound_rules?: InboundRule[] | null;
  outbound_rules?: OutboundRule[] | null;
  tags?: string[] | null;
}

export interface Page {
  links?: { pages?: { next?: string } };
  meta?: unknown;
}
