// Settings from the file of `--cloud-config` and from the environment, which has the names of the vendor's Terraform provider. A variable that is
// set wins.
import type { Clock } from 'sagong/cloud-provider';
import { configPath, firstCredentials, secretFile } from 'sagong/cloud-provider/kit';
import { type Endpoints, services } from '../api/client.ts';
import type { Credentials } from '../api/sign.ts';
import type { Config } from './schema.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Settings {
  clusterId: string;
  region: string;
  endpoints: Endpoints;
  /** Absent: that of the master. */
  vpcId?: string;
  subnetId?: string;
  masterId?: string;
}

/** Upstream's. */
const defaultRegion = 'bj';

/** Throws with the field that is missing. */
export function settingsFrom(config: Config, env: Environment): Settings {
  const region = env['BAIDUCLOUD_REGION'] || config.Region || defaultRegion;
  if (!/^[a-z][a-z0-9-]{0,19}$/.test(region)) throw new Error(`BAIDUCLOUD_REGION: ${JSON.stringify(region)} is not a region`);
  const { VpcId: vpcId, SubnetId: subnetId, MasterId: masterId, Endpoints: given = {} } = config;
  if (!vpcId && !masterId) throw new Error('cloud-config: VpcId is needed, or MasterId, an instance in the VPC');
  const endpoints = Object.fromEntries(
    services.map((name) => [name, (given[name] ?? `https://${name}.${region}.baidubce.com`).replace(/\/$/, '')]),
  ) as Endpoints;
  return {
    clusterId: config.ClusterId,
    region,
    endpoints,
    ...(vpcId && { vpcId }),
    ...(subnetId && { subnetId }),
    ...(masterId && { masterId }),
  };
}

/** Both halves, or neither. Keys go into a header, so they have no blanks. */
function credentialsOf(key?: string, secret?: string, token?: string): Credentials | undefined {
  const [accessKeyId, secretAccessKey, sessionToken] = [key, secret, token].map((text) => text?.trim() || undefined);
  if (accessKeyId === undefined && secretAccessKey === undefined) return undefined;
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new Error(`the ${accessKeyId === undefined ? 'access key ID' : 'secret access key'} is missing`);
  for (const text of [accessKeyId, secretAccessKey, sessionToken])
    if (text !== undefined && /[^\x21-\x7e]/.test(text)) throw new Error('they have characters that no key has');
  if (accessKeyId.includes('/')) throw new Error('the access key ID has a slash');
  return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
}

function parseFile(text: string): Credentials {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Told below; the parser's message would quote the file.
  }
  if (typeof value !== 'object' || value === null) throw new Error('CredentialsFile: it is not a JSON object');
  const fields = value as Record<string, unknown>;
  const of = (name: string): string | undefined => {
    const field = fields[name];
    if (field !== undefined && typeof field !== 'string') throw new Error(`CredentialsFile: ${name} is not a text`);
    return field;
  };
  const found = credentialsOf(of('accessKeyId'), of('secretAccessKey'), of('sessionToken'));
  if (!found) throw new Error('CredentialsFile: accessKeyId and secretAccessKey are missing');
  return found;
}

export interface CredentialsOptions {
  config: Config;
  configDir: string;
  env: Environment;
  clock: Clock;
}

/** Where the keys come from: the file that is named, else the environment, else the configuration. */
export async function credentialsFrom({ config, configDir, env, clock }: CredentialsOptions) {
  const path = config.CredentialsFile;
  const sources = [];
  if (path) {
    const full = configPath(path, configDir);
    const fromFile = secretFile({ path: full, what: 'CredentialsFile', clock, parse: parseFile });
    sources.push({
      name: `the file ${full}`,
      find: async () => {
        await fromFile();
        return fromFile;
      },
    });
  }
  const fixed = (key?: string, secret?: string, token?: string) => () => {
    const found = credentialsOf(key, secret, token);
    return found && (() => Promise.resolve(found));
  };
  const { BAIDUCLOUD_ACCESS_KEY: key, BAIDUCLOUD_SECRET_KEY: secret, BAIDUCLOUD_SESSION_TOKEN: token } = env;
  sources.push(
    { name: 'BAIDUCLOUD_ACCESS_KEY and BAIDUCLOUD_SECRET_KEY', find: fixed(key, secret, token) },
    {
      name: 'AccessKeyID and SecretAccessKey of cloud-config',
      find: fixed(config.AccessKeyID, config.SecretAccessKey, config.SessionToken),
    },
  );
  return firstCredentials<() => Promise<Credentials>>(sources);
}
