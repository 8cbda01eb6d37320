// What a client of the emulated AWS needs, as files: keys and profile in the form that every AWS tool reads, and the configuration of
// cloud-provider-aws, which our provider and the vendor's own manager read alike.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { atomicWrite, readFileIfExists } from '#host';
import type { EmulatedNetwork, ManagerSetup } from '../emulator.ts';
import type { AccessKey } from './signature.ts';

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Made once, readable for the owner alone. Throws a sentence for a file that has none. */
export async function accessKeyAt(dir: string): Promise<AccessKey> {
  const path = join(dir, 'credentials');
  const text = (await readFileIfExists(path))?.toString('utf8');
  if (text !== undefined) {
    const [, id] = /^aws_access_key_id = (\S+)$/m.exec(text) ?? [];
    const [, secret] = /^aws_secret_access_key = (\S+)$/m.exec(text) ?? [];
    if (!id || !secret) throw new Error(`${path} has no access key; remove it, and a new one is made`);
    return { id, secret };
  }
  const id = `AKIA${[...randomBytes(16)].map((byte) => base32[byte % 32]).join('')}`;
  const secret = randomBytes(30).toString('base64url');
  await atomicWrite(path, `[default]\naws_access_key_id = ${id}\naws_secret_access_key = ${secret}\n`, { mode: 0o600 });
  return { id, secret };
}

const overridden = ['EC2', 'Elastic Load Balancing', 'Elastic Load Balancing v2', 'STS'];

const overrides = (url: string, region: string): string[] =>
  overridden.flatMap((service, index) => [
    '',
    `[ServiceOverride "${index + 1}"]`,
    `Service = ${service}`,
    `Region = ${region}`,
    `URL = ${url}`,
    `SigningRegion = ${region}`,
  ]);

export async function writeManagerFiles(
  dir: string,
  { cluster, vpcId, subnetIds }: EmulatedNetwork,
  { url, region }: { url: string; region: string },
): Promise<ManagerSetup> {
  const [configFile, profile] = [join(dir, 'cloud.conf'), join(dir, 'config')];
  const lines = [
    '[Global]',
    `Region = ${region}`,
    `VPC = ${vpcId}`,
    `SubnetID = ${subnetIds[0]}`,
    `KubernetesClusterID = ${cluster}`,
    ...overrides(url, region),
    '',
  ];
  await atomicWrite(configFile, lines.join('\n'), { mode: 0o600 });
  await atomicWrite(profile, `[default]\nregion = ${region}\nendpoint_url = ${url}\n`, { mode: 0o600 });
  const { id, secret } = await accessKeyAt(dir);
  const env = {
    AWS_ACCESS_KEY_ID: id,
    AWS_SECRET_ACCESS_KEY: secret,
    AWS_SHARED_CREDENTIALS_FILE: join(dir, 'credentials'),
    AWS_CONFIG_FILE: profile,
    AWS_REGION: region,
    AWS_EC2_METADATA_DISABLED: 'true',
  };
  return { provider: 'aws', configFile, env, unset: ['AWS_SESSION_TOKEN', 'AWS_PROFILE', 'AWS_ENDPOINT_URL'] };
}
