// Tokens of OpenID providers (k8s.io/apiserver/plugin/pkg/authenticator/token/oidc): one provider, and several that a file can change.
import { compactVerify, errors, type FlattenedJWSInput, type JWSHeaderParameters } from 'jose';
import type { Metrics } from '#component-base';
import type { Clock, Logger } from '#utils';
import type { AuthenticatedUser, TokenAuthenticator } from '../types.ts';
import { limits } from '../limits.ts';
import type { AuthenticationConfiguration, JwtConfiguration } from './configuration.ts';
import { Provider } from './keys.ts';
import { type Claims, claimMapper } from './mapping.ts';
import { standardClaims } from './standard-claims.ts';

export interface JwtDeps {
  clock: Clock;
  logger: Logger;
  metrics?: Metrics;
}

const noTime = '0001-01-01 00:00:00 +0000 UTC';
/** A time that a token names may be one that there is not. */
function timeText(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? `${seconds} s` : date.toISOString();
}
const listText = (texts: readonly string[]): string => `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`;

/** The issuer that an unverified token names; undefined: it is no JWT. */
export function untrustedIssuer(token: string): string | undefined {
  const parts = token.split('.');
  if (parts.length !== 3) return undefined;
  try {
    const { iss } = JSON.parse(Buffer.from(parts[1] ?? '', 'base64url').toString()) as { iss?: unknown };
    if (typeof iss !== 'string') return undefined;
    return iss === 'accounts.google.com' ? 'https://accounts.google.com' : iss;
  } catch {
    return undefined;
  }
}

class JwtAuthenticator implements TokenAuthenticator {
  readonly issuer: string;
  readonly provider: Provider;
  readonly #audiences: readonly string[];
  readonly #algorithms: readonly string[];
  readonly #map: ReturnType<typeof claimMapper>;
  readonly #groupsClaim: string;
  readonly #clock: Clock;

  constructor(configuration: JwtConfiguration, algorithms: readonly string[], { clock, logger, metrics }: JwtDeps) {
    const { url = '', discoveryURL = '', certificateAuthority = '', audiences = [] } = configuration.issuer ?? {};
    this.issuer = url;
    this.#audiences = audiences;
    this.#algorithms = algorithms;
    this.#map = claimMapper(configuration);
    this.#groupsClaim = configuration.claimMappings?.groups?.claim ?? '';
    this.#clock = clock;
    const reads = metrics?.counter({
      name: 'apiserver_authentication_jwt_authenticator_jwks_fetch_total',
      help: 'Number of readings of key sets of JWT issuers by result.',
      labels: ['result'],
    });
    this.provider = new Provider({
      issuer: url,
      discoveryUrl: discoveryURL,
      certificateAuthority,
      clock,
      logger,
      onKeys: (succeeded) => reads?.inc(1, succeeded ? 'success' : 'failure'),
    });
  }

  authenticateToken(token: string): Promise<AuthenticatedUser | undefined> | undefined {
    return untrustedIssuer(token) === this.issuer ? this.#authenticate(token) : undefined;
  }

  async #authenticate(token: string): Promise<AuthenticatedUser> {
    if (!this.provider.ready) throw new Error('oidc: authenticator not initialized');
    const claims = await this.#verify(token).catch((error: unknown) => {
      throw new Error(`oidc: verify token: ${(error as Error).message}`, { cause: error });
    });
    if (this.#groupsClaim !== '' && claims[this.#groupsClaim] === undefined) refuseDistributed(claims, this.#groupsClaim);
    return { user: this.#map(claims) };
  }

  async #verify(token: string): Promise<Claims> {
    const header = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as {
      alg?: string;
      crit?: unknown;
    };
    // What a header asks to be understood changes what is signed: no provider of identities needs it.
    if (header.crit !== undefined) throw new Error('oidc: malformed jwt: extensions of the header are not supported');
    if (!this.#algorithms.includes(header.alg ?? ''))
      throw new Error(
        `oidc: id token signed with unsupported algorithm, expected ${listText(this.#algorithms)} got ${JSON.stringify(header.alg ?? '')}`,
      );
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Claims;
    this.#checkClaims(claims);
    await this.#checkSignature(token);
    return claims;
  }

  #checkClaims(claims: Claims): void {
    const { audiences, expires, notBefore } = standardClaims(claims);
    if (!audiences.some((audience) => this.#audiences.includes(audience)))
      throw new Error(`oidc: expected audience in ${listText([...this.#audiences].sort())} got ${listText(audiences)}`);
    const now = this.#clock.now();
    if (expires === undefined || expires * 1000 < now)
      throw new Error(`oidc: token is expired (Token Expiry: ${expires === undefined ? noTime : timeText(expires)})`);
    if (notBefore !== undefined && notBefore * 1000 > now + limits.notBeforeLeewayMs)
      throw new Error(
        `oidc: current time ${new Date(now).toISOString()} before the nbf (not before) time: ${timeText(notBefore)}`,
      );
  }

  /** Keys that a provider replaced under the same name, or that it published broken, are read again, too; once for a token, however it fails. */
  async #checkSignature(token: string): Promise<void> {
    const { provider } = this;
    const options = { algorithms: [...this.#algorithms] };
    const search = { read: false };
    const verify = (): Promise<unknown> =>
      compactVerify(
        token,
        (header: JWSHeaderParameters | undefined, input: FlattenedJWSInput) =>
          provider.keyOf(header ?? {}, input, search) as never,
        options,
      ).catch((error: unknown) => {
        if (error instanceof errors.JWKSMultipleMatchingKeys) return verifyWithOne(token, error, options);
        throw error;
      });
    try {
      await verify().catch((error: unknown) => {
        if (search.read || error instanceof errors.JWSInvalid || error instanceof errors.JOSEAlgNotAllowed) throw error;
        search.read = true;
        return verify();
      });
    } catch (error) {
      const unknown = error instanceof errors.JOSEError;
      throw new Error(
        `failed to verify signature: ${unknown ? 'failed to verify id token signature' : (error as Error).message}`,
        {
          cause: error,
        },
      );
    }
  }
}

/** A key set may have several keys that a token could mean: it names none, or has one name for two. */
async function verifyWithOne(
  token: string,
  candidates: errors.JWKSMultipleMatchingKeys,
  options: { algorithms: string[] },
): Promise<void> {
  for await (const key of candidates) {
    const fits = await compactVerify(token, key, options).then(
      () => true,
      () => false,
    );
    if (fits) return;
  }
  throw new errors.JWSSignatureVerificationFailed();
}

function refuseDistributed(claims: Claims, claim: string): void {
  const names = claims['_claim_names'];
  if (typeof names === 'object' && names !== null && Object.hasOwn(names, claim))
    throw new Error('oidc: could not expand distributed claims: claims are not fetched from other endpoints here');
}

export interface JwtAuthenticators extends TokenAuthenticator {
  /** Takes the issuers of another configuration; rejects, and changes nothing, unless they all can be reached. */
  replace(configuration: AuthenticationConfiguration): Promise<void>;
  close(): void;
}

/** Asks the one authenticator whose issuer a token names. Issuers are looked for in the background. */
export function createJwtAuthenticators(
  { jwt = [] }: AuthenticationConfiguration,
  algorithms: readonly string[],
  deps: JwtDeps,
): JwtAuthenticators {
  const make = (list: readonly JwtConfiguration[]): Map<string, JwtAuthenticator> =>
    new Map(list.map((one) => [one.issuer?.url ?? '', new JwtAuthenticator(one, algorithms, deps)]));
  const latency = deps.metrics?.histogram({
    name: 'apiserver_authentication_jwt_authenticator_latency_seconds',
    help: 'Latency of jwt authentication operations in seconds. This is the time spent authenticating a token for cache miss only (i.e. when the token is not found in the cache).',
    labels: ['result'],
  });
  let current = make(jwt);
  for (const { provider } of current.values()) void provider.start();
  return {
    authenticateToken(token) {
      const issuer = current.size === 0 ? undefined : untrustedIssuer(token);
      const found = issuer === undefined ? undefined : current.get(issuer)?.authenticateToken(token);
      if (!found || !latency) return found;
      const since = deps.clock.monotonic();
      const done = (result: string): void => latency.observe((deps.clock.monotonic() - since) / 1000, result);
      found.then(
        () => done('success'),
        () => done('failure'),
      );
      return found;
    },
    async replace({ jwt: next = [] }) {
      const made = make(next);
      try {
        await Promise.all([...made.values()].map(({ provider }) => provider.start()));
        for (const { provider } of made.values()) provider.checkReady();
      } catch (error) {
        for (const { provider } of made.values()) provider.close();
        throw error;
      }
      const before = current;
      current = made;
      for (const { provider } of before.values()) provider.close();
    },
    close() {
      for (const { provider } of current.values()) provider.close();
    },
  };
}
