// Bearer tokens from the Authorization header, or from a WebSocket's subprotocols where a browser can set no header
// (k8s.io/apiserver/pkg/authentication/request/bearertoken and request/websocket).
import type { AuthenticatedUser, CredentialSource, RequestAuthenticator, TokenAuthenticator } from '../contracts.ts';
import { headerValue, headerValues } from './headers.ts';
import { limits } from './limits.ts';

const protocolPrefix = 'base64url.bearer.authorization.k8s.io.';

/** The token of the Authorization header; undefined when there is none. */
export function bearerToken(source: CredentialSource): string | undefined {
  const [scheme, token] = headerValue(source.headers, 'authorization').trim().split(' ', 3);
  if (scheme?.toLowerCase() !== 'bearer' || !token) return undefined;
  return token;
}

/** The token hidden among WebSocket subprotocols; throws when it is not well-formed. */
export function webSocketToken(source: CredentialSource): string | undefined {
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
export async function authenticateToken(
  tokens: readonly TokenAuthenticator[],
  token: string,
  audiences: readonly string[],
): Promise<AuthenticatedUser | undefined> {
  if (token.length > limits.tokenBytesMax) return undefined;
  const reasons: string[] = [];
  for (const authenticator of tokens) {
    try {
      const answer = await authenticator.authenticateToken(token, audiences);
      if (answer) return answer;
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  if (reasons.length > 0)
    throw new AggregateError(
      reasons.map((reason) => new Error(reason)),
      reasons.join(', '),
    );
  return undefined;
}

/** Authenticates by bearer token; a token nobody knows is an error, not "not mine". */
export function createBearerAuthenticator(
  tokens: readonly TokenAuthenticator[],
  audiences: readonly string[],
  read: (source: CredentialSource) => string | undefined = bearerToken,
): RequestAuthenticator {
  return {
    async authenticate(source) {
      const token = read(source);
      if (token === undefined) return undefined;
      const answer = await authenticateToken(tokens, token, audiences);
      if (!answer) throw new Error('invalid bearer token');
      return answer;
    },
  };
}
