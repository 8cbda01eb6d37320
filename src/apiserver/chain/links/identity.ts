// Who asks (k8s.io/apiserver/pkg/endpoints/filters/authentication.go), and who they act as (filters/impersonation).
import { aboutOneObject } from '../../request/path.ts';
import type { Link } from '../chain.ts';
import type { ChainServices } from '../services.ts';

/** Components of this process come with their identity. */
export const authenticate =
  (services: ChainServices): Link =>
  async (request, next) => {
    if (request.progress === 'received') request.user = await services.authenticate(request);
    request.progress = 'identified';
    return next(request);
  };

export const impersonate =
  (services: ChainServices): Link =>
  async (request, next) => {
    const { audit } = request.notes;
    const onImpersonation = audit && ((user: typeof request.user, constraint: string) => audit.impersonate(user, constraint));
    const other = await services.impersonate(request, aboutOneObject(request), onImpersonation);
    if (other) request.user = other;
    return next(request);
  };
