// Flags about foreign identities and about who decides: OpenID Connect, token and access webhooks, and the files that configure them
// (k8s.io/kubernetes pkg/kubeapiserver/options, authentication.go and authorization.go), and what they come to.
import { type FlagValues, flag } from '#component-base';
import { readText } from '../platform/files.ts';
import type { JwtConfiguration } from '../authentication/index.ts';
import { signingAlgorithms, tokenReviewVersions } from '../authentication/index.ts';
import { type AuthorizerConfiguration, authorizersOfModes, authorizerTypes } from '../authorization/index.ts';

const authn = 'Authentication';
const authz = 'Authorization';
const text = (name: string, section: string, help: string, fallback = '') =>
  flag.string({ name, default: fallback, help, section });

export const identityFlags = {
  authenticationConfig: text(
    'authentication-config',
    authn,
    'File that says whose tokens are believed, and who may come without any (AuthenticationConfiguration); it is followed.',
  ),
  oidcIssuerUrl: text('oidc-issuer-url', authn, 'URL of an OpenID issuer, https only.'),
  oidcClientId: text('oidc-client-id', authn, 'Audience that its tokens must name.'),
  oidcCaFile: text('oidc-ca-file', authn, "Authorities of the issuer's certificate; default: those of the machine."),
  oidcUsernameClaim: text('oidc-username-claim', authn, 'Claim that names the user.', 'sub'),
  oidcUsernamePrefix: text(
    'oidc-username-prefix',
    authn,
    'Before every name; default: the issuer with #, unless the claim is email; - for none.',
  ),
  oidcGroupsClaim: text('oidc-groups-claim', authn, 'Claim that names groups.'),
  oidcGroupsPrefix: text('oidc-groups-prefix', authn, 'Before every group.'),
  oidcSigningAlgs: flag.strings({
    name: 'oidc-signing-algs',
    default: ['RS256'],
    help: `Algorithms of signatures: ${signingAlgorithms.join(', ')}.`,
    section: authn,
  }),
  oidcRequiredClaim: flag.stringMap({
    name: 'oidc-required-claim',
    default: {},
    help: 'Claims (key=value) that tokens must have.',
    section: authn,
  }),
  tokenWebhookConfigFile: text(
    'authentication-token-webhook-config-file',
    authn,
    'Kubeconfig of a server that reviews bearer tokens.',
  ),
  tokenWebhookVersion: text(
    'authentication-token-webhook-version',
    authn,
    'Version of authentication.k8s.io in which it is asked.',
    'v1beta1',
  ),
  tokenWebhookCacheTtlMs: flag.duration({
    name: 'authentication-token-webhook-cache-ttl',
    default: 120_000,
    help: 'How long its answers are remembered.',
    section: authn,
  }),
  authorizationConfig: text(
    'authorization-config',
    authz,
    'File that says which authorizers there are, and in which order (AuthorizationConfiguration); it is followed.',
  ),
  authorizationWebhookConfigFile: text(
    'authorization-webhook-config-file',
    authz,
    'Kubeconfig of a server that reviews access, for the mode Webhook.',
  ),
  authorizationWebhookVersion: text(
    'authorization-webhook-version',
    authz,
    'Version of authorization.k8s.io in which it is asked.',
    'v1beta1',
  ),
  authorizationWebhookAuthorizedTtlMs: flag.duration({
    name: 'authorization-webhook-cache-authorized-ttl',
    default: 300_000,
    help: 'How long its consent is remembered.',
    section: authz,
  }),
  authorizationWebhookUnauthorizedTtlMs: flag.duration({
    name: 'authorization-webhook-cache-unauthorized-ttl',
    default: 30_000,
    help: 'How long its refusal is remembered.',
    section: authz,
  }),
};

type IdentityValues = FlagValues<typeof identityFlags>;

export interface IdentityOptions {
  /** The issuer that flags describe. */
  jwt?: JwtConfiguration;
  signingAlgorithms?: readonly string[];
  /** Path of `--authentication-config`. */
  authenticationConfig?: string;
  /** `--anonymous-auth` was given, so that the file may not say it. */
  anonymousGiven?: boolean;
  tokenWebhook?: { configFile: string; version: (typeof tokenReviewVersions)[number]; cacheMs: number };
}

export interface AccessOptions {
  /** Path of `--authorization-config`; in place of modes. */
  authorizationConfig?: string;
  /** What modes come to where one of them is a webhook. */
  authorizers?: readonly AuthorizerConfiguration[];
}

function checkOidc(flags: IdentityValues, changed: ReadonlySet<string>): void {
  const { oidcIssuerUrl: issuer, oidcClientId: client } = flags;
  const given = Object.keys(identityFlags).some((key) => key.startsWith('oidc') && changed.has(key));
  if (flags.authenticationConfig !== '' && given)
    throw new Error('authentication-config file and oidc-* flags are mutually exclusive');
  if (given && (issuer === '' || client === ''))
    throw new Error('oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set');
}

function usernamePrefix({ oidcUsernamePrefix: prefix, oidcUsernameClaim: claim, oidcIssuerUrl: issuer }: IdentityValues): string {
  if (prefix === '-') return '';
  return prefix === '' && claim !== 'email' ? `${issuer}#` : prefix;
}

async function jwtOf(flags: IdentityValues): Promise<JwtConfiguration> {
  const { oidcGroupsClaim: groups, oidcCaFile: ca, oidcRequiredClaim: required } = flags;
  const rules = Object.entries(required).map(([claim, requiredValue]) => ({ claim, requiredValue }));
  return {
    issuer: {
      url: flags.oidcIssuerUrl,
      audiences: [flags.oidcClientId],
      ...(ca !== '' && { certificateAuthority: await readText(ca) }),
    },
    claimMappings: {
      username: { claim: flags.oidcUsernameClaim, prefix: usernamePrefix(flags) },
      ...(groups !== '' && { groups: { claim: groups, prefix: flags.oidcGroupsPrefix } }),
    },
    claimValidationRules: rules,
  };
}

/** Rejects with an Error for flags that do not go together. */
export async function identityOptions(flags: IdentityValues, changed: ReadonlySet<string>): Promise<IdentityOptions> {
  checkOidc(flags, changed);
  const version = tokenReviewVersions.find((one) => one === flags.tokenWebhookVersion);
  const { tokenWebhookConfigFile: configFile, authenticationConfig } = flags;
  if (configFile !== '' && !version)
    throw new Error(
      `unsupported authentication webhook version ${JSON.stringify(flags.tokenWebhookVersion)}, supported versions are "v1", "v1beta1"`,
    );
  return {
    ...(flags.oidcIssuerUrl !== '' && { jwt: await jwtOf(flags), signingAlgorithms: flags.oidcSigningAlgs }),
    ...(authenticationConfig !== '' && { authenticationConfig }),
    anonymousGiven: changed.has('anonymousAuth'),
    ...(configFile !== '' && version && { tokenWebhook: { configFile, version, cacheMs: flags.tokenWebhookCacheTtlMs } }),
  };
}

const legacyFlags = ['authorizationMode', 'authorizationWebhookConfigFile', 'authorizationWebhookVersion'];

/** Throws an Error, with upstream's text, for modes and files that do not go together. */
export function accessOptions(
  flags: IdentityValues & { authorizationMode: readonly string[] },
  changed: ReadonlySet<string>,
): AccessOptions {
  const { authorizationMode: modes, authorizationWebhookConfigFile: configFile, authorizationConfig } = flags;
  if (authorizationConfig !== '') {
    if ([...changed].some((key) => legacyFlags.includes(key) || key.startsWith('authorizationWebhook')))
      throw new Error(
        '--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined',
      );
    return { authorizationConfig };
  }
  const types: readonly string[] = authorizerTypes;
  for (const mode of modes)
    if (!types.includes(mode)) throw new Error(`authorization-mode ${JSON.stringify(mode)} is not a valid mode`);
  if (new Set(modes).size < modes.length)
    throw new Error(
      `authorization-mode [${modes.map((mode) => JSON.stringify(mode)).join(' ')}] has mode specified more than once`,
    );
  if (modes.includes('Webhook') && configFile === '')
    throw new Error("authorization-mode Webhook's authorization config file not passed");
  if (!modes.includes('Webhook') && configFile !== '')
    throw new Error('cannot specify --authorization-webhook-config-file without mode Webhook');
  if (!modes.includes('Webhook')) return {};
  return { authorizers: authorizersOfModes(modes, webhookOf(flags)) };
}

const webhookOf = (flags: IdentityValues): NonNullable<AuthorizerConfiguration['webhook']> => ({
  authorizedTTL: flags.authorizationWebhookAuthorizedTtlMs,
  unauthorizedTTL: flags.authorizationWebhookUnauthorizedTtlMs,
  timeout: 30_000,
  failurePolicy: 'NoOpinion',
  subjectAccessReviewVersion: flags.authorizationWebhookVersion,
  connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: flags.authorizationWebhookConfigFile },
});
