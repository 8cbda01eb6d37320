// What `--cloud-config` says for the provider `local`.
import type { ConfigSchema } from '#cloud-provider';

export interface LocalCloudConfig {
  /** Where the cloud's API answers. */
  url: string;
  token?: string;
  /** Read again from time to time. Relative to the folder of `--cloud-config`. */
  tokenFile?: string;
  /** Authorities of the API's certificate, PEM. */
  caFile?: string;
  /** Marks what belongs to the cluster. */
  clusterId: string;
  vpcId: string;
  /** The route table for routes to pods. Default: the VPC's main one. */
  routeTableId?: string;
  /** The subnets of load balancers. Default: all subnets of the VPC. */
  subnetIds?: string[];
  defaultLoadBalancerKind: 'proxy' | 'network';
}

const text = { type: 'string', minLength: 1 } as const;

export const configSchema: ConfigSchema = {
  type: 'object',
  required: ['url', 'clusterId', 'vpcId'],
  properties: {
    url: { type: 'string', pattern: '^https?://.+', description: "URL of the cloud's API" },
    token: { ...text, description: 'bearer token' },
    tokenFile: { ...text, description: 'file with the bearer token' },
    caFile: { ...text, description: "file with the authorities of the API's certificate" },
    clusterId: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$', description: 'marks what belongs to the cluster' },
    vpcId: { ...text, description: "the cluster's network" },
    routeTableId: { ...text, description: 'route table for routes to pods; default: the main one' },
    subnetIds: { type: 'array', minItems: 1, items: text, description: 'subnets for load balancers; default: all' },
    defaultLoadBalancerKind: { type: 'string', enum: ['proxy', 'network'], default: 'proxy' },
  },
};
