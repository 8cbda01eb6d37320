// The instance metadata service, version 2 (docs.aws.amazon.com, "Use the Instance Metadata Service"): what the instance this process runs on
// knows of itself. Asked only for what the configuration leaves open.
import { boundedText, during, textOf } from 'sagong/cloud-provider/kit';
import { metadataBytesMax, metadataTimeoutMs, metadataTokenSeconds } from './limits.ts';

export interface InstanceMetadataService {
  region(): Promise<string>;
  instanceId(): Promise<string>;
}

const defaultEndpoint = 'http://169.254.169.254';

async function ask(url: string, init: RequestInit): Promise<string> {
  const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(metadataTimeoutMs) });
  if (!response.ok) throw new Error(`${url}: HTTP ${response.status}`);
  return (await boundedText(response, metadataBytesMax)).trim();
}

export function metadataService(
  endpoint = process.env['AWS_EC2_METADATA_SERVICE_ENDPOINT'] ?? defaultEndpoint,
): InstanceMetadataService {
  const base = `${endpoint.replace(/\/$/, '')}/latest`;
  const get = async (path: string): Promise<string> => {
    const token = await ask(`${base}/api/token`, {
      method: 'PUT',
      headers: { 'x-aws-ec2-metadata-token-ttl-seconds': String(metadataTokenSeconds) },
    });
    return ask(`${base}/meta-data/${path}`, { headers: { 'x-aws-ec2-metadata-token': token } });
  };
  const explained = (field: string) => (error: unknown) =>
    during(`the EC2 metadata service at ${endpoint} cannot be asked, and ${field} is not in the configuration`)(
      new Error(textOf((error as { cause?: unknown }).cause ?? error), { cause: error }),
    );
  return {
    region: () => get('placement/region').catch(explained('Global.Region')),
    instanceId: () => get('instance-id').catch(explained('Global.VPC with SubnetID or RoleARN and KubernetesClusterID')),
  };
}
