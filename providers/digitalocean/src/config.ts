// Where settings come from: the environment, as the vendor's own manager takes them, and the file of `--cloud-config`, which says the same in
// YAML. A variable that is set wins over the file.
import type { ConfigSchema } from 'sagong/cloud-provider';
import type { LoadBalancerType } from './api/types.ts';
import { defaultApiUrl } from './api/sdk.ts';
import { isLoadBalancerType, loadBalancerTypes } from './load-balancer/network.ts';

export interface Config {
  accessToken?: string;
  apiURL?: string;
  metadataURL: string;
  clusterID?: string;
  clusterVPCID?: string;
  region?: string;
  apiRateLimitQPS?: number;
  defaultLoadBalancerType?: LoadBalancerType;
  publicAccessFirewall?: { name: string; tags: string[] };
}

const text = (description: string): ConfigSchema => ({ type: 'string', minLength: 1, description });

export const configSchema: ConfigSchema = {
  type: 'object',
  properties: {
    accessToken: text('DO_ACCESS_TOKEN: a token of the account, with rights to read and write.'),
    apiURL: { ...text('DO_OVERRIDE_URL: where the API is.'), pattern: '^https?://' },
    metadataURL: {
      ...text('Where the metadata service of droplets is; asked for the region when none is given.'),
      pattern: '^https?://',
      default: 'http://169.254.169.254',
    },
    clusterID: text('DO_CLUSTER_ID: load balancers are tagged with it.'),
    clusterVPCID: text('DO_CLUSTER_VPC_ID: the VPC that load balancers are made in.'),
    region: text('REGION: slug of the region that load balancers are made in.'),
    apiRateLimitQPS: { type: 'number', minimum: 0.01, description: 'DO_API_RATE_LIMIT_QPS: requests per second at most.' },
    defaultLoadBalancerType: {
      type: 'string',
      enum: loadBalancerTypes,
      description: 'DEFAULT_LB_TYPE: of Services that name none.',
    },
    publicAccessFirewall: {
      type: 'object',
      description: 'PUBLIC_ACCESS_FIREWALL_NAME and _TAGS: the firewall that is opened for Services.',
      required: ['name', 'tags'],
      properties: {
        name: text('Name of the firewall.'),
        tags: { type: 'array', minItems: 1, items: text('Tag of the droplets it is for.') },
      },
    },
  },
};

export interface Settings {
  accessToken: string;
  apiUrl: string;
  metadataUrl: string;
  clusterId: string;
  vpcId: string;
  /** '': that of the machine this runs on. */
  region: string;
  requestsPerSecond?: number;
  defaultType: LoadBalancerType;
  firewall?: { name: string; tags: string[] };
}

type Environment = Readonly<Record<string, string | undefined>>;

function rateOf(value: string | undefined, otherwise: number | undefined): number | undefined {
  if (!value) return otherwise;
  const rate = Number(value);
  if (!(rate > 0) || !Number.isFinite(rate))
    throw new Error(`failed to parse value from environment variable DO_API_RATE_LIMIT_QPS: ${JSON.stringify(value)}`);
  return rate;
}

function firewallOf(env: Environment, otherwise: Settings['firewall']): Settings['firewall'] {
  const { PUBLIC_ACCESS_FIREWALL_NAME: name = '', PUBLIC_ACCESS_FIREWALL_TAGS: tags = '' } = env;
  if (name === '' && tags === '') return otherwise;
  const missing = name === '' ? 'PUBLIC_ACCESS_FIREWALL_NAME' : 'PUBLIC_ACCESS_FIREWALL_TAGS';
  if (name === '' || tags === '') throw new Error(`environment variable "${missing}" is required when managing firewalls`);
  return { name, tags: tags.split(',').map((tag) => tag.trim()) };
}

/** Upstream takes the default, without a word, for a value of DEFAULT_LB_TYPE that is no type; so do we. */
function defaultTypeOf(value: string | undefined, otherwise: LoadBalancerType | undefined): LoadBalancerType {
  if (value && isLoadBalancerType(value)) return value;
  return otherwise ?? 'REGIONAL_NETWORK';
}

/** Throws with the variable that is missing or wrong. */
export function settingsFrom(config: Config, env: Environment): Settings {
  const accessToken = env.DO_ACCESS_TOKEN || config.accessToken;
  if (!accessToken)
    throw new Error('environment variable "DO_ACCESS_TOKEN" is required (or accessToken in the file of --cloud-config)');
  const rate = rateOf(env.DO_API_RATE_LIMIT_QPS, config.apiRateLimitQPS);
  const firewall = firewallOf(env, config.publicAccessFirewall);
  return {
    accessToken,
    apiUrl: env.DO_OVERRIDE_URL || config.apiURL || defaultApiUrl,
    metadataUrl: config.metadataURL.replace(/\/+$/, ''),
    clusterId: env.DO_CLUSTER_ID || config.clusterID || '',
    vpcId: env.DO_CLUSTER_VPC_ID || config.clusterVPCID || '',
    region: env.REGION || config.region || '',
    ...(rate !== undefined && { requestsPerSecond: rate }),
    defaultType: defaultTypeOf(env.DEFAULT_LB_TYPE, config.defaultLoadBalancerType),
    ...(firewall && { firewall }),
  };
}
