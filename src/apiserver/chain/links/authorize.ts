// Whether the user may do what they ask for (k8s.io/apiserver/pkg/endpoints/filters/authorization.go).
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
    const allowed = (): Promise<Outcome> => {
      request.progress = 'authorized';
      return next(request);
    };
    const pending = services.authorize(aboutOneObject(request), onDecision);
    return pending ? pending.then(allowed) : allowed();
  };
