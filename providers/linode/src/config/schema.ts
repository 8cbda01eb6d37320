// What `--cloud-config` may say, in YAML: the same as the environment of linode-cloud-controller-manager, which has no such file.
import type { ConfigSchema } from 'sagong/cloud-provider';

export interface Config {
  region?: string;
  url?: string;
  apiToken?: string;
  apiTokenFile?: string;
  requestTimeoutSeconds?: number;
  instanceCacheTTLSeconds?: number;
  routesCacheTTLSeconds?: number;
  metadataTTLSeconds?: number;
  externalSubnet?: string;
  hostnameOnlyIngress?: boolean;
}

const text = (description: string) => ({ type: 'string', minLength: 1, description }) as const;
const seconds = (description: string) => ({ type: 'integer', minimum: 1, maximum: 86_400, description }) as const;

export const configSchema = {
  type: 'object',
  properties: {
    region: text('LINODE_REGION: the region that NodeBalancers are made in.'),
    url: { ...text('LINODE_URL: where the API is.'), pattern: '^https?://' },
    apiToken: text('LINODE_API_TOKEN: a personal access token.'),
    apiTokenFile: text('LINODE_API_TOKEN_FILE: a file with the token, which is read again when it is replaced.'),
    requestTimeoutSeconds: seconds('LINODE_REQUEST_TIMEOUT_SECONDS: how long a request may take.'),
    instanceCacheTTLSeconds: seconds('LINODE_INSTANCE_CACHE_TTL: how long a list of Linodes counts.'),
    routesCacheTTLSeconds: seconds('LINODE_ROUTES_CACHE_TTL_SECONDS: how long a list of addresses in VPCs counts.'),
    metadataTTLSeconds: seconds('LINODE_METADATA_TTL: how often labels and annotations of Nodes are looked at.'),
    externalSubnet: {
      ...text('LINODE_EXTERNAL_SUBNET: a private range whose addresses count as external.'),
      pattern: '^[0-9a-fA-F.:]+/[0-9]{1,3}$',
    },
    hostnameOnlyIngress: {
      type: 'boolean',
      description: 'LINODE_HOSTNAME_ONLY_INGRESS: Services get the name of their NodeBalancer, and no address.',
    },
  },
} as const satisfies ConfigSchema;
