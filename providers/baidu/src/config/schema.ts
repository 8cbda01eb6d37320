// What `--cloud-config` says: the file of cloud-provider-baiducloud (cce.go, CloudConfig), JSON or YAML, and what that one lacks.
import type { ConfigSchema } from 'sagong/cloud-provider';

export interface Config {
  ClusterId: string;
  ClusterName?: string;
  AccessKeyID?: string;
  SecretAccessKey?: string;
  SessionToken?: string;
  CredentialsFile?: string;
  Region?: string;
  VpcId?: string;
  SubnetId?: string;
  MasterId?: string;
  Endpoint?: string;
  Endpoints?: { blb?: string; eip?: string; vpc?: string; bcc?: string };
  NodeName?: string;
  NodeIP?: string;
  Debug?: boolean;
}

const text = (description: string) => ({ type: 'string', description }) as const;
const url = { type: 'string', pattern: '^https?://[^/?#]+/?$' } as const;

export const configSchema = {
  type: 'object',
  required: ['ClusterId'],
  properties: {
    ClusterId: {
      type: 'string',
      pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$',
      description: 'The cluster: in the names, descriptions and tags of all that is made.',
    },
    ClusterName: text('Accepted; has no effect.'),
    AccessKeyID: text('The key, with SecretAccessKey; better given in CredentialsFile or by the environment.'),
    SecretAccessKey: text('Belongs to AccessKeyID.'),
    SessionToken: text('Of temporary credentials from STS.'),
    CredentialsFile: text(
      'JSON with accessKeyId, secretAccessKey and sessionToken, as STS gives them; read again when it is replaced.',
    ),
    Region: { ...text('As bj, gz, su, hkg.'), pattern: '^([a-z][a-z0-9-]{0,19})?$' },
    VpcId: text('The VPC of the nodes. Default: that of MasterId.'),
    SubnetId: text('Where load balancers are made. Default: that of a node.'),
    MasterId: text('An instance of the cluster, which says the VPC where VpcId does not.'),
    Endpoint: text("CCE's own API, which is not called: instances come from BCC."),
    Endpoints: {
      type: 'object',
      description: 'Other addresses of the APIs.',
      properties: { blb: url, eip: url, vpc: url, bcc: url },
    },
    NodeName: text('Accepted; has no effect.'),
    NodeIP: text('Accepted; has no effect.'),
    Debug: { type: 'boolean', description: 'Accepted; has no effect.' },
  },
} as const satisfies ConfigSchema;
