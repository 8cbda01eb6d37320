// AuthenticationConfiguration (apiserver.config.k8s.io v1, v1beta1, v1alpha1): whose tokens are believed and whom they stand for, and who
// may come without any (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#using-authentication-configuration). Pure.
import { aggregate } from '#apimachinery/field';
import { type ConfigurationSource, type FieldsOf, readConfiguration } from '../../configuration/index.ts';
import { authenticationErrors } from './validation.ts';

const prefixed = { claim: 'string', prefix: 'string', expression: 'string' } as const;

const jwtFields = {
  issuer: {
    object: {
      url: 'string',
      discoveryURL: 'string',
      certificateAuthority: 'string',
      audiences: 'strings',
      audienceMatchPolicy: 'string',
      egressSelectorType: 'string',
    },
  },
  claimValidationRules: { list: { claim: 'string', requiredValue: 'string', expression: 'string', message: 'string' } },
  claimMappings: {
    object: {
      username: { object: prefixed },
      groups: { object: prefixed },
      uid: { object: { claim: 'string', expression: 'string' } },
      extra: { list: { key: 'string', valueExpression: 'string' } },
    },
  },
  userValidationRules: { list: { expression: 'string', message: 'string' } },
} as const;

const fields = {
  jwt: { list: jwtFields },
  anonymous: { object: { enabled: 'bool', conditions: { list: { path: 'string' } } } },
} as const;

export type JwtConfiguration = FieldsOf<typeof jwtFields>;
export type ClaimMapping = FieldsOf<typeof prefixed>;
export type ExtraMapping = { key?: string; valueExpression?: string };
export type AuthenticationConfiguration = FieldsOf<typeof fields>;

/** Throws an Error in upstream's words. `ownIssuers`: of service account tokens, which nobody else may be. */
export function checkAuthentication(configuration: AuthenticationConfiguration, ownIssuers: readonly string[]): void {
  const problems = authenticationErrors(configuration, ownIssuers);
  if (problems.length > 0) throw new Error(`invalid authentication configuration: ${aggregate(problems)}`);
}

export function parseAuthenticationConfiguration(
  source: ConfigurationSource,
  path: string,
  ownIssuers: readonly string[],
): AuthenticationConfiguration {
  const failed = (why: string, cause?: unknown): Error =>
    new Error(`failed to load authentication configuration from file ${JSON.stringify(path)}: ${why}`, { cause });
  if (source === '') throw failed('empty config data');
  let read: AuthenticationConfiguration;
  try {
    read = readConfiguration(source, { kind: 'AuthenticationConfiguration', versions: ['v1', 'v1beta1', 'v1alpha1'], fields });
  } catch (error) {
    throw failed((error as Error).message, error);
  }
  checkAuthentication(read, ownIssuers);
  return read;
}
