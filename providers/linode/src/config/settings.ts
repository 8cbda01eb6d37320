// Settings from the environment, as upstream takes them, and from the file of `--cloud-config`. A variable that is set wins.
import { annotationsOf, configPath, firstCredentials, secretFile } from 'sagong/cloud-provider/kit';
import type { Clock } from 'sagong/cloud-provider';
import { instanceTtlSeconds, metadataTtlSeconds, requestTimeoutSeconds, routesTtlSeconds } from '../limits.ts';
import type { Config } from './schema.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Settings {
  region: string;
  /** With the version of the API, without a slash at its end. */
  url: string;
  requestTimeoutMs: number;
  instanceTtlMs: number;
  routesTtlMs: number;
  metadataTtlMs: number;
  /** '': none. */
  externalSubnet: string;
  hostnameOnly: boolean;
}

const defaultUrl = 'https://api.linode.com/v4';
/** Where the vendor's chart mounts the Secret. */
const defaultTokenFile = '/var/run/secrets/linode/api-token';

/** The address of the API with its version, which may be left out. */
export function apiUrlOf(url: string): string {
  if (!URL.canParse(url) || !/^https?:/.test(url)) throw new Error(`LINODE_URL: not the URL of an API: ${JSON.stringify(url)}`);
  const plain = url.replace(/\/+$/, '');
  return /\/v\d+(beta\d*)?$/.test(plain) ? plain : `${plain}/v4`;
}

/** Upstream takes the default, without a word, for a variable that is no number of seconds; so do we. */
function secondsMs(variable: string | undefined, given: number | undefined, otherwise: number): number {
  const seconds = /^\d{1,9}$/.test(variable ?? '') && Number(variable) > 0 ? Number(variable) : (given ?? otherwise);
  return seconds * 1_000;
}

const isTrue = (value: string): boolean => {
  const reader = annotationsOf({ metadata: { annotations: { value } } });
  try {
    return reader.boolean('value') ?? false;
  } catch {
    return false;
  }
};

/** Throws with the variable that is missing or wrong. */
export function settingsFrom(config: Config, env: Environment): Settings {
  const region = env['LINODE_REGION'] || config.region;
  if (!region) throw new Error('LINODE_REGION must be set in the environment (use a k8s secret), or region in --cloud-config');
  const externalSubnet = env['LINODE_EXTERNAL_SUBNET'] || config.externalSubnet || '';
  if (externalSubnet !== '' && !/^[\da-fA-F.:]+\/\d{1,3}$/.test(externalSubnet))
    throw new Error(`Unable to parse ${externalSubnet} as network subnet`);
  const hostnameOnly = env['LINODE_HOSTNAME_ONLY_INGRESS'];
  return {
    region,
    url: apiUrlOf(env['LINODE_URL'] || config.url || defaultUrl),
    requestTimeoutMs: secondsMs(env['LINODE_REQUEST_TIMEOUT_SECONDS'], config.requestTimeoutSeconds, requestTimeoutSeconds),
    instanceTtlMs: secondsMs(env['LINODE_INSTANCE_CACHE_TTL'], config.instanceCacheTTLSeconds, instanceTtlSeconds),
    routesTtlMs: secondsMs(env['LINODE_ROUTES_CACHE_TTL_SECONDS'], config.routesCacheTTLSeconds, routesTtlSeconds),
    metadataTtlMs: secondsMs(env['LINODE_METADATA_TTL'], config.metadataTTLSeconds, metadataTtlSeconds),
    externalSubnet,
    hostnameOnly: hostnameOnly ? isTrue(hostnameOnly) : (config.hostnameOnlyIngress ?? false),
  };
}

/** The text of a token: no blanks inside, which no header takes. */
const tokenIn = (text: string): string => {
  if (/[^\x21-\x7e]/.test(text)) throw new Error('it is not a token');
  return text;
};

export interface TokenOptions {
  config: Config;
  configDir: string;
  env: Environment;
  clock: Clock;
  /** The mounted Secret; of tests. */
  tokenFile?: string;
}

/**
 * Where the token comes from: the file that is named, else the mounted Secret, else the variable, else the configuration. A file that is named and
 * cannot be read is an error only where no other token is given, as upstream has it.
 */
export async function tokenSource(options: TokenOptions): Promise<{ token: () => Promise<string>; from: string }> {
  const { config, configDir, env, clock, tokenFile = defaultTokenFile } = options;
  const named = env['LINODE_API_TOKEN_FILE']?.trim() || (config.apiTokenFile && configPath(config.apiTokenFile, configDir));
  const path = named || tokenFile;
  const ttlMs = secondsMs(env['LINODE_API_TOKEN_CACHE_TTL_SECONDS'], undefined, 60);
  const plain = env['LINODE_API_TOKEN']?.trim() || config.apiToken?.trim();
  const fromFile = secretFile({ path, what: 'LINODE_API_TOKEN_FILE', clock, lookMs: ttlMs, parse: tokenIn });
  const { credentials, from } = await firstCredentials([
    {
      name: `the file ${path}`,
      find: async () => {
        try {
          await fromFile();
          return fromFile;
        } catch (error) {
          if (named && !plain) throw error;
          return undefined;
        }
      },
    },
    {
      name: 'LINODE_API_TOKEN',
      find: () => {
        const token = plain && tokenIn(plain);
        return token ? () => Promise.resolve(token) : undefined;
      },
    },
  ]);
  return { token: credentials, from };
}
