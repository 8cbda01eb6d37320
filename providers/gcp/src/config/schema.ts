// What `--cloud-config` may say: upstream's `[global]` section (cloud-provider-gcp gce.go, ConfigGlobal).

export interface GceConfig {
  'token-url'?: string;
  'token-body'?: string;
  'project-id'?: string;
  'network-project-id'?: string;
  'network-name'?: string;
  'subnetwork-name'?: string;
  'stack-type'?: 'IPV4' | 'IPV6' | 'IPV4_IPV6';
  'secondary-range-name'?: string;
  'node-tags': string[];
  'node-instance-prefix': string;
  regional: boolean;
  multizone: boolean;
  'api-endpoint'?: string;
  'container-api-endpoint'?: string;
  'local-zone'?: string;
  'alpha-features': string[];
}

const text = { type: 'string', minLength: 1 } as const;
const texts = { type: 'array', items: text, default: [] } as const;

export const globalSchema = {
  type: 'object',
  properties: {
    'token-url': {
      ...text,
      description: 'Where access tokens come from in the place of the usual sources; `nil`: the usual ones.',
    },
    'token-body': { ...text, description: 'What is posted to token-url.' },
    'project-id': { ...text, description: 'Name or number. Default: the project of the own instance.' },
    'network-project-id': { ...text, description: 'The project of a shared network.' },
    'network-name': { ...text, description: 'Name, or URL with a slash. Default: the network of the own instance.' },
    'subnetwork-name': { ...text, description: 'Name, or URL with a slash.' },
    'stack-type': { type: 'string', enum: ['IPV4', 'IPV6', 'IPV4_IPV6'] },
    'secondary-range-name': text,
    'node-tags': { ...texts, description: 'Network tags of nodes, which firewall rules name.' },
    'node-instance-prefix': { type: 'string', default: '' },
    regional: { type: 'boolean', default: false },
    multizone: { type: 'boolean', default: false },
    'api-endpoint': { type: 'string', pattern: '^https?://' },
    'container-api-endpoint': { type: 'string', pattern: '^https?://' },
    'local-zone': { type: 'string', pattern: '^[a-z0-9-]+-[a-z0-9]+$' },
    'alpha-features': { ...texts, items: { type: 'string', enum: ['ILBSubsets', 'SkipIGsManagement'] } },
  },
} as const;
