// Who the provider is to OCI: a user with a key, in the configuration or in a profile of the CLI's file; the own instance; a workload or another
// resource (https://docs.oracle.com/iaas/Content/API/Concepts/sdk_authentication_methods.htm).
import { createPrivateKey } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import {
  type AuthenticationDetailsProvider,
  ConfigFileAuthenticationDetailsProvider,
  ConfigFileReader,
  InstancePrincipalsAuthenticationDetailsProviderBuilder,
  ResourcePrincipalAuthenticationDetailsProvider,
  SimpleAuthenticationDetailsProvider,
} from 'oci-common';
import { type Clock, ConfigError } from 'sagong/cloud-provider';
import { configPath, fromFiles, textOf } from 'sagong/cloud-provider/kit';
import type { Config } from '../config/schema.ts';
import { credentialKindOf, type Environment } from '../config/settings.ts';
import { providerName } from '../names.ts';
import { workloadCredentials } from './workload.ts';

export interface Credentials {
  /** Found when the first request goes out. */
  provider(): Promise<AuthenticationDetailsProvider>;
  /** The region that a profile names. */
  region?: string;
  /** Where they are from, for the log. */
  from: string;
}

export interface CredentialContext {
  configDir: string;
  env: Environment;
  clock: Clock;
}

const regionOf = (provider: AuthenticationDetailsProvider): string | undefined =>
  'getRegion' in provider ? (provider as { getRegion(): { regionId?: string } | undefined }).getRegion()?.regionId : undefined;

/** Throws for a key that no request could be signed with. */
function checkKey(field: string, provider: AuthenticationDetailsProvider): void {
  const passphrase = provider.getPassphrase();
  try {
    createPrivateKey({ key: provider.getPrivateKey(), ...(passphrase && { passphrase }) });
  } catch {
    // What it says may show a part of the key.
    throw new ConfigError(providerName, [`${field}: is not a private key in PEM, or its passphrase is another one`]);
  }
}

function fromKey({ auth = {} }: Config): Credentials {
  const { tenancy = '', user = '', fingerprint = '', key = '', passphrase, key_passphrase: old } = auth;
  const provider = new SimpleAuthenticationDetailsProvider(tenancy, user, fingerprint, key, passphrase || old || null);
  checkKey('auth.key', provider);
  return { provider: () => Promise.resolve(provider), from: `user ${user}` };
}

/** Files that a profile names. */
const fileKeys = ['key_file', 'security_token_file', 'delegation_token_file'];

function fromProfile({ auth = {} }: Config, { configDir, env, clock }: CredentialContext): Credentials {
  const named = auth.configFile ? configPath(auth.configFile, configDir) : env['OCI_CONFIG_FILE'];
  const file = named || join(homedir(), '.oci', 'config');
  const profile = auth.profile ?? env['OCI_CLI_PROFILE'] ?? 'DEFAULT';
  const from = `profile ${profile} of ${file}`;
  const make = (): AuthenticationDetailsProvider => {
    let made: AuthenticationDetailsProvider;
    try {
      made = new ConfigFileAuthenticationDetailsProvider(file, profile);
    } catch (error) {
      throw new Error(`${from} cannot be used: ${textOf(error)}`, { cause: error });
    }
    checkKey(`key_file of profile ${profile} in ${file}`, made);
    return made;
  };
  const paths = (): string[] => {
    const read = ConfigFileReader.parseFileFromPath(file, profile);
    const named = fileKeys.flatMap((key) => read.get(key) ?? []).map((path) => ConfigFileReader.expandUserHome(path));
    return [file, ...named];
  };
  const region = regionOf(make());
  return { provider: fromFiles({ paths, what: from, clock, make }), from, ...(region && { region }) };
}

/** One try at a time; after a failure the next request tries again. */
function once<T>(find: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | undefined;
  return () =>
    (found ??= find().catch((error: unknown) => {
      found = undefined;
      throw error;
    }));
}

function ofInstance(env: Environment): () => Promise<AuthenticationDetailsProvider> {
  return once(async () => {
    const builder = new InstancePrincipalsAuthenticationDetailsProviderBuilder();
    const { OCI_METADATA_BASE_URL: metadata, OCI_SDK_AUTH_CLIENT_REGION_URL: federation } = env;
    if (metadata) builder.metadataBaseUrl = metadata;
    if (federation) builder.federationEndpoint = federation;
    return (await builder.build()) as AuthenticationDetailsProvider;
  });
}

export function credentialsOf(config: Config, { configDir, env, clock }: CredentialContext): Credentials {
  const kind = credentialKindOf(config);
  if (kind === 'key') return fromKey(config);
  if (kind === 'profile') return fromProfile(config, { configDir, env, clock });
  const instance = ofInstance(env);
  if (kind === 'instance') return { provider: instance, from: 'the own instance' };
  if (kind === 'workload') return { provider: workloadCredentials({ env, clock, instance }), from: 'the workload' };
  // It reads the environment at once, and throws with what is missing.
  const provider = ResourcePrincipalAuthenticationDetailsProvider.builder() as AuthenticationDetailsProvider;
  const region = regionOf(provider);
  return { provider: () => Promise.resolve(provider), from: 'a resource principal', ...(region && { region }) };
}
