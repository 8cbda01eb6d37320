// Who asks, who they act as, and whether they may do it (k8s.io/apiserver/pkg/endpoints/filters: authentication.go, impersonation, authorization.go).
import { StatusError } from '#apimachinery/errors';
import { recordDecision } from '../../audit/index.ts';
import { asksToImpersonate, forbiddenError } from '../../authorization/index.ts';
import type { Decision } from '../../authorization/types.ts';
import { aboutOneObject } from '../../request/uri.ts';
import type { Link } from '../link.ts';
import type { Outcome } from '../outcome.ts';
import type { ChainServices } from '../services.ts';
import { sendInternal } from '../internal.ts';

/** Components of this process come with their identity. */
export const authenticate =
  (services: ChainServices): Link =>
  (request, next) => {
    const { clock, observer } = services;
    const started = clock.monotonic();
    const seconds = (): number => (clock.monotonic() - started) / 1000;
    const known = (user: typeof request.user): Promise<Outcome> => {
      observer.authenticated('success', seconds(), user.name);
      request.user = user;
      request.progress = 'identified';
      return next(request);
    };
    if (request.progress !== 'received') return next(request);
    const unknown = (error: unknown): never => {
      observer.authenticated(error instanceof StatusError ? 'failure' : 'error', seconds());
      throw error;
    };
    let user: ReturnType<ChainServices['authenticate']>;
    try {
      user = services.authenticate(request);
    } catch (error) {
      return unknown(error);
    }
    return user instanceof Promise ? user.then(known, unknown) : known(user);
  };

/** Finds the user that this one acts as; most requests do not ask for that. */
export const impersonate =
  ({ impersonate: find }: ChainServices): Link =>
  (request, next) => {
    if (!find || !asksToImpersonate(request)) return next(request);
    return find(request, aboutOneObject(request)).then((other) => {
      if (other) {
        request.notes.audit?.impersonate(other.user, other.constraint);
        request.user = other.user;
      }
      return next(request);
    });
  };

/** Asks the authorizer, and refuses with 403 what it does not allow. */
export const authorize =
  ({ authorizer, onAllowed, clock, observer }: ChainServices): Link =>
  (request, next) => {
    const asked = aboutOneObject(request);
    const started = clock.monotonic();
    const observe = (result: 'allowed' | 'denied' | 'error'): void =>
      observer.authorized(result, (clock.monotonic() - started) / 1000);
    const go = (): Promise<Outcome> => {
      observe('allowed');
      request.progress = 'authorized';
      return next(request);
    };
    const refuse = (error: unknown): never => {
      observe(error instanceof StatusError && error.status.code === 403 ? 'denied' : 'error');
      throw error;
    };
    const decided = (decision: Decision): Promise<Outcome> => {
      if (request.notes.audit) recordDecision(request.notes.audit, decision);
      if (!decision.allowed) {
        if (decision.error === undefined) return refuse(forbiddenError(asked, decision.reason));
        observe('error');
        return sendInternal(request, decision.error);
      }
      return onAllowed ? onAllowed(asked).then(go, refuse) : go();
    };
    let decision: Decision | Promise<Decision>;
    try {
      decision = authorizer.authorize(asked, request.cancellation);
    } catch (error) {
      return refuse(error);
    }
    return decision instanceof Promise ? decision.then(decided, refuse) : decided(decision);
  };
