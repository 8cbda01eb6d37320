// What the links of the chain work with.
import type { Logger, Clock } from '#utils';
import type { AuditTrail } from '../audit/index.ts';
import type { Impersonation } from '../authorization/index.ts';
import type { Authorizer } from '../authorization/types.ts';
import type { Attributes, Credentials, Request, UserInfo } from '../request/request.ts';
import type { Refusals } from './refusals.ts';
import type { RequestObserver } from './request-metrics.ts';
import type { Incoming } from './incoming.ts';
import type { Outcome } from './outcome.ts';

/** Decides which request is served now: by a bound on their number, as below, or by queues (priority and fairness). */
export interface Seats {
  /** Gives a seat at once or when there is one, or throws 429. The result gives it back; it may be called more than once. */
  take(request: Request): (() => void) | Promise<() => void>;
  /** Whether nothing may hold the request up, whoever sends it: it asks how the server is, for example. Absent: there are no such requests. */
  exempts?(request: Request): boolean;
  /** Watches take a seat until they have begun. */
  readonly seatsWatches?: boolean;
}

/** Lets requests of one flow begin as fast as its share of the thread allows. */
export interface Pacing {
  /** Whether the flow's next request would have to wait. */
  isDelayed(flow: string): boolean;
  /** Waits until the request may begin; undefined when it may at once. Throws or rejects with 429 when too many wait, or this one for too long; rejects when the request is over before. Each that entered leaves. */
  enter(flow: string, request: Pick<Request, 'cancellation'>): Promise<void> | undefined;
  /** The request is over. `sentBytes`: what it is answered with, which is encrypted and sent when the client takes it. */
  leave(flow: string, sentBytes: number): void;
}

/** The other API servers behind this one. */
export interface RemoteServers {
  /** Hands the request on to the server of its resource; undefined when that is this one. */
  serve(request: Incoming): Promise<Outcome> | undefined;
}

export interface ChainServices {
  clock: Clock;
  logger: Logger;
  /** Rejects with 401. */
  authenticate(credentials: Credentials): Promise<UserInfo> | UserInfo;
  /** Undefined: nobody acts as somebody else. */
  impersonate: Impersonation | undefined;
  authorizer: Authorizer;
  /** It is called with what the authorizer has allowed, and rejects with what is answered instead; undefined: every allowed request goes on. */
  onAllowed: ((asked: Attributes) => Promise<void>) | undefined;
  /** Undefined: requests are not recorded. */
  audit: AuditTrail | undefined;
  seats: Seats;
  /** Undefined: nobody is slowed. */
  paces: Pacing | undefined;
  /** Undefined: there are no other API servers. */
  remotes: RemoteServers | undefined;
  observer: RequestObserver;
  refusals: Refusals;
  /** Bound of requests that are not long-running (--request-timeout). */
  requestTimeoutMs: number;
}
