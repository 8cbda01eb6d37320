// Who asks (k8s.io/apiserver/pkg/endpoints/filters/authentication.go), and who they act as (filters/impersonation).
import { aboutOneObject } from '../../request/path.ts';
import type { Link } from '../chain.ts';
import type { Outcome } from '../outcome.ts';
import type { ChainServices } from '../services.ts';

/** Components of this process come with their identity. */
export const authenticate =
  (services: ChainServices): Link =>
  (request, next) => {
    const known = (user: typeof request.user): Promise<Outcome> => {
      request.user = user;
      request.progress = 'identified';
      return next(request);
    };
    if (request.progress !== 'received') return next(request);
    const user = services.authenticate(request);
    return user instanceof Promise ? user.then(known) : known(user);
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
