// The chain of authenticators in upstream's order: front proxy, client certificate, bearer tokens, anonymous
// (pkg/kubeapiserver/authenticator). Answers the user, or 401.
import { aggregateTexts } from '#apimachinery/field';
import { unauthorized } from '#apimachinery/errors';
import type { Credentials, UserInfo } from '../request/request.ts';
import type { AuthenticatedUser, RequestAuthenticator, TokenAuthenticator } from './types.ts';
import { authenticateToken, createBearerAuthenticator, createLoopbackAuthenticator, webSocketToken } from './bearer.ts';
import { createRequestHeaderAuthenticator, type RequestHeaderOptions } from './request-header.ts';
import { createStaticTokenAuthenticator } from './token-file.ts';
import { anonymousUser, authenticatedGroup, unauthenticatedGroup, withGroup } from './users.ts';
import { type CertificateVerifier, createX509Authenticator } from './x509.ts';

/** Where requests without credentials are let in: nowhere (false), everywhere (true), or only on these paths. */
export type AnonymousAccess = boolean | { paths: readonly string[] };

/** The paths that need no credentials by default: those of health and of the version. */
export const defaultAnonymous: AnonymousAccess = { paths: ['/healthz', '/livez', '/readyz', '/version'] };

export interface AuthenticationOptions {
  apiAudiences: readonly string[];
  clientCa?: CertificateVerifier;
  requestHeader?: RequestHeaderOptions;
  /** `--token-auth-file`, service accounts, bootstrap tokens, in that order; those that know no audiences wrapped in `audienceAgnostic`. */
  tokens: readonly TokenAuthenticator[];
  /** Tokens the process itself uses. */
  loopbackTokens?: ReadonlyMap<string, UserInfo>;
  anonymous: AnonymousAccess;
}

export interface Authentication {
  /** Throws or rejects with a 401 `StatusError`; at once where no authenticator has to wait. */
  authenticate(source: Credentials): Promise<UserInfo> | UserInfo;
  /** TokenReview: the user, or the reasons in `error`. */
  reviewToken(token: string, audiences: readonly string[]): Promise<{ answer?: AuthenticatedUser; error?: string }>;
}

/** A token authenticator that knows no audiences answers for the server's own; of a server without any, nobody asks for one. */
export function audienceAgnostic(inner: TokenAuthenticator, apiAudiences: readonly string[]): TokenAuthenticator {
  return {
    authenticateToken(token, asked) {
      if (apiAudiences.length === 0 && asked.length === 0) return inner.authenticateToken(token, asked);
      const audiences = apiAudiences.filter((audience) => asked.includes(audience));
      if (audiences.length === 0) return undefined;
      const answer = inner.authenticateToken(token, asked);
      if (answer instanceof Promise) return answer.then((late) => late && { ...late, audiences });
      return answer && { ...answer, audiences };
    },
  };
}

const anonymous: UserInfo = Object.freeze({ name: anonymousUser, groups: [unauthenticatedGroup] }) as UserInfo;

const anonymousAllowed = (access: AnonymousAccess, path: string): boolean =>
  typeof access === 'boolean' ? access : access.paths.includes(path);

const textsOf = (error: unknown): string[] =>
  error instanceof AggregateError
    ? error.errors.map((inner) => (inner as Error).message)
    : [error instanceof Error ? error.message : String(error)];

/** Adds `system:authenticated`, to the same object every time so that caches keyed by user keep working. */
function groupAdder(): (user: UserInfo) => UserInfo {
  const known = new WeakMap<UserInfo, UserInfo>();
  return (user) => {
    const before = known.get(user);
    if (before) return before;
    const outside = user.name === anonymousUser || user.groups.includes(unauthenticatedGroup);
    const after = outside ? user : withGroup(user, authenticatedGroup);
    known.set(user, after);
    return after;
  };
}

/** Builds the chain of authenticators that the options ask for. */
export function createAuthentication(options: AuthenticationOptions): Authentication {
  const { apiAudiences, tokens } = options;
  const loopback = audienceAgnostic(createStaticTokenAuthenticator(options.loopbackTokens ?? new Map()), apiAudiences);
  const tokenChains: readonly (readonly TokenAuthenticator[])[] = [[loopback], tokens];
  const chain: RequestAuthenticator[] = [
    createLoopbackAuthenticator(new Map([...(options.loopbackTokens ?? [])].map(([token, user]) => [token, { user }]))),
    ...(options.requestHeader ? [createRequestHeaderAuthenticator(options.requestHeader)] : []),
    ...(options.clientCa ? [createX509Authenticator(options.clientCa)] : []),
    createBearerAuthenticator(tokens, apiAudiences),
    createBearerAuthenticator(tokens, apiAudiences, webSocketToken),
  ];
  const authenticated = groupAdder();
  return {
    authenticate(source) {
      let failed = false;
      const unknown = (): UserInfo => {
        if (!failed && anonymousAllowed(options.anonymous, source.path)) return anonymous;
        throw unauthorized('Unauthorized');
      };
      const from = (start: number): UserInfo | Promise<UserInfo> => {
        for (let at = start; at < chain.length; at++) {
          try {
            const answer = chain[at]?.authenticate(source);
            if (answer instanceof Promise) return answer.then(...later(at + 1));
            if (answer) return authenticated(answer.user);
          } catch {
            failed = true;
          }
        }
        return unknown();
      };
      const later = (next: number) =>
        [
          (answer: AuthenticatedUser | undefined) => (answer ? authenticated(answer.user) : from(next)),
          () => {
            failed = true;
            return from(next);
          },
        ] as const;
      return from(0);
    },
    async reviewToken(token, asked) {
      const reasons: string[] = [];
      for (const authenticators of tokenChains) {
        try {
          const answer = await authenticateToken(authenticators, token, asked);
          if (answer) return { answer: { ...answer, user: authenticated(answer.user) } };
          reasons.push('invalid bearer token');
        } catch (error) {
          reasons.push(...textsOf(error));
        }
      }
      return { error: aggregateTexts(reasons) };
    },
  };
}
