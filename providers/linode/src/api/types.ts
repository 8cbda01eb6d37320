// The resources of Linode's API, as far as they are used (https://techdocs.akamai.com/linode-api/reference).

export interface Page<Item> {
  data: Item[];
  page: number;
  pages: number;
  results: number;
}

/** The filter of a list, sent as X-Filter (https://techdocs.akamai.com/linode-api/reference/filtering-and-sorting). */
export type Filter = Readonly<Record<string, unknown>>;

export interface Linode {
  id: number;
  label: string;
  region: string;
  type: string | null;
  status: string;
  ipv4: string[];
  /** With its prefix length, as `2600:3c03::1/128`. */
  ipv6: string | null;
  host_uuid?: string;
  tags: string[];
  /** `legacy_config`: its interfaces are those of a configuration profile. */
  interface_generation?: 'legacy_config' | 'linode' | null;
}

export interface NodeBalancer {
  id: number;
  label: string;
  region: string;
  hostname: string;
  ipv4: string;
  ipv6: string | null;
  client_conn_throttle: number;
  tags: string[];
  type?: string;
  frontend_address_type?: 'public' | 'vpc';
  frontend_vpc_subnet_id?: number | null;
}

export interface NodeRequest {
  /** Of a node that stays, when a config is rebuilt. */
  id?: number;
  label: string;
  address: string;
  weight: number;
  mode?: 'accept';
  subnet_id?: number;
}
export interface BalancerNode {
  id: number;
  label: string;
  address: string;
  weight: number;
  mode?: string;
}

export interface ConfigRequest {
  port: number;
  protocol: 'tcp' | 'udp' | 'http' | 'https';
  proxy_protocol: 'none' | 'v1' | 'v2';
  algorithm: string;
  stickiness?: string;
  check: 'none' | 'connection' | 'http' | 'http_body';
  check_path?: string;
  check_body?: string;
  check_interval: number;
  check_timeout: number;
  check_attempts: number;
  check_passive: boolean;
  udp_check_port?: number;
  ssl_cert?: string;
  ssl_key?: string;
}
export interface BalancerConfig extends Omit<ConfigRequest, 'ssl_cert' | 'ssl_key'> {
  id: number;
  nodebalancer_id: number;
  /** SHA-1 of the certificate, in pairs of hexadecimal digits. */
  ssl_fingerprint?: string;
}

export interface VpcRequest {
  subnet_id: number;
  ipv4_range?: string;
  ipv6_range?: string;
  ipv4_range_auto_assign?: boolean;
}
export interface NodeBalancerRequest {
  label: string;
  region: string;
  client_conn_throttle: number;
  tags: string[];
  type?: string;
  ipv4?: string;
  firewall_id?: number;
  configs: (ConfigRequest & { nodes: NodeRequest[] })[];
  /** Where the backends are. */
  vpcs?: VpcRequest[];
  backend_vpcs?: VpcRequest[];
  frontend_vpcs?: VpcRequest[];
}

export interface FirewallRule {
  action: 'ACCEPT' | 'DROP';
  label: string;
  description: string;
  protocol: 'TCP' | 'UDP';
  ports: string;
  addresses: { ipv4?: string[]; ipv6?: string[] };
}
export interface FirewallRules {
  inbound: FirewallRule[];
  inbound_policy: 'ACCEPT' | 'DROP';
  outbound: FirewallRule[];
  outbound_policy: 'ACCEPT' | 'DROP';
}
export interface Firewall {
  id: number;
  label: string;
  tags: string[];
  rules: FirewallRules;
}
export interface FirewallDevice {
  id: number;
  entity: { id: number; type: string };
}

export interface Vpc {
  id: number;
  label: string;
  region: string;
}
export interface Subnet {
  id: number;
  label: string;
}
/** An address, or a range that is routed to it, of an interface in a VPC. */
export interface VpcIp {
  linode_id: number | null;
  nodebalancer_id?: number | null;
  vpc_id: number;
  subnet_id: number;
  interface_id: number;
  config_id: number | null;
  address: string | null;
  address_range: string | null;
  ipv6_range?: string | null;
  ipv6_is_public?: boolean | null;
  ipv6_addresses?: { slaac_address: string }[];
}

export interface RangeList {
  ranges?: { range: string }[];
}
/** An interface of a configuration profile. */
export interface ConfigInterface {
  id: number;
  ip_ranges?: string[] | null;
  ipv6?: RangeList | null;
}
/** An interface of the Linode itself. */
export interface LinodeInterface {
  id: number;
  vpc: { ipv4?: RangeList; ipv6?: RangeList } | null;
}
