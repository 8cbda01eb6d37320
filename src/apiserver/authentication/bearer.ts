// Bearer tokens from the Authorization header, or from a WebSocket's subprotocols where a browser can set no header
// (k8s.io/apiserver/pkg/authentication/request/bearertoken and request/websocket).
import type { Credentials } from '../request/request.ts';
import type { AuthenticatedUser, RequestAuthenticator, TokenAuthenticator } from './types.ts';
import { headerValue, headerValues } from './headers.ts';
import { limits } from './limits.ts';

const protocolPrefix = 'base64url.bearer.authorization.k8s.io.';

const extraSpace = 'the provided Authorization header contains extra space before the bearer token, and is ignored';

/** The token of the Authorization header; undefined when there is none. */
export function bearerToken(source: Credentials): string | undefined {
  const [scheme, token, more] = headerValue(source.headers, 'authorization').trim().split(' ', 3);
  if (scheme?.toLowerCase() !== 'bearer') return undefined;
  if (token === '' && more !== undefined) source.notes?.warn(extraSpace);
  return token || undefined;
}

/** The token hidden among WebSocket subprotocols; throws when it is not well-formed. */
export function webSocketToken(source: Credentials): string | undefined {
  if (headerValue(source.headers, 'upgrade').toLowerCase() !== 'websocket') return undefined;
  const protocols = headerValues(source.headers, 'sec-websocket-protocol')
    .flatMap((value) => value.split(','))
    .map((protocol) => protocol.trim());
  const [encoded, ...more] = protocols.filter((protocol) => protocol.startsWith(protocolPrefix));
  if (encoded === undefined) return undefined;
  if (more.length > 0) throw new Error('multiple base64.bearer.authorization tokens specified');
  const text = encoded.slice(protocolPrefix.length);
  if (!/^[A-Za-z0-9_-]*$/.test(text)) throw new Error('invalid base64.bearer.authorization token encoding');
  if (protocols.length === 1 && text !== '') throw new Error('missing additional subprotocol');
  return Buffer.from(text, 'base64url').toString('utf8') || undefined;
}

/** Asks the token authenticators in turn. Rejects with the joined reasons when none knows the token and one of them refused it. */
export function authenticateToken(
  tokens: readonly TokenAuthenticator[],
  token: string,
  audiences: readonly string[],
): AuthenticatedUser | undefined | Promise<AuthenticatedUser | undefined> {
  if (token.length > limits.tokenBytesMax) return undefined;
  const reasons: string[] = [];
  for (const [at, authenticator] of tokens.entries()) {
    try {
      const answer = authenticator.authenticateToken(token, audiences);
      if (answer instanceof Promise) return askOn(answer, tokens.slice(at + 1), token, audiences, reasons);
      if (answer) return answer;
    } catch (error) {
      reasons.push(textOf(error));
    }
  }
  return nobody(reasons);
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Goes on behind an authenticator that has to wait. */
async function askOn(
  first: Promise<AuthenticatedUser | undefined>,
  others: readonly TokenAuthenticator[],
  token: string,
  audiences: readonly string[],
  reasons: string[],
): Promise<AuthenticatedUser | undefined> {
  const asks = [() => first, ...others.map((other) => () => other.authenticateToken(token, audiences))];
  for (const ask of asks) {
    try {
      const answer = await ask();
      if (answer) return answer;
    } catch (error) {
      reasons.push(textOf(error));
    }
  }
  return nobody(reasons);
}

function nobody(reasons: readonly string[]): undefined {
  if (reasons.length > 0)
    throw new AggregateError(
      reasons.map((reason) => new Error(reason)),
      reasons.join(', '),
    );
  return undefined;
}

function known(answer: AuthenticatedUser | undefined): AuthenticatedUser {
  if (!answer) throw new Error('invalid bearer token');
  return answer;
}

/** Authenticates by bearer token; a token nobody knows is an error, not "not mine". Stays synchronous where no authenticator waits. */
export function createBearerAuthenticator(
  tokens: readonly TokenAuthenticator[],
  audiences: readonly string[],
  read: (source: Credentials) => string | undefined = bearerToken,
): RequestAuthenticator {
  return {
    authenticate(source) {
      const token = read(source);
      if (token === undefined) return undefined;
      const answer = authenticateToken(tokens, token, audiences);
      return answer instanceof Promise ? answer.then(known) : known(answer);
    },
  };
}

/** Knows the tokens of the process itself; any other is left to the authenticators behind. */
export function createLoopbackAuthenticator(tokens: ReadonlyMap<string, AuthenticatedUser>): RequestAuthenticator {
  return {
    authenticate(source) {
      const token = tokens.size > 0 ? bearerToken(source) : undefined;
      return token === undefined ? undefined : tokens.get(token);
    },
  };
}
