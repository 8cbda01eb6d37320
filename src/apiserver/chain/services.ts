// What the links of the chain work with.
import type { Logger, Clock } from '#utils';
import type { AuditTrail } from '../audit/index.ts';
import type { OnDecision, OnImpersonation } from '../authorization/types.ts';
import type { Attributes, Credentials, UserInfo } from '../request/request.ts';
import type { Refusals } from './refusals.ts';
import type { RequestObserver } from './request-metrics.ts';
import type { Incoming } from './incoming.ts';
import type { Seats } from './links/limit.ts';
import type { Outcome } from './outcome.ts';

/** Other API servers behind this one. */
export interface RemoteServers {
  /** Undefined: the request is served here. */
  serve(request: Incoming): Promise<Outcome> | undefined;
}

export interface ChainServices {
  clock: Clock;
  logger: Logger;
  /** Rejects with 401. */
  authenticate(credentials: Credentials): Promise<UserInfo> | UserInfo;
  /** The user the client wants to act as, if it asks for one. Rejects with 400 or 403. */
  impersonate(
    credentials: Credentials,
    asked: Attributes,
    onImpersonation?: OnImpersonation,
  ): Promise<UserInfo | undefined> | UserInfo | undefined;
  /** Rejects with 403. */
  authorize(asked: Attributes, onDecision?: OnDecision): Promise<void> | void;
  /** Undefined: requests are not recorded. */
  audit: AuditTrail | undefined;
  seats: Seats;
  /** Undefined: there are no other API servers. */
  remotes: RemoteServers | undefined;
  observer: RequestObserver;
  refusals: Refusals;
  /** Bound of requests that are not long-running (--request-timeout). */
  requestTimeoutMs: number;
}
