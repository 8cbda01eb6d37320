// Who asks, from the options: the authenticators in upstream's order (k8s.io/kubernetes pkg/kubeapiserver/authenticator).
import { readText } from '../platform/files.ts';
import { keyId, parsePrivateKey, parsePublicKeys } from '#pki';
import type { Logger, Rng } from '#utils';
import {
  type AnonymousAccess,
  audienceAgnostic,
  type AuthenticationConfiguration,
  type Authentication,
  checkAlgorithms,
  checkAuthentication,
  createAuthentication,
  createBootstrapTokenAuthenticator,
  createCertificateVerifier,
  createJwtAuthenticators,
  createServiceAccountAuthenticator,
  createStaticTokenAuthenticator,
  createTokenWebhook,
  type JwtAuthenticators,
  parseAuthenticationConfiguration,
  parseTokenFile,
  rememberTokens,
  rememberTokenMs,
  signingAlgorithms,
  type TokenAuthenticator,
} from '../authentication/index.ts';
import { followFile } from '../configuration/index.ts';
import { readWebhookServer } from '../outbound/index.ts';
import type { UserInfo } from '../request/request.ts';
import type { PartsInput } from '../server-options.ts';
import type { KubeApiServerOptions } from './options.ts';
import { reloadCounter } from './reload-metrics.ts';

export const audiencesOf = (options: KubeApiServerOptions): readonly string[] =>
  options.apiAudiences.length > 0 ? options.apiAudiences : options.serviceAccountIssuers.slice(0, 1);

export interface AuthenticationDeps {
  rng: Rng;
  loopbackTokens: ReadonlyMap<string, UserInfo>;
}

interface Closable {
  close(): void;
}

const anonymousOf = ({ anonymous }: AuthenticationConfiguration, flag: boolean): AnonymousAccess => {
  if (!anonymous) return flag;
  const { enabled = false, conditions = [] } = anonymous;
  return enabled && conditions.length > 0 ? { paths: conditions.map(({ path = '' }) => path) } : enabled;
};

/** What the flag says, unless the flags let everybody do everything: then nobody comes in without a name (pkg/kubeapiserver/options, ApplyAuthorization). */
function anonymousFlag({ anonymousAuth, authorizationModes: modes, access }: KubeApiServerOptions, logger: Logger): boolean {
  const allowsAll = access?.authorizationConfig === undefined && (modes.length === 0 || modes.includes('AlwaysAllow'));
  if (!anonymousAuth || !allowsAll) return anonymousAuth;
  logger.warn(
    'AnonymousAuth is not allowed with the AlwaysAllow authorizer. Resetting AnonymousAuth to false. You should use a different authorizer',
  );
  return false;
}

/** What the file or the flags say of issuers and of those who come without a token. */
async function configurationOf(
  options: KubeApiServerOptions,
): Promise<{ configuration: AuthenticationConfiguration; text: string }> {
  const { authenticationConfig: path, jwt, anonymousGiven } = options.identity ?? {};
  if (path === undefined) {
    const configuration = jwt ? { jwt: [jwt] } : {};
    if (jwt) checkAuthentication(configuration, options.serviceAccountIssuers);
    return { configuration, text: '' };
  }
  const text = await readText(path);
  const configuration = parseAuthenticationConfiguration(text, path, options.serviceAccountIssuers);
  if (configuration.anonymous && anonymousGiven)
    throw new Error(
      'anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file',
    );
  return { configuration, text };
}

/** The PEM of the keys by which service accounts are known. */
const accountKeys = ({ serviceAccountSigningKey: signing, serviceAccountKeys: keys }: KubeApiServerOptions): readonly string[] =>
  keys.length > 0 ? keys : signing === undefined ? [] : [signing];

/** Reads what authenticators are made from, and makes none. Rejects as making them would. */
export async function checkAuthenticationFiles(options: KubeApiServerOptions): Promise<void> {
  const { identity = {}, requestHeader, clientCa, tokenFile, serviceAccountSigningKey: signing } = options;
  await configurationOf(options);
  checkAlgorithms(identity.signingAlgorithms ?? signingAlgorithms);
  if (tokenFile !== undefined) parseTokenFile(tokenFile, '--token-auth-file');
  accountKeys(options).forEach((key) => parsePublicKeys(key));
  if (signing !== undefined) parsePrivateKey(signing);
  if (identity.tokenWebhook) await readWebhookServer(identity.tokenWebhook.configFile);
  for (const ca of [clientCa, requestHeader?.ca]) if (ca !== undefined) createCertificateVerifier(ca, () => 0);
}

function localTokens(options: KubeApiServerOptions, { cluster, clock }: PartsInput): TokenAuthenticator[] {
  const now = (): number => clock.now();
  const apiAudiences = audiencesOf(options);
  return [
    ...(options.tokenFile === undefined
      ? []
      : [audienceAgnostic(createStaticTokenAuthenticator(parseTokenFile(options.tokenFile, '--token-auth-file')), apiAudiences)]),
    createServiceAccountAuthenticator({
      issuers: options.serviceAccountIssuers,
      keys: accountKeys(options)
        .flatMap(parsePublicKeys)
        .map((key) => ({ key, kid: keyId(key) })),
      apiAudiences,
      cluster,
      now,
    }),
    ...(options.bootstrapTokens ? [audienceAgnostic(createBootstrapTokenAuthenticator(cluster, now), apiAudiences)] : []),
  ];
}

/** Rejects with an Error in upstream's words for files that cannot be read. */
export async function authenticationOf(
  options: KubeApiServerOptions,
  deps: AuthenticationDeps,
  input: PartsInput,
): Promise<Authentication & Closable> {
  const { clock, logger, metrics } = input;
  const { identity = {}, requestHeader } = options;
  const { configuration, text } = await configurationOf(options);
  const algorithms = identity.signingAlgorithms ?? signingAlgorithms;
  checkAlgorithms(algorithms);
  const apiAudiences = audiencesOf(options);
  const jwts = createJwtAuthenticators(configuration, algorithms, { clock, logger, metrics });
  const rememberJwts = rememberTokens(audienceAgnostic(jwts, apiAudiences), { knownMs: rememberTokenMs, unknownMs: 0 }, clock);
  const closing: Closable[] = [jwts];
  const tokens = [...localTokens(options, input), rememberJwts];
  if (identity.tokenWebhook) {
    const { configFile, version, cacheMs } = identity.tokenWebhook;
    const server = await readWebhookServer(configFile);
    const webhook = createTokenWebhook({ server, version, apiAudiences }, { clock, rng: deps.rng, metrics });
    closing.push(webhook);
    tokens.push(rememberTokens(webhook, { knownMs: cacheMs, unknownMs: cacheMs }, clock));
  }
  if (identity.authenticationConfig !== undefined)
    closing.push(
      followConfiguration(
        identity.authenticationConfig,
        { text, configuration, jwts, forget: () => rememberJwts.forget() },
        options,
        input,
      ),
    );
  const now = (): number => clock.now();
  const authentication = createAuthentication({
    apiAudiences,
    tokens,
    loopbackTokens: deps.loopbackTokens,
    anonymous: anonymousOf(configuration, anonymousFlag(options, logger)),
    ...(options.clientCa !== undefined && { clientCa: createCertificateVerifier(options.clientCa, now) }),
    ...(requestHeader && { requestHeader: { ...requestHeader, verifier: createCertificateVerifier(requestHeader.ca, now) } }),
  });
  return {
    ...authentication,
    close() {
      for (const one of closing) one.close();
    },
  };
}

interface Followed {
  text: string;
  configuration: AuthenticationConfiguration;
  jwts: JwtAuthenticators;
  forget(): void;
}

function followConfiguration(
  path: string,
  { text, configuration, jwts, forget }: Followed,
  options: KubeApiServerOptions,
  { clock, logger, metrics }: PartsInput,
): Closable {
  const count = reloadCounter(metrics, 'authentication', () => clock.now());
  return followFile({
    path,
    loaded: text,
    async load(next) {
      const read = parseAuthenticationConfiguration(next, path, options.serviceAccountIssuers);
      if (JSON.stringify(read.anonymous) !== JSON.stringify(configuration.anonymous))
        throw new Error('anonymous: Forbidden: changed from initial configuration file');
      await jwts.replace(read);
      forget();
    },
    onResult: ({ error }) => count(!error),
    clock,
    logger,
  });
}
