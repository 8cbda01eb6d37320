// What the APIs say and take, as far as the provider reads and sends it: BLB (https://cloud.baidu.com/doc/BLB/s/Pjwvxnxdm), EIP
// (https://cloud.baidu.com/doc/EIP/s/Mjwvz2wnn), VPC (https://cloud.baidu.com/doc/VPC/s/Yjwvyu9x2), BCC (https://cloud.baidu.com/doc/BCC/s/yjwvyoe0s).

export interface Page {
  isTruncated: boolean;
  nextMarker?: string | null;
  [field: string]: unknown;
}
export interface Tag {
  tagKey: string;
  tagValue: string;
}

/** `paying` and `unavailable` are states that end only by somebody's hand. */
export type BalancerStatus = 'creating' | 'available' | 'updating' | 'paused' | 'unavailable' | 'paying';
export interface Balancer {
  blbId: string;
  name: string;
  desc: string;
  /** In the VPC. */
  address: string;
  status: BalancerStatus;
  vpcId: string;
  /** The address of the EIP that is bound; absent or '': no EIP is bound. */
  publicIp?: string;
  tags?: Tag[];
}
export interface BalancerRequest {
  name: string;
  desc: string;
  vpcId: string;
  subnetId: string;
  tags: Tag[];
  allocateVip?: boolean;
}

export const schedulers = ['RoundRobin', 'LeastConnection', 'Hash'] as const;
export type Scheduler = (typeof schedulers)[number];
export type ListenerKind = 'TCP' | 'UDP';
export interface ListenerSettings {
  backendPort: number;
  scheduler: Scheduler;
  healthCheckTimeoutInSecond: number;
  healthCheckInterval: number;
  unhealthyThreshold: number;
  healthyThreshold: number;
  /** What a health check over UDP sends. */
  healthCheckString?: string;
}
export interface Listener extends ListenerSettings {
  listenerPort: number;
}
/** Of the list of all listeners, whatever their kind: HTTP, HTTPS and SSL as well. */
export interface ListenerName {
  listenerPort: number;
  listenerType: string;
  backendPort: number;
}
export interface Backend {
  instanceId: string;
  weight: number;
}

export type EipStatus =
  | 'creating'
  | 'available'
  | 'binded'
  | 'binding'
  | 'unbinding'
  | 'updating'
  | 'paused'
  | 'unavailable'
  | 'paying';
export interface Eip {
  name: string;
  eip: string;
  status: EipStatus;
  instanceType?: string | null;
  instanceId?: string | null;
  bandwidthInMbps: number;
  paymentTiming: string;
  billingMethod?: string | null;
  tags?: Tag[];
}
export interface EipRequest {
  name: string;
  bandwidthInMbps: number;
  billing: {
    paymentTiming: string;
    billingMethod?: string;
    reservation?: { reservationLength: number; reservationTimeUnit: 'Month' };
  };
  tags: Tag[];
}

export interface RouteRule {
  routeRuleId: string;
  routeTableId: string;
  sourceAddress: string;
  destinationAddress: string;
  nexthopId: string;
  nexthopType: string;
  description: string;
}
export interface RouteTable {
  routeTableId: string;
  vpcId: string;
  routeRules: RouteRule[];
}
export type RouteRequest = Omit<RouteRule, 'routeRuleId'> & { ipVersion?: '6' };

export interface Subnet {
  subnetId: string;
  name: string;
  zoneName: string;
  vpcId: string;
  subnetType: string;
}

export interface Instance {
  id: string;
  name: string;
  hostname?: string;
  /** Absent or '': it has none. */
  gpuCard?: string;
  status: string;
  internalIp: string;
  publicIp?: string;
  ipv6?: string;
  zoneName: string;
  vpcId: string;
  subnetId: string;
}

export interface GroupRule {
  direction: 'ingress' | 'egress';
  ethertype: 'IPv4' | 'IPv6';
  protocol: string;
  portRange: string;
  sourceIp: string;
  remark?: string;
}
export interface SecurityGroup {
  id: string;
  name: string;
  desc: string;
  vpcId: string;
  rules: GroupRule[];
  tags?: Tag[];
}
