// The parts of OCI's resources that the provider reads and writes, by the names of the API (https://docs.oracle.com/iaas/api/: Core Services,
// Load Balancing, Network Load Balancing). The two kinds of load balancers have the same words for the same things, but for what is noted.

/** `lb`: a load balancer, layer 7; `nlb`: a network load balancer, layer 4. */
export type BalancerKind = 'lb' | 'nlb';

export interface Backend {
  name?: string;
  ipAddress?: string;
  port: number;
  weight?: number;
  /** Network load balancers. */
  targetId?: string;
}
export interface HealthChecker {
  protocol: string;
  urlPath?: string;
  port: number;
  returnCode?: number;
  retries?: number;
  timeoutInMillis?: number;
  intervalInMillis?: number;
  /** Load balancers. */
  isForcePlainText?: boolean;
}
export interface SslConfiguration {
  certificateName: string;
  verifyDepth: number;
  verifyPeerCertificate: boolean;
  cipherSuiteName?: string;
  protocols?: string[];
}
export interface BackendSet {
  policy: string;
  healthChecker: HealthChecker;
  backends: Backend[];
  sslConfiguration?: SslConfiguration;
  /** Network load balancers. */
  isPreserveSource?: boolean;
  ipVersion?: 'IPV4' | 'IPV6';
}
export interface Listener {
  defaultBackendSetName: string;
  port: number;
  protocol: string;
  sslConfiguration?: SslConfiguration;
  connectionConfiguration?: { idleTimeout: number; backendTcpProxyProtocolVersion?: number };
  ruleSetNames?: string[];
  /** Network load balancers. */
  ipVersion?: 'IPV4' | 'IPV6';
  isPpv2Enabled?: boolean;
}
export interface Certificate {
  certificateName: string;
  publicCertificate?: string;
  privateKey?: string;
  caCertificate?: string;
  passphrase?: string;
}
export interface RuleSet {
  items: unknown[];
}
export interface ShapeDetails {
  minimumBandwidthInMbps: number;
  maximumBandwidthInMbps: number;
}
export type Tags = Record<string, string>;
export type DefinedTags = Record<string, Record<string, unknown>>;
export interface BalancerAddress {
  ipAddress?: string;
  isPublic?: boolean;
  reservedIp?: { id?: string };
  ipVersion?: 'IPV4' | 'IPV6';
}

export interface Balancer {
  kind: BalancerKind;
  id: string;
  compartmentId: string;
  displayName: string;
  lifecycleState: string;
  timeCreated: string;
  isPrivate: boolean;
  ipAddresses: BalancerAddress[];
  subnetIds: string[];
  networkSecurityGroupIds: string[];
  listeners: Record<string, Listener>;
  backendSets: Record<string, BackendSet>;
  certificates: Record<string, Certificate>;
  ruleSets: Record<string, RuleSet>;
  shapeName?: string;
  shapeDetails?: ShapeDetails;
  nlbIpVersion?: string;
}

/** What a load balancer is made of. `subnetIds` of a network load balancer is one. */
export interface NewBalancer {
  compartmentId: string;
  displayName: string;
  isPrivate: boolean;
  subnetIds: string[];
  networkSecurityGroupIds: string[];
  listeners: Record<string, Listener>;
  backendSets: Record<string, BackendSet>;
  certificates: Record<string, Certificate>;
  ruleSets: Record<string, RuleSet>;
  reservedIps?: { id: string }[];
  freeformTags?: Tags;
  definedTags?: DefinedTags;
  shapeName?: string;
  shapeDetails?: ShapeDetails;
  nlbIpVersion?: string;
  /** Load balancers; `IPV6` has both. */
  ipMode?: string;
  assignedPrivateIpv4?: string;
  assignedIpv6?: string;
}

/** A change of one piece of a load balancer. */
export type PieceChange =
  | { piece: 'listener'; verb: 'create' | 'update'; name: string; details: Listener }
  | { piece: 'backendSet'; verb: 'create' | 'update'; name: string; details: BackendSet }
  | { piece: 'ruleSet'; verb: 'create' | 'update'; name: string; details: RuleSet }
  | { piece: 'certificate'; verb: 'create'; name: string; details: Certificate }
  | { piece: 'listener' | 'backendSet' | 'ruleSet' | 'certificate'; verb: 'delete'; name: string };

export interface WorkRequest {
  id: string;
  /** The load balancer that it works on, once that is known. */
  balancerId?: string;
  /** As `CreateListener`. */
  type: string;
  state: 'waiting' | 'succeeded' | 'failed';
  compartmentId?: string;
}

export interface Instance {
  id: string;
  compartmentId: string;
  displayName?: string;
  availabilityDomain: string;
  faultDomain?: string;
  lifecycleState: string;
  region: string;
  shape: string;
  definedTags?: DefinedTags;
}
export interface VnicAttachment {
  id: string;
  instanceId: string;
  lifecycleState: string;
  vnicId?: string;
}
export interface Vnic {
  id: string;
  hostnameLabel?: string;
  isPrimary?: boolean;
  privateIp?: string;
  publicIp?: string;
  ipv6Addresses?: string[];
  subnetId?: string;
  definedTags?: DefinedTags;
}
export interface Subnet {
  id: string;
  /** Absent: the subnet is regional. */
  availabilityDomain?: string;
  cidrBlock?: string;
  ipv6CidrBlock?: string;
  ipv6CidrBlocks?: string[];
  compartmentId: string;
  securityListIds?: string[];
  vcnId: string;
}

export interface PortOptions {
  destinationPortRange?: { min: number; max: number };
  sourcePortRange?: { min: number; max: number };
}
interface SecurityListRule {
  /** `6` is TCP, `17` is UDP. */
  protocol: string;
  isStateless?: boolean;
  tcpOptions?: PortOptions;
  udpOptions?: PortOptions;
  description?: string;
}
export interface IngressRule extends SecurityListRule {
  source: string;
  sourceType?: string;
}
export interface EgressRule extends SecurityListRule {
  destination: string;
  destinationType?: string;
}
export interface SecurityList {
  id: string;
  timeCreated: string;
  ingressSecurityRules: IngressRule[];
  egressSecurityRules: EgressRule[];
  /** Names the version that was read. */
  etag?: string;
}
export interface SecurityGroup {
  id: string;
  displayName?: string;
  freeformTags?: Tags;
  lifecycleState: string;
  etag?: string;
}
/** A rule of a network security group. */
export interface GroupRule extends SecurityListRule {
  id?: string;
  direction: 'INGRESS' | 'EGRESS';
  source?: string;
  sourceType?: string;
  destination?: string;
  destinationType?: string;
}
export interface PublicIp {
  id: string;
  ipAddress: string;
  lifecycleState: string;
}
