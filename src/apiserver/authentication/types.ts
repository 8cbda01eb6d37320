// What recognises who asks: one contract for each kind of credential.
import type { Credentials, UserInfo } from '../request/request.ts';

/** The user that was recognised, and for which of the audiences that were asked for. */
export interface AuthenticatedUser {
  user: UserInfo;
  /** Only for tokens that name audiences. */
  audiences?: readonly string[];
}

/** One kind of credential. Undefined: "not mine". Throws when it is mine and bad: the chain goes on and answers 401 in the end. */
export interface RequestAuthenticator {
  authenticate(credentials: Credentials): AuthenticatedUser | undefined | Promise<AuthenticatedUser | undefined>;
}

/** One kind of bearer token. `audiences` are the ones the asker accepts. Undefined: "not mine". */
export interface TokenAuthenticator {
  authenticateToken(
    token: string,
    audiences: readonly string[],
  ): AuthenticatedUser | undefined | Promise<AuthenticatedUser | undefined>;
}
