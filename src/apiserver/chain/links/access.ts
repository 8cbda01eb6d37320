// Who asks, who they act as, and whether they may do it (k8s.io/apiserver/pkg/endpoints/filters: authentication.go, impersonation, authorization.go).
import { StatusError } from '#apimachinery/errors';
import { recordDecision } from '../../audit/index.ts';
import type { Decision } from '../../authorization/types.ts';
import { aboutOneObject } from '../../request/path.ts';
import type { Link } from '../chain.ts';
import type { Outcome } from '../outcome.ts';
import type { ChainServices } from '../services.ts';

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

export const impersonate =
  (services: ChainServices): Link =>
  (request, next) => {
    const { audit } = request.notes;
    const onImpersonation = audit && ((user: typeof request.user, constraint: string) => audit.impersonate(user, constraint));
    const as = (other: typeof request.user | undefined): Promise<Outcome> => {
      if (other) request.user = other;
      return next(request);
    };
    const other = services.impersonate(request, aboutOneObject(request), onImpersonation);
    return other instanceof Promise ? other.then(as) : as(other);
  };

/** Whether the user may do what they ask for. */
export const authorize =
  (services: ChainServices): Link =>
  (request, next) => {
    const { audit } = request.notes;
    const onDecision = audit && ((decision: Decision) => recordDecision(audit, decision));
    const { clock, observer } = services;
    const started = clock.monotonic();
    const decided = (result: 'allowed' | 'denied' | 'error'): void =>
      observer.authorized(result, (clock.monotonic() - started) / 1000);
    const allowed = (): Promise<Outcome> => {
      decided('allowed');
      request.progress = 'authorized';
      return next(request);
    };
    const denied = (error: unknown): never => {
      decided(error instanceof StatusError && error.status.code === 403 ? 'denied' : 'error');
      throw error;
    };
    let pending: ReturnType<ChainServices['authorize']>;
    try {
      pending = services.authorize(aboutOneObject(request), onDecision);
    } catch (error) {
      return denied(error);
    }
    return pending ? pending.then(allowed, denied) : allowed();
  };
