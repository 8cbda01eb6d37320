// What `--cloud-config` may say: upstream's YAML (oci-cloud-controller-manager pkg/cloudprovider/providers/oci/config/config.go,
// manifests/provider-config-example.yaml), and four fields of our own, which are marked.

export interface AuthConfig {
  region?: string;
  tenancy?: string;
  user?: string;
  key?: string;
  fingerprint?: string;
  passphrase?: string;
  regionKey?: string;
  useInstancePrincipals?: boolean;
  compartment?: string;
  key_passphrase?: string;
  configFile?: string;
  profile?: string;
}
export interface TagConfig {
  freeform?: Record<string, string>;
  defined?: Record<string, Record<string, unknown>>;
}
export type ManagementMode = 'All' | 'Frontend' | 'None';
export interface Config {
  auth?: AuthConfig;
  useInstancePrincipals?: boolean;
  useWorkloadIdentity?: boolean;
  useResourcePrincipals?: boolean;
  compartment?: string;
  vcn?: string;
  regionKey?: string;
  endpoint?: string;
  loadBalancer?: {
    disabled?: boolean;
    disableSecurityListManagement?: boolean;
    securityListManagementMode?: ManagementMode;
    subnet1?: string;
    subnet2?: string;
    securityLists?: Record<string, string>;
  };
  rateLimiter?: {
    rateLimitQPSRead?: number;
    rateLimitBucketRead?: number;
    rateLimitQPSWrite?: number;
    rateLimitBucketWrite?: number;
    disableRateLimiter?: boolean;
  };
  metrics?: Record<string, string>;
  tags?: { loadBalancer?: TagConfig; blockVolume?: TagConfig; fss?: TagConfig; lustre?: TagConfig; common?: TagConfig };
}

const text = { type: 'string', minLength: 1 } as const;
const bool = { type: 'boolean' } as const;
const ocid = { type: 'string', pattern: '^ocid1\\.' } as const;
const rate = { type: 'number', minimum: 0.1, maximum: 10_000 } as const;
const bucket = { type: 'integer', minimum: 1, maximum: 10_000 } as const;
const tags = {
  type: 'object',
  properties: {
    freeform: { type: 'object', additionalProperties: { type: 'string' } },
    defined: { type: 'object', additionalProperties: { type: 'object', additionalProperties: true } },
  },
} as const;

const auth = {
  type: 'object',
  properties: {
    region: { ...text, description: 'Default: that of the own instance, or of the profile.' },
    tenancy: ocid,
    user: ocid,
    key: { ...text, description: 'The private key in PEM.' },
    fingerprint: { type: 'string', pattern: '^([\\da-fA-F]{2}:){15}[\\da-fA-F]{2}$' },
    passphrase: { type: 'string' },
    regionKey: { ...text, description: 'Has no effect here: volumes are not ours.' },
    useInstancePrincipals: { ...bool, description: 'An old place of useInstancePrincipals.' },
    compartment: { ...ocid, description: 'An old place of compartment.' },
    key_passphrase: { type: 'string', description: 'An old name of passphrase.' },
    configFile: { ...text, description: 'Ours. A file as the CLI of OCI has it. Default: OCI_CONFIG_FILE, or ~/.oci/config.' },
    profile: { ...text, description: 'Ours. Of that file. Default: OCI_CLI_PROFILE, or DEFAULT.' },
  },
} as const;

export const configSchema = {
  type: 'object',
  properties: {
    auth,
    useInstancePrincipals: bool,
    useWorkloadIdentity: bool,
    useResourcePrincipals: { ...bool, description: 'Ours. The principal that OCI_RESOURCE_PRINCIPAL_... names.' },
    compartment: { ...ocid, description: 'Default: that of the own instance.' },
    vcn: ocid,
    regionKey: { ...text, description: 'Has no effect here: volumes are not ours.' },
    endpoint: { type: 'string', pattern: '^https?://', description: 'Ours. In the place of the addresses of OCI.' },
    loadBalancer: {
      type: 'object',
      properties: {
        disabled: bool,
        disableSecurityListManagement: { ...bool, description: 'An old way to say securityListManagementMode: None.' },
        securityListManagementMode: { type: 'string', enum: ['All', 'Frontend', 'None'] },
        subnet1: ocid,
        subnet2: ocid,
        securityLists: { type: 'object', additionalProperties: ocid },
      },
    },
    rateLimiter: {
      type: 'object',
      properties: {
        rateLimitQPSRead: rate,
        rateLimitBucketRead: bucket,
        rateLimitQPSWrite: rate,
        rateLimitBucketWrite: bucket,
        disableRateLimiter: bool,
      },
    },
    metrics: {
      type: 'object',
      description: 'Has no effect here: metrics are those of the manager.',
      properties: { compartmentID: ocid, namespace: text, resourceGroup: text, prefix: text },
    },
    tags: {
      type: 'object',
      properties: { loadBalancer: tags, blockVolume: tags, fss: tags, lustre: tags, common: tags },
    },
  },
} as const;
