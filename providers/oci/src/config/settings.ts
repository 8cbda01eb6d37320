// The configuration as it counts: old names read, defaults filled in, contradictions refused by field.
import { ConfigError } from 'sagong/cloud-provider';
import type { RateLimits } from '../api/client.ts';
import { requestsBurst, requestsPerSecond } from '../limits.ts';
import { providerName } from '../names.ts';
import type { Config, ManagementMode, TagConfig } from './schema.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type CredentialKind = 'key' | 'profile' | 'instance' | 'workload' | 'resource';

export interface Settings {
  credentials: CredentialKind;
  region: string;
  compartment: string;
  /** '': not given. */
  vcn: string;
  endpoint?: string;
  /** Undefined: the provider makes no load balancers. */
  loadBalancer?: {
    mode: ManagementMode;
    subnet1: string;
    subnet2: string;
    /** By subnet, the list to write to. */
    securityLists: Readonly<Record<string, string>>;
  };
  rates: RateLimits | undefined;
  tags: TagConfig;
  /** Added to `tags` or what stands in their place. */
  commonTags: TagConfig;
  /** What the names of load balancers begin with. */
  namePrefix: string;
}

/** What can be found out from the own instance. */
export interface OwnPlace {
  region?: string;
  compartment?: string;
}

const keyFields = ['tenancy', 'user', 'key', 'fingerprint'] as const;

function* principalProblems(config: Config): Generator<string> {
  const chosen = (['useInstancePrincipals', 'useWorkloadIdentity', 'useResourcePrincipals'] as const).filter(
    (field) => config[field] || (field === 'useInstancePrincipals' && config.auth?.useInstancePrincipals),
  );
  if (chosen.length > 1) yield `${chosen[1]}: ${chosen.join(' and ')} cannot both be true`;
}

function* authProblems(config: Config, kind: CredentialKind): Generator<string> {
  const { auth = {} } = config;
  if (kind === 'workload' && !auth.region) yield 'auth.region: is required where useWorkloadIdentity is true';
  if (kind === 'key') for (const field of keyFields) if (!auth[field]) yield `auth.${field}: is required`;
  const isFromFile = auth.profile !== undefined || auth.configFile !== undefined;
  if (kind !== 'profile' && isFromFile)
    yield `auth.${auth.profile === undefined ? 'configFile' : 'profile'}: contradicts the other credentials`;
  if (auth.passphrase && auth.key_passphrase && auth.passphrase !== auth.key_passphrase)
    yield 'auth.key_passphrase: contradicts auth.passphrase';
}

function* placeProblems({ compartment, auth, loadBalancer, vcn }: Config): Generator<string> {
  if (compartment && auth?.compartment && compartment !== auth.compartment) yield 'auth.compartment: contradicts compartment';
  if (!loadBalancer || loadBalancer.disabled) return;
  const { subnet1, subnet2, securityListManagementMode: mode, disableSecurityListManagement: without } = loadBalancer;
  if (!subnet1 && !vcn) yield 'vcn: is required where loadBalancer.subnet1 is not given';
  if (!subnet1 && subnet2) yield 'loadBalancer.subnet1: is required where loadBalancer.subnet2 is given';
  if (without && mode && mode !== 'None')
    yield 'loadBalancer.disableSecurityListManagement: contradicts loadBalancer.securityListManagementMode';
}

/** The kind of credentials that the configuration asks for. */
export function credentialKindOf({ auth = {}, ...config }: Config): CredentialKind {
  if (config.useWorkloadIdentity) return 'workload';
  if (config.useResourcePrincipals) return 'resource';
  if (config.useInstancePrincipals || auth.useInstancePrincipals) return 'instance';
  return keyFields.some((field) => auth[field]) ? 'key' : 'profile';
}

function ratesOf({ rateLimiter = {} }: Config): RateLimits | undefined {
  if (rateLimiter.disableRateLimiter) return undefined;
  return {
    readPerSecond: rateLimiter.rateLimitQPSRead ?? requestsPerSecond,
    readBurst: rateLimiter.rateLimitBucketRead ?? requestsBurst,
    writePerSecond: rateLimiter.rateLimitQPSWrite ?? requestsPerSecond,
    writeBurst: rateLimiter.rateLimitBucketWrite ?? requestsBurst,
  };
}

function balancersOf({ loadBalancer }: Config): Settings['loadBalancer'] {
  if (!loadBalancer || loadBalancer.disabled) return undefined;
  const { disableSecurityListManagement: without, securityListManagementMode: mode } = loadBalancer;
  const { subnet1 = '', subnet2 = '', securityLists = {} } = loadBalancer;
  return { mode: mode ?? (without ? 'None' : 'All'), subnet1, subnet2, securityLists };
}

/** Throws a `ConfigError` for what contradicts itself. */
export function checkConfig(config: Config): void {
  const kind = credentialKindOf(config);
  const problems = [...principalProblems(config), ...authProblems(config, kind), ...placeProblems(config)];
  if (problems.length > 0) throw new ConfigError(providerName, problems);
}

/** `own`: asked for where the configuration does not say it; `profileRegion`: of the credentials. */
export async function settingsOf(
  config: Config,
  env: Environment,
  own: () => Promise<OwnPlace>,
  profileRegion?: string,
): Promise<Settings> {
  const { auth = {}, endpoint, vcn = '', tags = {} } = config;
  const given = { region: auth.region ?? profileRegion, compartment: config.compartment ?? auth.compartment };
  const place = given.region && given.compartment ? {} : await own();
  const { region = place.region, compartment = place.compartment } = given;
  const problems = [
    ...(region ? [] : ['auth.region: is required, as it cannot be found out from the own instance']),
    ...(compartment ? [] : ['compartment: is required, as it cannot be found out from the own instance']),
  ];
  if (!region || !compartment) throw new ConfigError(providerName, problems);
  const loadBalancer = balancersOf(config);
  return {
    credentials: credentialKindOf(config),
    region,
    compartment,
    vcn,
    ...(endpoint && { endpoint: endpoint.replace(/\/+$/, '') }),
    ...(loadBalancer && { loadBalancer }),
    rates: ratesOf(config),
    tags: tags.loadBalancer ?? {},
    commonTags: tags.common ?? {},
    namePrefix: env['LOAD_BALANCER_PREFIX'] ?? '',
  };
}
