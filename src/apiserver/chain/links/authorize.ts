// Whether the user may do what they ask for (k8s.io/apiserver/pkg/endpoints/filters/authorization.go).
import { StatusError } from '#apimachinery/errors';
import { recordDecision } from '../../audit/index.ts';
import type { Decision } from '../../authorization/types.ts';
import { aboutOneObject } from '../../request/path.ts';
import type { Link } from '../chain.ts';
import type { Outcome } from '../outcome.ts';
import type { ChainServices } from '../services.ts';

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
