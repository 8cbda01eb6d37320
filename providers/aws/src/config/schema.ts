// The fields of the configuration and their types (cloud-provider-aws pkg/providers/v1/config, CloudConfig): from them come reading the INI
// text, checking it, and the table in the README.
import type { ConfigSchema } from 'sagong/cloud-provider';

export interface ServiceOverride {
  Service: string;
  Region: string;
  URL: string;
  SigningRegion: string;
  SigningMethod?: string;
  SigningName?: string;
}

export interface GlobalConfig {
  Zone?: string;
  Region?: string;
  VPC?: string;
  SubnetID?: string;
  RouteTableID?: string;
  RoleARN?: string;
  SourceARN?: string;
  KubernetesClusterTag?: string;
  KubernetesClusterID?: string;
  DisableSecurityGroupIngress: boolean;
  ElbSecurityGroup?: string;
  NodeIPFamilies: ('ipv4' | 'ipv6')[];
  ClusterServiceLoadBalancerHealthProbeMode: 'ServiceNodePort' | 'Shared';
  ClusterServiceSharedLoadBalancerHealthProbePort: number;
  ClusterServiceSharedLoadBalancerHealthProbePath: string;
  SupportedTopologyInstanceTypePattern?: string;
  NLBSecurityGroupMode?: 'Managed';
}

export interface AwsConfig {
  Global: GlobalConfig;
  ServiceOverride: Record<string, ServiceOverride>;
}

const text: ConfigSchema = { type: 'string', minLength: 1 };

const global: Readonly<Record<keyof GlobalConfig, ConfigSchema>> = {
  Zone: { ...text, description: 'availability zone; the region follows from it', pattern: '^([a-zA-Z]+-)+[0-9]+' },
  Region: { ...text, description: 'region, when there is no Zone; default: the metadata service says' },
  VPC: { ...text, description: 'network of the nodes, for a manager that runs elsewhere' },
  SubnetID: { ...text, description: 'subnet for load balancers when no subnet carries a tag' },
  RouteTableID: { ...text, description: 'route table for pods; default: the one with the tag of the cluster' },
  RoleARN: { ...text, description: 'role to assume for every call' },
  SourceARN: { ...text, description: 'on whose behalf the role is assumed (confused deputy)' },
  KubernetesClusterTag: { ...text, description: 'name of the cluster in the old tag KubernetesCluster' },
  KubernetesClusterID: { ...text, description: 'name of the cluster in the tag kubernetes.io/cluster/<name>' },
  DisableSecurityGroupIngress: { type: 'boolean', default: false, description: 'leave the rules of the nodes alone' },
  ElbSecurityGroup: { ...text, description: 'one security group for all classic load balancers' },
  NodeIPFamilies: {
    type: 'array',
    items: { type: 'string', enum: ['ipv4', 'ipv6'] },
    minItems: 1,
    default: ['ipv4'],
    description: 'address families of nodes, in this order; one line each',
  },
  ClusterServiceLoadBalancerHealthProbeMode: {
    type: 'string',
    enum: ['ServiceNodePort', 'Shared'],
    default: 'ServiceNodePort',
    description: "what is asked for a Service with traffic policy Cluster: its own port, or kube-proxy's health",
  },
  ClusterServiceSharedLoadBalancerHealthProbePort: { type: 'integer', minimum: 1, maximum: 65_535, default: 10_256 },
  ClusterServiceSharedLoadBalancerHealthProbePath: { type: 'string', pattern: '^/', default: '/healthz' },
  SupportedTopologyInstanceTypePattern: { ...text, description: 'instance types that must have a network topology' },
  NLBSecurityGroupMode: {
    type: 'string',
    enum: ['Managed'],
    description: 'Managed: a security group of its own for every network load balancer',
  },
};

const override: Readonly<Record<keyof ServiceOverride, ConfigSchema>> = {
  Service: { ...text, description: 'SDK id: EC2, Elastic Load Balancing, Elastic Load Balancing v2, STS, ec2imds' },
  Region: text,
  URL: { ...text, pattern: '^https?://' },
  SigningRegion: text,
  SigningMethod: { ...text, description: 'has no effect: requests are signed with version 4' },
  SigningName: text,
};

export const configSchema = {
  type: 'object',
  properties: {
    Global: { type: 'object', properties: global },
    ServiceOverride: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        properties: override,
        required: ['Service', 'Region', 'URL', 'SigningRegion'],
      },
    },
  },
} satisfies ConfigSchema;
